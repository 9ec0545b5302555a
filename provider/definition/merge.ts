import { isObject, type JsonObject, listedObjects, memberOf, objectOf } from "../kernel/json.js";
import type { Field, Fields, ListField, MapField, MemberRule, Members } from "./define.js";
import {
  defaultIn,
  fieldsByWireName,
  itemPath,
  keyOf,
  memberPath,
  membersOf,
  unwrapped,
  wireName,
} from "./fields.js";
import { asThere, pairs, plainText, sameContent, sameMeaning } from "./meaning.js";
import { fromWire, neutralVendor } from "./wire.js";

/** An object without any known field. */
const unknownObject: Members = { fields: {} };

interface Merging {
  readonly evidence: Evidence;
  /** Members that are left out here stay in the service. */
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
  if (sides.prior !== undefined) return leftover(field, sides, path, below);
  // A service may answer null for an absent value, and refuse to receive null.
  if (field && sides.live === null) return partOf(undefined);
  const { value, hidden } = visiblePart(
    field,
    sides.live,
    path,
    merging.evidence,
    field?.required === true,
  );
  const isUsual = sides.live === null || (field && defaultIn(field) === sides.live);
  const undeclared = isUsual ? [] : [path];
  return merging.keeps && hidden.length > 0
    ? partOf(undefined, [], undeclared)
    : partOf(value, hidden, undeclared);
};

/**
 * The part of an object that is not the program's after the program no longer declares it; empty if
 * that part is not valid alone.
 */
