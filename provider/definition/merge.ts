import {
  isBlank,
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  objectOf,
  valueAt,
} from "../kernel/json.js";
import type { Field, Fields, ListField, MapField, MemberRule, Members } from "./define.js";
import { defaultIn, itemPath, memberPath } from "./fields.js";
import { pairs, plainText, sameContent } from "./meaning.js";

interface Merging {
  readonly evidence: Evidence;
  /** Members that are left out here stay in the service. */
  readonly keeps: boolean;
}

const mergeMembers = (shape: Members, sides: Sides, path: string, merging: Merging): Part => {
  const gone = displaced(shape, sides.desired);
  return together(
    Object.entries(shape.fields).map(([name, field]) => {
      const inner = memberSides(sides, name);
      const isGone = gone.has(name) && inner.desired === undefined;
      const part = isGone ? nothing : mergeMember(field, inner, memberPath(path, name), merging);
      return [name, part];
    }),
  );
};

const mergeMember = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  const below = { ...merging, keeps: false };
  const { live, desired, prior } = sides;
  if (desired !== undefined) return mergeValue(field, sides, path, below);
  if (prior !== undefined) return leftover(field, sides, path, below);
  const isNeeded = field.required === true;
  const { value, hidden } = visiblePart(field, live, path, merging.evidence, isNeeded);
  const undeclared = saysNothing(field, live) ? [] : [path];
  return merging.keeps && hidden.length > 0
    ? partOf(undefined, [], undeclared)
    : partOf(value, hidden, undeclared);
};

/**
 * The part of an object that is not the program's after the program no longer declares it; nothing
 * if that part is not valid alone.
 */
const leftover = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  if (field.type !== "object" || !isObject(sides.live) || !isObject(sides.prior)) return nothing;
  const rest = mergeMembers(field, { ...sides, desired: {} }, path, merging);
  const canStand = !saysNothing(field, rest.value) && stands(field.fields, rest.value);
  return canStand ? rest : nothing;
};

/** Whether a value says no more than an absent one: it is empty, or what the service fills in. */
const saysNothing = (field: Field, value: unknown): boolean =>
  value === undefined ||
  value === defaultIn(field) ||
  isBlank(value) ||
  (field.type === "object" &&
    isObject(value) &&
    Object.entries(field.fields).every(([name, of]) => saysNothing(of, memberOf(value, name))));

const mergeValue = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired } = sides;
  if (field.secret) return partOf(desired);
  switch (field.type) {
    case "object":
      return isObject(live) && isObject(desired)
        ? mergeMembers(field, sides, path, merging)
        : partOf(desired);
    case "list":
      return Array.isArray(desired)
        ? mergeItems(field, { ...sides, desired }, path, merging)
        : partOf(desired);
    case "map":
      return isObject(desired)
        ? mergeEntries(field, { ...sides, desired }, path, merging)
        : partOf(desired);
    default:
      return partOf(desired);
  }
};

const mergeItems = (
  field: ListField,
  { live, desired, prior }: Sides & { readonly desired: readonly unknown[] },
  path: string,
  merging: Merging,
): Part => {
  const there = partnersOf(field, desired, listAt(live));
  const known = partnersOf(field, desired, listAt(prior));
  const parts = desired.map((item, place) => {
    const sides = { live: there[place], desired: item, prior: known[place] };
    return mergeValue(field.of, sides, itemPath(path, field, item, place), merging);
  });
  const values = parts.map(({ value }) => value);
  return wholeOf(parts, values);
};

const mergeEntries = (
  field: MapField,
  { live, desired, prior }: Sides & { readonly desired: JsonObject },
  path: string,
  merging: Merging,
): Part => {
  const [there, known] = [entriesByKey(live), entriesByKey(prior)];
  return together(
    Object.entries(desired).map(([name, value]) => {
      const key = plainText(name);
      const sides = { live: there.get(key), desired: value, prior: known.get(key) };
      return [name, mergeValue(field.of, sides, memberPath(path, name), merging)];
    }),
  );
};

/**
 * The parameters for writing over a live object, all in a program's terms: none has members that no
 * field defines.
 */
interface Merge {
  readonly fields: Fields;
  /** The rule on the members of the kind itself: the program's choice displaces the other one. */
  readonly rule: MemberRule | undefined;
  readonly live: JsonObject;
  /** The content that the program wants. */
  readonly desired: JsonObject;
  /** The content that it wanted last time; empty for an object that it does not know yet. */
  readonly prior: JsonObject;
  /** This tenant's PUT keeps the members of the object that it leaves out. */
  readonly keeps: boolean;
}

/** The content of a PUT, and what it does to members that are not the program's. */
interface MergeResult {
  readonly merged: JsonObject;
  /**
   * Paths of the members that stay although the program does not name them:
   * `roles[custom_bot].headers`.
   */
  readonly undeclared: readonly string[];
  /** Paths of the secrets that would be lost: the service hides them, so the result lacks them. */
  readonly hidden: readonly string[];
}

/**
 * Computes the content of a PUT: the live object with the program's changes.
 *
 * - Members that the program declares get the program's values; a list or a map is declared as a
 *   whole.
 * - Members that it no longer declares are omitted, at every depth.
 * - Members that it never declared are kept, at every depth. A secret that the service hides is
 *   reported as `hidden`: it cannot be written back, and its mask must not be. An empty value is
 *   omitted: the service may show one for an absent member, and refuse to receive it.
 */
export const mergeFields = ({ live, desired, prior, keeps, ...kind }: Merge): MergeResult => {
  const sides = { live, desired, prior };
  const evidence = evidenceOf(kind.fields, sides);
  const { value, undeclared, hidden } = mergeMembers(kind, sides, "", { evidence, keeps });
  return { merged: isObject(value) ? value : {}, undeclared, hidden };
};

