import { isBlank, isObject, type JsonObject, memberOf, valueAt } from "../kernel/json.js";
import type { Field, Fields, MemberRule, Members } from "./define.js";
import { defaultIn } from "./fields.js";
import { type AlignedPart, alignMembers, alignParts, joinParts, sameContent } from "./meaning.js";
import { looksMasked } from "./secrets.js";

/**
 * One place of an object as the service has it, as the program wants it, and as it wanted it last
 * time.
 */
interface Sides {
  readonly live: unknown;
  readonly desired: unknown;
  readonly prior: unknown;
}

interface Merging {
  readonly evidence: Evidence;
  /** Members that are left out here stay in the service. */
  readonly keeps: boolean;
}

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
  const evidence = readEvidence(kind.fields, sides);
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

/** Merges every part of a value, and puts the results together again. */
const mergeParts = (
  field: Pick<Field, "type">,
  parts: readonly AlignedPart[],
  merge: (part: AlignedPart) => Part,
): Part => {
  const merged = parts.map((part) => ({ name: part.name, ...merge(part) }));
  return partOf(
    joinParts(
      field,
      merged.map(({ name, value }) => [name, value]),
    ),
    merged.flatMap(({ hidden }) => hidden),
    merged.flatMap(({ undeclared }) => undeclared),
  );
};

const mergeMembers = (
  shape: Members,
  { desired, live, prior }: Sides,
  path: string,
  merging: Merging,
): Part => {
  const gone = displaced(shape, desired);
  const parts = alignMembers(shape.fields, [desired, live, prior], path);
  return mergeParts({ type: "object" }, parts, ({ field, name, values, ...at }) => {
    const [wanted, there, known] = values;
    const isGone = gone.has(name) && wanted === undefined;
    const sides = { desired: wanted, live: there, prior: known };
    return isGone ? nothing : mergeMember(field, sides, at.path, merging);
  });
};

const mergeMember = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  const below = { ...merging, keeps: false };
  const { live, desired, prior } = sides;
  if (desired !== undefined) return mergeValue(field, sides, path, below);
  if (prior !== undefined) return mergeLeftover(field, sides, path, below);
  const { value, hidden } = visiblePart(field, live, path, merging.evidence, isNeeded(field));
  const undeclared = saysNothing(field, live) ? [] : [path];
  return merging.keeps && hidden.length > 0
    ? partOf(undefined, [], undeclared)
    : partOf(value, hidden, undeclared);
};

const isNeeded = ({ required }: Field): boolean => required === true;

/**
 * The part of an object that is not the program's after the program no longer declares it; nothing
 * if that part is not valid alone.
 */
const mergeLeftover = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  if (field.type !== "object" || !isObject(sides.live) || !isObject(sides.prior)) return nothing;
  const rest = mergeMembers(field, { ...sides, desired: {} }, path, merging);
  const isEnough = !saysNothing(field, rest.value) && canStand(field.fields, rest.value);
  return isEnough ? rest : nothing;
};

/** Whether a value says no more than an absent one: it is empty, or what the service fills in. */
const saysNothing = (field: Field, value: unknown): boolean =>
  value === undefined ||
  value === defaultIn(field) ||
  isBlank(value) ||
  (field.type === "object" &&
    isObject(value) &&
    Object.entries(field.fields).every(([name, of]) => saysNothing(of, memberOf(value, name))));

/** A list or a map is the program's as a whole; an object only in the members that it declares. */
const mergeValue = (field: Field, sides: Sides, path: string, merging: Merging): Part => {
  const { live, desired, prior } = sides;
  if (field.secret) return partOf(desired);
  if (field.type === "object")
    return isObject(live) && isObject(desired)
      ? mergeMembers(field, sides, path, merging)
      : partOf(desired);
  const parts = alignParts(field, [desired, live, prior], path);
  if (!parts) return partOf(desired);
  return mergeParts(field, parts, ({ field: of, path: here, values: [wanted, there, known] }) =>
    mergeValue(of, { desired: wanted, live: there, prior: known }, here, merging),
  );
};

/** Whether an object has everything that the service requires of it. */
const canStand = (fields: Fields, value: unknown): boolean =>
  Object.entries(fields).every(
    ([name, field]) => !field.required || !isMissing(valueAt(value, name)),
  );

/**
 * The part of a value not declared by the program that can be written back: everything except empty
 * values, and secrets that the service masks or omits.
 *
 * @param isNeededHere whether the containing value would be invalid without this one
 */
const visiblePart = (
  field: Field,
  live: unknown,
  path: string,
  evidence: Evidence,
  isNeededHere: boolean,
): Part => {
  if (field.secret)
    return isHidden(live, evidence, isNeededHere) ? partOf(undefined, [path]) : partOf(live);
  if (isBlank(live) && !isNeededHere) return nothing;
  const parts = alignParts(field, [live], path);
  if (!parts) return partOf(live);
  const whole = mergeParts(field, parts, ({ field: of, path: here, values: [value] }) =>
    // An item, and an entry without its value, has nothing else to write.
    visiblePart(of, value, here, evidence, field.type !== "object" || isNeeded(of)),
  );
  if (whole.hidden.length === 0) return whole;
  const isEnough = field.type !== "object" || canStand(field.fields, whole.value);
  return isEnough && !isBlank(whole.value) ? whole : partOf(undefined, whole.hidden);
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

const isHidden = (value: unknown, evidence: Evidence, isNeededHere: boolean): boolean => {
  if (isMissing(value))
    return evidence.omits || (!evidence.echoes && (isNeededHere || value === ""));
  if (typeof value !== "string") return false;
  return value === evidence.mask || (!evidence.echoes && looksMasked(value));
};

/** Every secret that the program gave before and that still has a place in the live object. */
const declaredSecrets = (field: Field, { live, desired, prior }: Sides): Sides[] => {
  if (prior === undefined) return [];
  if (field.secret) return [{ live, desired, prior }];
  if (field.type === "object" && !isObject(live)) return [];
  return (alignParts(field, [prior, live, desired], "") ?? []).flatMap(({ field: of, values }) => {
    const [known, there, wanted] = values;
    const isGone = field.type !== "object" && there === undefined;
    return isGone ? [] : declaredSecrets(of, { live: there, desired: wanted, prior: known });
  });
};

/** Whether a value is undefined, null, or the empty string, all of which count as absent. */
export const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === "";

const isKnown = ({ live, desired, prior }: Sides): boolean =>
  sameContent(live, prior) || sameContent(live, desired);

/** The evidence of a live object on how the service treats secrets. */
const readEvidence = (fields: Fields, sides: Sides): Evidence => {
  const secrets = alignMembers(fields, [sides.prior, sides.live, sides.desired], "")
    .flatMap(({ field, values: [prior, live, desired] }) =>
      declaredSecrets(field, { live, desired, prior }),
    )
    .filter(({ prior }) => !isMissing(prior));
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