const leftover = (field: Field | undefined, sides: Sides, path: string, merging: Merging): Part => {
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

/** Whether the service shows more of the referenced object than its ID. */
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

/** An object that wraps a value: the value, and what else the service keeps beside it. */
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

/**
 * The parameters for writing over a live object; all JSON of the service, without `id`, `created`,
 * and `modified`.
 */
interface Merge {
  readonly fields: Fields;
  /** The rule on the members of the kind itself: the program's choice displaces the other one. */
  readonly rule: MemberRule | undefined;
  readonly live: JsonObject;
  /** The content that the program wants, including the members of `extra`. */
  readonly desired: JsonObject;
  /** The content that it wanted last time; empty for an object that it does not know yet. */
  readonly prior: JsonObject;
  /** This tenant's PUT keeps the members of the object that it leaves out. */
  readonly keeps: boolean;
}

/** The body of a PUT, and what it does to members that are not the program's. */
interface MergeResult {
  readonly body: JsonObject;
  /**
   * Paths of the members that stay although the program does not name them:
   * `roles[custom_bot].headers`.
   */
  readonly undeclared: readonly string[];
  /** Paths of the secrets that would be lost: the service hides them, so the body lacks them. */
  readonly hidden: readonly string[];
}

/**
 * Computes the body of a PUT: the live object with the program's changes.
 *
 * - Members that the program declares get the program's values; a list or a map is declared as a
 *   whole.
 * - Members that it no longer declares are omitted, at every depth.
 * - Members that it never declared are kept, at every depth, even if no field defines them. A
 *   secret that the service hides is reported as `hidden`: it cannot be written back, and its mask
 *   must not be.
 */
export const mergeFields = ({ live, desired, prior, keeps, ...kind }: Merge): MergeResult => {
  const sides = { live, desired, prior };
  const evidence = evidenceOf(kind.fields, sides);
  const { value, undeclared, hidden } = mergeObject(kind, sides, "", { evidence, keeps });
  return { body: isObject(value) ? value : {}, undeclared, hidden };
};

/** The result for a value of the service, and the paths in it that the program does not name. */
interface Part {
  /** The part that can be written back; undefined if what is left is not valid alone. */
  readonly value: unknown;
  /** Secrets that the service hides, so that nobody can write them back. */
  readonly hidden: readonly string[];
  /** Members that stay as they are. */
  readonly undeclared: readonly string[];
}

const partOf = (
  value: unknown,
  hidden: readonly string[] = [],
  undeclared: readonly string[] = [],
): Part => ({ value, hidden, undeclared });

/** A value composed of parts. */
const wholeOf = (parts: readonly Part[], value: unknown): Part =>
  partOf(
    value,
    parts.flatMap(({ hidden }) => hidden),
    parts.flatMap(({ undeclared }) => undeclared),
  );

type NamedParts = readonly (readonly [name: string, part: Part])[];

/** An object composed of its members. */
const together = (parts: NamedParts): Part =>
  wholeOf(
    parts.map(([, part]) => part),
    objectOf(parts.map(([name, { value }]) => [name, value])),
  );

/** @param isNeeded whether the containing value would be invalid without this one */
const isHidden = (value: unknown, evidence: Evidence, isNeeded: boolean): boolean => {
  if (isMissing(value)) {
    return evidence.omits || (!evidence.echoes && (isNeeded || value === ""));
  }
  if (typeof value !== "string") return false;
  return value === evidence.mask || (!evidence.echoes && looksMasked(value));
};

/** The visible members; none, if the rest is meaningless. */
const visibleMembers = (parts: NamedParts): Part => {
  const whole = together(parts);
  const isGone = whole.hidden.length > 0 && isObject(whole.value) && holdsNothing(whole.value);
  return isGone ? partOf(undefined, whole.hidden) : whole;
};

/** Whether it is empty, or contains only null. */
const holdsNothing = (value: JsonObject): boolean =>
  Object.values(value).every((member) => member === null);

/** The members of an object unchanged, except any that would lead to a prototype. */
const safeEntries = (value: JsonObject): [string, unknown][] =>
  Object.entries(value).filter(([name]) => name !== "__proto__");

/** A value that no field knows: it is kept unless it is certainly a mask. */
const visibleUnknown = (value: unknown, path: string, evidence: Evidence): Part => {
  if (typeof value === "string") {
    const isMask = value === evidence.mask || (!evidence.echoes && isSurelyMask(value));
    return isMask ? partOf(undefined, [path]) : partOf(value);
  }
  if (isObject(value)) {
    return visibleMembers(
      safeEntries(value).map(([name, of]) => [
        name,
        visibleUnknown(of, memberPath(path, name), evidence),
      ]),
    );
  }
  if (!Array.isArray(value)) return partOf(value);
  const items = value.map((item, place) => visibleUnknown(item, `${path}[${place}]`, evidence));
  const hidden = items.flatMap((item) => item.hidden);
  return partOf(hidden.length > 0 ? undefined : items.map((item) => item.value), hidden);
};

/** Secrets that are absent although the service is known to omit existing ones. */
const omittedSecrets = (
  fields: Fields,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): readonly string[] =>
  [...fieldsByWireName(fields)].flatMap(([wire, [name, field]]) =>
    field.secret &&
    !Object.hasOwn(live, wire) &&
    isHidden(undefined, evidence, field.required === true)
      ? [memberPath(path, name)]
      : [],
  );

/** Whether an object has everything that the service requires of it. */
const stands = (fields: Fields, value: JsonObject): boolean =>
  [...fieldsByWireName(fields)].every(
    ([wire, [, field]]) => !field.required || !isMissing(memberOf(value, wire)),
  );

const visibleObject = (
  fields: Fields,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): Part => {
  const byWire = fieldsByWireName(fields);
  const parts = visibleMembers(
    safeEntries(live).map(([wire, value]) => {
      const [name, field] = byWire.get(wire) ?? [wire, undefined];
      const isNeeded = field?.required === true;
      return [wire, visiblePart(field, value, memberPath(path, name), evidence, isNeeded)];
    }),
  );
  const hidden = [...parts.hidden, ...omittedSecrets(fields, live, path, evidence)];
  const isWhole = hidden.length === 0 || (isObject(parts.value) && stands(fields, parts.value));
  return partOf(isWhole ? parts.value : undefined, hidden);
};

/** An entry needs its value: without it, there is nothing to write. */
const visibleEntry = (field: MapField, entry: unknown, path: string, evidence: Evidence): Part => {
  if (!isObject(entry)) return partOf(entry);
  const { key, value } = membersOf(field);
  const here = memberPath(path, keyOf(field, entry) ?? "");
  const names = [...new Set([...safeEntries(entry).map(([name]) => name), value])];
  const parts = names.map((name) => {
    const of = memberOf(entry, name);
    if (name === value) return [name, visiblePart(field.of, of, here, evidence, true)] as const;
    const isKey = name === key;
    return [
      name,
      isKey ? partOf(of) : visibleUnknown(of, memberPath(here, name), evidence),
    ] as const;
  });
  const whole = visibleMembers(parts);
  const stays =
    whole.hidden.length === 0 || (isObject(whole.value) && Object.hasOwn(whole.value, value));
  return partOf(stays ? whole.value : undefined, whole.hidden);
};

const visibleItems = (
  wire: readonly unknown[],
  partAt: (item: unknown, place: number) => Part,
): Part => {
  const parts = wire.map(partAt);
  const hidden = parts.flatMap((part) => part.hidden);
  const left = parts.filter((part) => part.hidden.length === 0 || part.value !== undefined);
  const isGone = hidden.length > 0 && left.length === 0;
  return partOf(isGone ? undefined : left.map(({ value }) => value), hidden);
};

const visibleList = (field: ListField, wire: unknown, path: string, evidence: Evidence): Part => {
  const items = itemsOf(field, wire);
  const part = visibleItems(items, (item, place) =>
    visiblePart(
      field.of,
      item,
      itemPath(path, field, readWire(field.of, item), place),
      evidence,
      true,
    ),
  );
  if (part.hidden.length === 0) return partOf(wire);
  if (!field.envelope || !isObject(wire)) return part;
  return part.value === undefined
    ? part
    : partOf({ ...wire, [field.envelope]: part.value }, part.hidden);
};

/**
 * The part of a value not declared by the program that can be written back: everything except
 * secrets that the service masks or omits.
 *
 * @param field undefined if no field knows the value
 * @param wire the service's JSON
 */
const visiblePart = (
  field: Field | undefined,
  wire: unknown,
  path: string,
  evidence: Evidence,
  isNeeded = false,
): Part => {
  if (!field) return visibleUnknown(wire, path, evidence);
  if (field.secret) {
    return isHidden(wire, evidence, isNeeded) ? partOf(undefined, [path]) : partOf(wire);
  }
  switch (field.type) {
    case "object":
      return isObject(wire) ? visibleObject(field.fields, wire, path, evidence) : partOf(wire);
    case "list":
      return visibleList(field, wire, path, evidence);
    case "map":
      return Array.isArray(wire)
        ? visibleItems(wire, (entry) => visibleEntry(field, entry, path, evidence))
        : partOf(wire);
    default:
      return partOf(wire);
  }
};

/** How the service treats secrets, as far as one object shows it by secrets with known values. */
interface Evidence {
  /** It shows them unchanged. */
  readonly echoes: boolean;
  /** It leaves them out. */
  readonly omits: boolean;
  /** The mask that it shows instead of all of them. */
  readonly mask?: string;
}

const inObject = (fields: Fields, sides: Sides): Sides[] =>
  isObject(sides.live)
    ? [...fieldsByWireName(fields)].flatMap(([wire, [, field]]) =>
        declaredSecrets(field, memberSides(sides, wire)),
      )
    : [];

const inList = (field: ListField, { live, desired, prior }: Sides): Sides[] => {
  const known = itemsOf(field, prior);
  const there = partnersOf(field, known, itemsOf(field, live));
  const wanted = partnersOf(field, known, itemsOf(field, desired));
  return known.flatMap((item, place) =>
    there[place] === undefined
      ? []
      : declaredSecrets(field.of, { live: there[place], desired: wanted[place], prior: item }),
  );
};

const inMap = (field: MapField, { live, desired, prior }: Sides): Sides[] => {
  const [there, wanted] = [entriesByKey(field, live), entriesByKey(field, desired)];
  const { value } = membersOf(field);
  return [...entriesByKey(field, prior)].flatMap(([key, entry]) => {
    const sides = { live: there.get(key), desired: wanted.get(key), prior: entry };
    return sides.live ? declaredSecrets(field.of, memberSides(sides, value)) : [];
  });
};

/** Every secret that the program gave before and that still has a place in the live object. */
const declaredSecrets = (field: Field, sides: Sides): Sides[] => {
  if (sides.prior === undefined || sides.prior === null) return [];
  if (field.secret) return [sides];
  switch (field.type) {
    case "object":
      return inObject(field.fields, sides);
    case "list":
      return inList(field, sides);
    case "map":
      return inMap(field, sides);
    default:
      return [];
  }
};

/** Whether a value is undefined, null, or the empty string, all of which count as absent. */
export const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === "";

const isKnown = ({ live, desired, prior }: Sides): boolean =>
  sameContent(live, prior) || sameContent(live, desired);

/** The evidence of a live object on how the service treats secrets. */
const evidenceOf = (fields: Fields, sides: Sides): Evidence => {
  const secrets = inObject(fields, sides).filter(({ prior }) => !isMissing(prior));
  const shown = secrets.filter(({ live }) => !isMissing(live));
  const others = new Set(shown.filter((secret) => !isKnown(secret)).map(({ live }) => live));
  const [mask] = others.size === 1 ? others : [];
  return {
    echoes: shown.some(
      (secret) => isKnown(secret) && !(typeof secret.live === "string" && looksMasked(secret.live)),
    ),
    omits: shown.length < secrets.length,
    ...(typeof mask === "string" ? { mask } : {}),
  };
};

const words =
  /^\W*((value )?(is )?(hidden|secret|redacted|masked|filtered|protected|private|encrypted|obfuscated|sensitive|confidential|suppressed|removed|omitted|not (shown|displayed|disclosed|available))( value)?|string)\W*$/i;

/** Whether a string may be a mask that a service shows instead of a secret. */
export const looksMasked = (text: string): boolean =>
  /[*•●]{3}/.test(text) ||
  /^\s*[*•●.#-][*•●.#\s-]*$/.test(text) ||
  (/^[*•●xX.#\s-]+$/.test(text) && /x.*x.*x/i.test(text)) ||
  words.test(text);

/**
 * Whether a string that is not known to be a secret is certainly a mask: a row of asterisks or
 * bullets, possibly between a few characters of the value.
 */
export const isSurelyMask = (text: string): boolean =>
  /^[^\s*•●]{0,4}[*•●]{3,}[^\s*•●]{0,4}$/.test(text);

/**
 * Returns the wire names of the members that cannot coexist with the one that the program chose.
 */
export const displaced = ({ fields, rule }: Members, desired: unknown): ReadonlySet<string> => {
  if (!rule || !("exactlyOne" in rule) || !isObject(desired)) return new Set();
  const onWire = (name: string): string => {
    const field = fields[name];
    return field ? wireName(name, field) : name;
  };
  const members = Object.values(rule.exactlyOne);
  const own = new Map(Object.entries(desired));
  const word = own.get(onWire(rule.discriminator));
  const named = Object.entries(rule.exactlyOne).find(([choice]) => choice === word)?.[1];
  const chosen = named ?? members.find((name) => own.has(onWire(name)));
  return new Set(chosen === undefined ? [] : members.filter((name) => name !== chosen).map(onWire));
};

/** Converts a value from the service to a program's form, leaving the vendor's words unchanged. */
export const readWire = (field: Field, wire: unknown): unknown =>
  fromWire(field, wire, neutralVendor);

/** Returns the items in a list on the wire; empty if the value is not a list. */
export const itemsOf = (field: ListField, wire: unknown): readonly unknown[] => {
  const items = unwrapped(field.envelope, wire);
  return Array.isArray(items) ? items : [];
};

/**
 * Returns, for each item in a list on the wire, the corresponding item in another list; undefined
 * if there is none.
 */
export const partnersOf = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly unknown[] => {
  const read = (list: readonly unknown[]) => list.map((item) => readWire(field.of, item));
  return pairs(field, read(items), read(others)).map((place) =>
    place === undefined ? undefined : others[place],
  );
};

/** Returns the entries in a map, by key; empty if the map is not a list on the wire. */
export const entriesByKey = (field: MapField, wire: unknown): ReadonlyMap<string, JsonObject> => {
  return new Map(
    listedObjects(wire).flatMap((entry) => {
      const key = keyOf(field, entry);
      return key === undefined ? [] : [[plainText(key), entry] as const];
    }),
  );
};

/**
 * One place of an object as the service has it, as the program wants it, and as it wanted it last
 * time.
 */
interface Sides {
  readonly live: unknown;
  readonly desired: unknown;
  readonly prior: unknown;
}

const memberIn = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The same member of all three; undefined if one is not an object or has no such member. */
const memberSides = ({ live, desired, prior }: Sides, name: string): Sides => ({
  live: memberIn(live, name),
  desired: memberIn(desired, name),
  prior: memberIn(prior, name),
});
