import { isObject, type JsonObject, objectOf } from "../../kernel/json.js";
import type { Field, Fields, ListField, MapField, MemberRule, Members } from "../define.js";
import { sameMeaning } from "../meaning/same.js";
import { asThere } from "../meaning/same-extra.js";
import { plainText } from "../meaning/text-forms.js";
import { displaced } from "../member-rule.js";
import { defaultOf } from "../normalise.js";
import { itemPath, memberPath } from "../paths.js";
import { entriesByKey, itemsOf, memberSides, partnersOf, readWire, type Sides } from "./pairs.js";
import { type Evidence, evidenceOf } from "./secret-evidence.js";
import {
  holdsNothing,
  omittedSecrets,
  type Part,
  partOf,
  safeEntries,
  stands,
  together,
  visiblePart,
  visibleUnknown,
  wholeOf,
} from "./visible-part.js";
import { fieldsByWireName, keyOf, membersOf, unwrapped } from "./wire.js";

/** An object of which no field knows anything. */
const unknownObject: Members = { fields: {} };

interface Merging {
  readonly evidence: Evidence;
  /** What is left out here stays at the service. */
  readonly keeps: boolean;
}

const namesIn = (value: unknown): readonly string[] =>
  isObject(value) ? safeEntries(value).map(([name]) => name) : [];

const mergeObject = (shape: Members, sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired, prior } = sides;
  const byWire = fieldsByWireName(shape.fields);
  const names = new Set([...namesIn(live), ...namesIn(desired)]);
  const gone = displaced(shape, desired);
  const parts = [...names].map((wire) => {
    const [name, field] = byWire.get(wire) ?? [wire, undefined];
    const inner = memberSides(sides, wire);
    const isGone = gone.has(wire) && inner.desired === undefined;
    const part = isGone
      ? partOf(undefined)
      : mergeMember(field, inner, memberPath(path, name), merging);
    return [wire, part] as const;
  });
  const all = [live, prior, desired].filter(isObject);
  const seen = objectOf(all.flatMap((side) => Object.entries(side)));
  const whole = together(parts);
  if (merging.keeps) return whole;
  const omitted = omittedSecrets(shape.fields, seen, path, merging.evidence);
  return { ...whole, hidden: [...whole.hidden, ...omitted] };
};

const mergeMember = (
  field: Field | undefined,
  sides: Sides,
  path: string,
  merging: Merging,
): Part => {
  const below = { ...merging, keeps: false };
  if (sides.desired !== undefined) return mergeValue(field, sides, path, below);
  if (sides.prior !== undefined) return leftOver(field, sides, path, below);
  // A service may answer null for what is not there, and refuse to be given it.
  if (field && sides.live === null) return partOf(undefined);
  const { value, hidden } = visiblePart(
    field,
    sides.live,
    path,
    merging.evidence,
    field?.required === true,
  );
  const isUsual = sides.live === null || (field && defaultOf(field) === sides.live);
  const undeclared = isUsual ? [] : [path];
  return merging.keeps && hidden.length > 0
    ? partOf(undefined, [], undeclared)
    : partOf(value, hidden, undeclared);
};

/** What is not the program's in an object that it declares no more; nothing, where that cannot stand alone. */
const leftOver = (field: Field | undefined, sides: Sides, path: string, merging: Merging): Part => {
  const shape = field === undefined ? unknownObject : field.type === "object" ? field : undefined;
  if (!shape || !isObject(sides.live) || !isObject(sides.prior)) return partOf(undefined);
  const rest = mergeObject(shape, { ...sides, desired: {} }, path, merging);
  const canStand =
    isObject(rest.value) && !holdsNothing(rest.value) && stands(shape.fields, rest.value);
  return canStand ? rest : partOf(undefined);
};

const mergeValue = (
  field: Field | undefined,
  sides: Sides,
  path: string,
  merging: Merging,
): Part => {
  const { live, desired } = sides;
  if (!field) return mergeUnknown(sides, path, merging);
  if (field.secret) return partOf(desired);
  switch (field.type) {
    case "object":
      return isObject(live) && isObject(desired)
        ? mergeObject(field, sides, path, merging)
        : partOf(desired);
    case "list":
      return mergeList(field, sides, path, merging);
    case "map":
      return mergeMap(field, sides, path, merging);
    case "text":
    case "reference":
      return partOf(
        isExpanded(field, live, desired)
          ? over(visibleUnknown(live, path, merging.evidence).value, desired)
          : desired,
      );
    default:
      return partOf(desired);
  }
};

