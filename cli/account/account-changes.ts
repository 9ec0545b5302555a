import { sameJson } from "../../provider/kernel/json.js";
import { objectTime } from "../../provider/lifecycle/ownership/read-mark.js";
import type { WireObject } from "../../provider/service/objects/collections.js";
import type { AccountLists, KindReading } from "./account-lists.js";

/** The service's time is known to about a second. */
const precisionMs = 1000;

const isNewer = ({ created, modified }: WireObject, since: number): boolean =>
  [created, modified].some((time) => objectTime(time) > since + precisionMs);

/** Kinds that hold an object made or changed since a moment of the service's time. */
export const changedSince = ({ kinds }: AccountLists, since: number): readonly string[] =>
  kinds
    .filter(({ objects }) => [...objects.values()].some((wire) => isNewer(wire, since)))
    .map(({ definition }) => definition.kind);

/** Whether two readings of a kind show the same. */
export const sameObjects = (a: KindReading, b: KindReading): boolean =>
  a === b ||
  (a.problem === b.problem &&
    a.objects.size === b.objects.size &&
    [...a.objects].every(([id, wire]) => sameJson(wire, b.objects.get(id))));
