import type { WireObject } from "../../service/objects/collections.js";
import { objectTime } from "../ownership/read-mark.js";
import type { ObjectRecord } from "./properties.js";

/** What is known of an object that was just made, by the answer or by a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** Between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;
const latestMs = 1_000;

/**
 * A time of the service. Right after a creation or an update it is taken from the answer's `Date`,
 * which is a little later and has no fractions of a second: that is the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** What is known of an object, with its times as the service tells them now. */
export const liveRecord = (live: WireObject, record: ObjectRecord): ObjectRecord => {
  const created = sameTime(live.created, record.created);
  const modified = sameTime(live.modified, record.modified);
  return { ...record, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};