/** Whether the service tells more of the same thing than its id. */
const isExpanded = (field: Field, live: unknown, desired: unknown): live is JsonObject => {
  if (!isObject(live)) return false;
  const id = readWire(field, live);
  return id !== undefined && sameMeaning(field, id, readWire(field, desired));
};

const over = (live: unknown, desired: unknown): unknown =>
  isObject(live) && isObject(desired)
    ? objectOf([...safeEntries(live), ...Object.entries(desired)])
    : desired;

const mergeUnknown = (sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired } = sides;
  if (isObject(live) && isObject(desired)) return mergeObject(unknownObject, sides, path, merging);
  if (!Array.isArray(live) || !Array.isArray(desired)) return partOf(desired);
  const kept = asThere(live, desired);
  const { hidden } = visibleUnknown(kept, path, merging.evidence);
  return partOf(hidden.length > 0 ? desired : kept, hidden);
};

const without = (value: unknown, name: string): unknown =>
  isObject(value) ? objectOf(Object.entries(value).filter(([own]) => own !== name)) : undefined;

/** An object that stands for one value: the value, and what else the service keeps beside it. */
const around = (
  name: string,
  { live, desired, prior }: Sides,
  path: string,
  merging: Merging,
  value: Part,
): Part => {
  const others = mergeObject(
    unknownObject,
    { live: without(live, name), desired: without(desired, name), prior: without(prior, name) },
    path,
    merging,
  );
  const rest = isObject(others.value) ? Object.entries(others.value) : [];
  return wholeOf([others, value], objectOf([...rest, [name, value.value]]));
};

const mergeList = (field: ListField, sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired, prior } = sides;
  if (!Array.isArray(unwrapped(field.envelope, desired))) return partOf(desired);
  const items = itemsOf(field, desired);
  const there = partnersOf(field, items, itemsOf(field, live));
  const known = partnersOf(field, items, itemsOf(field, prior));
  const parts = items.map((item, place) =>
    mergeValue(
      field.of,
      { live: there[place], desired: item, prior: known[place] },
      itemPath(path, field, readWire(field.of, item), place),
      merging,
    ),
  );
  const value = parts.map((part) => part.value);
  const whole = wholeOf(parts, value);
  return field.envelope ? around(field.envelope, sides, path, merging, whole) : whole;
};

const mergeMap = (field: MapField, sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired, prior } = sides;
  if (!Array.isArray(desired)) return partOf(desired);
  const { value: member } = membersOf(field);
  const [there, known] = [entriesByKey(field, live), entriesByKey(field, prior)];
  const parts = desired.map((entry) => {
    const name = keyOf(field, entry);
    if (name === undefined) return partOf(entry);
    const key = plainText(name);
    const here = { live: there.get(key), desired: entry, prior: known.get(key) };
    const at = memberPath(path, name);
    const value = mergeValue(field.of, memberSides(here, member), at, merging);
    return around(member, here, at, merging, value);
  });
  return wholeOf(
    parts,
    parts.map(({ value }) => value),
  );
};

/** What to write over a live object; all JSON of the service, without `id`, `created` and `modified`. */
export interface Merge {
  readonly fields: Fields;
  /** The rule on the members of the kind itself: what the program chose displaces the other choice. */
  readonly rule: MemberRule | undefined;
  readonly live: JsonObject;
  /** What the program wants, the members of `extra` included. */
  readonly desired: JsonObject;
  /** What it wanted last time; empty for an object that it does not know yet. */
  readonly prior: JsonObject;
  /** A PUT of this tenant keeps the members of the object that it leaves out. */
  readonly keeps: boolean;
}

/** The body of a PUT, and what it does to members that are not the program's. */
export interface MergeResult {
  readonly body: JsonObject;
  /** Paths of the members that stay though the program does not name them: `roles[custom_bot].headers`. */
  readonly undeclared: readonly string[];
  /** Paths of the secrets that stay with nobody: the service hides them, so the body lacks them. */
  readonly hidden: readonly string[];
}

/**
 * The body of a PUT: the live object with what the program wants.
 *
 * - What the program declares is as it wants it; a list or a map is declared as a whole.
 * - What it declared before and does so no more is left out, at every depth.
 * - What it never declared is kept, at every depth, whether or not a field knows it. A secret that the
 *   service does not show nobody can write back, and a mask must never be: it is told as `hidden`.
 */
export const mergeFields = ({ live, desired, prior, keeps, ...kind }: Merge): MergeResult => {
  const sides = { live, desired, prior };
  const evidence = evidenceOf(kind.fields, sides);
  const { value, undeclared, hidden } = mergeObject(kind, sides, "", { evidence, keeps });
  return { body: isObject(value) ? value : {}, undeclared, hidden };
};