/** The result for a value, and the paths in it that the program does not name. */
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

const nothing = partOf(undefined);

/** A value composed of parts. */
const wholeOf = (parts: readonly Part[], value: unknown): Part =>
  partOf(
    value,
    parts.flatMap(({ hidden }) => hidden),
    parts.flatMap(({ undeclared }) => undeclared),
  );

/** An object or a map composed of its members. */
const together = (parts: readonly (readonly [name: string, part: Part])[]): Part =>
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

/** What is visible; nothing if the rest is meaningless. */
const unlessEmpty = (whole: Part): Part =>
  whole.hidden.length > 0 && isBlank(whole.value) ? partOf(undefined, whole.hidden) : whole;

/** Whether an object has everything that the service requires of it. */
const stands = (fields: Fields, value: unknown): boolean =>
  isObject(value) &&
  Object.entries(fields).every(
    ([name, field]) => !field.required || !isMissing(memberOf(value, name)),
  );

const visibleObject = (
  fields: Fields,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): Part => {
  const parts = Object.entries(fields).map(([name, field]) => {
    const isNeeded = field.required === true;
    const [value, at] = [memberOf(live, name), memberPath(path, name)];
    return [name, visiblePart(field, value, at, evidence, isNeeded)] as const;
  });
  const whole = unlessEmpty(together(parts));
  const isWhole = whole.hidden.length === 0 || stands(fields, whole.value);
  return isWhole ? whole : partOf(undefined, whole.hidden);
};

const visibleItems = (
  field: ListField,
  live: readonly unknown[],
  path: string,
  evidence: Evidence,
): Part => {
  const parts = live.map((item, place) =>
    visiblePart(field.of, item, itemPath(path, field, item, place), evidence, true),
  );
  const left = parts.filter(({ value }) => value !== undefined).map(({ value }) => value);
  return unlessEmpty(wholeOf(parts, left));
};

/** An entry needs its value: without it, there is nothing to write. */
const visibleEntries = (
  { of }: MapField,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): Part =>
  unlessEmpty(
    together(
      Object.entries(live).map(([name, value]) => [
        name,
        visiblePart(of, value, memberPath(path, name), evidence, true),
      ]),
    ),
  );

/**
 * The part of a value not declared by the program that can be written back: everything except empty
 * values, and secrets that the service masks or omits.
 */
const visiblePart = (
  field: Field,
  live: unknown,
  path: string,
  evidence: Evidence,
  isNeeded: boolean,
): Part => {
  if (field.secret) {
    return isHidden(live, evidence, isNeeded) ? partOf(undefined, [path]) : partOf(live);
  }
  if (isBlank(live) && !isNeeded) return nothing;
  if (field.type === "object" && isObject(live))
    return visibleObject(field.fields, live, path, evidence);
  if (field.type === "list" && Array.isArray(live))
    return visibleItems(field, live, path, evidence);
  if (field.type === "map" && isObject(live)) return visibleEntries(field, live, path, evidence);
  return partOf(live);
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
    ? Object.entries(fields).flatMap(([name, field]) =>
        declaredSecrets(field, memberSides(sides, name)),
      )
    : [];

const inList = (field: ListField, { live, desired, prior }: Sides): Sides[] => {
  const known = listAt(prior);
  const there = partnersOf(field, known, listAt(live));
  const wanted = partnersOf(field, known, listAt(desired));
  return known.flatMap((item, place) =>
    there[place] === undefined
      ? []
      : declaredSecrets(field.of, { live: there[place], desired: wanted[place], prior: item }),
  );
};

const inMap = ({ of }: MapField, { live, desired, prior }: Sides): Sides[] => {
  const [there, wanted] = [entriesByKey(live), entriesByKey(desired)];
  return [...entriesByKey(prior)].flatMap(([key, value]) =>
    there.has(key)
      ? declaredSecrets(of, { live: there.get(key), desired: wanted.get(key), prior: value })
      : [],
  );
};

/** Every secret that the program gave before and that still has a place in the live object. */
const declaredSecrets = (field: Field, sides: Sides): Sides[] => {
  if (sides.prior === undefined) return [];
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

/** Returns the names of the members that cannot coexist with the one that the program chose. */
export const displaced = (
  { rule }: Pick<Members, "rule">,
  desired: unknown,
): ReadonlySet<string> => {
  if (!rule || !("exactlyOne" in rule) || !isObject(desired)) return new Set();
  const members = Object.values(rule.exactlyOne);
  const word = memberOf(desired, rule.discriminator);
  const named = Object.entries(rule.exactlyOne).find(([choice]) => choice === word)?.[1];
  const chosen = named ?? members.find((name) => memberOf(desired, name) !== undefined);
  return new Set(chosen === undefined ? [] : members.filter((name) => name !== chosen));
};

/** For each item, the corresponding one in another list; undefined if there is none. */
const partnersOf = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly unknown[] =>
  pairs(field, items, others).map((place) => (place === undefined ? undefined : others[place]));

/** The entries in a map, by the normal form of their keys. */
const entriesByKey = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    isObject(value) ? Object.entries(value).map(([key, of]) => [plainText(key), of] as const) : [],
  );

/**
 * One place of an object as the service has it, as the program wants it, and as it wanted it last
 * time.
 */
interface Sides {
  readonly live: unknown;
  readonly desired: unknown;
  readonly prior: unknown;
}

/** The same member of all three; undefined if one is not an object or has no such member. */
const memberSides = ({ live, desired, prior }: Sides, name: string): Sides => ({
  live: valueAt(live, name),
  desired: valueAt(desired, name),
  prior: valueAt(prior, name),
});
