import {
  isBlank,
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  objectOf,
  valueAt,
} from "../kernel/json.js";
import {
  type Definition,
  type Field,
  type Fields,
  type ListField,
  type MapField,
  type MemberRule,
  type Members,
  object,
  type TextField,
} from "./define.js";
import {
  addedMembers,
  contentsOf,
  defaultIn,
  itemPath,
  keyOf,
  looksMasked,
  memberPath,
  membersOf,
  unwrapped,
} from "./fields.js";
import { pairs, plainText } from "./meaning.js";

// From a program's values to the service's JSON and back, and to what a PUT over a live object sends.

/** A tenant-specific difference between a program's values and the service's JSON. */
export interface VendorName {
  /** The vendor's own word, which replaces `platform` in identifiers (setting `platformName`). */
  readonly platformName: string;
}

const neutral = "platform_";

/** A vendor name that changes no identifiers, for comparing two values from the service. */
export const neutralVendor: VendorName = { platformName: "platform" };

const vendorWord = (field: TextField, value: unknown, from: string, to: string): unknown =>
  field.values?.some((word) => word.startsWith(neutral)) &&
  typeof value === "string" &&
  value.startsWith(from)
    ? to + value.slice(from.length)
    : value;

const wrapped = (key: string | undefined, value: unknown): unknown =>
  key ? { [key]: value } : value;

/** Converts one value from a program to the service's JSON. */
export const toWire = (field: Field, value: unknown, vendor: VendorName): unknown => {
  switch (field.type) {
    case "text":
      return wrapped(field.envelope, vendorWord(field, value, neutral, `${vendor.platformName}_`));
    case "reference":
      return field.plainId ? value : { id: value };
    case "object":
      return isObject(value) ? fieldsToWire(field.fields, value, vendor) : value;
    case "list":
      return Array.isArray(value)
        ? wrapped(
            field.envelope,
            value.map((item) => toWire(field.of, item, vendor)),
          )
        : value;
    case "map": {
      const { key, value: member } = membersOf(field);
      return isObject(value)
        ? Object.entries(value).map(([name, of]) => ({
            [key]: name,
            [member]: toWire(field.of, of, vendor),
          }))
        : value;
    }
    default:
      return value;
  }
};

/**
 * Converts the members of a program's object to the service's JSON; omits members without a field.
 */
export const fieldsToWire = (fields: Fields, values: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => values[name] !== undefined)
      .map(([name, field]) => [field.wire ?? name, toWire(field, values[name], vendor)]),
  );

/** Converts a complete object of a kind to the service's JSON. */
export const bodyOf = (
  definition: Definition,
  inputs: JsonObject,
  vendor: VendorName,
): JsonObject => fieldsToWire(definition.fields, inputs, vendor);

/** The value of an entry whose value is left out. */
const emptyValue = ({ type }: Field): unknown =>
  type === "text"
    ? ""
    : type === "list"
      ? []
      : type === "map" || type === "object"
        ? {}
        : undefined;

const mapFromWire = (field: MapField, wire: unknown, vendor: VendorName): unknown => {
  if (!Array.isArray(wire)) return undefined;
  const { value } = membersOf(field);
  return objectOf(
    wire.filter(isObject).flatMap((entry) => {
      const key = keyOf(field, entry);
      const of = fromWire(field.of, memberOf(entry, value), vendor) ?? emptyValue(field.of);
      return key === undefined ? [] : [[key, of] as const];
    }),
  );
};

const listFromWire = (field: ListField, wire: unknown, vendor: VendorName): unknown => {
  const items = unwrapped(field.envelope, wire);
  return Array.isArray(items)
    ? items.map((item) => fromWire(field.of, item, vendor)).filter((item) => item !== undefined)
    : undefined;
};

/**
 * Converts one value from the service's JSON to the form in which a program sets it. Returns
 * undefined if an object, a list, or a map is expected and the value has another shape; a scalar of
 * an unexpected type stays unchanged, for `sameMeaning` to compare.
 */
export const fromWire = (field: Field, wire: unknown, vendor: VendorName): unknown => {
  if (wire === undefined || wire === null) return undefined;
  switch (field.type) {
    case "text": {
      const value = field.envelope === undefined ? wire : unwrapped(field.envelope, wire);
      return vendorWord(field, value ?? undefined, `${vendor.platformName}_`, neutral);
    }
    case "reference":
      return (field.plainId ? wire : unwrapped("id", wire)) ?? undefined;
    case "object":
      return isObject(wire) ? fieldsFromWire(field.fields, wire, vendor) : undefined;
    case "list":
      return listFromWire(field, wire, vendor);
    case "map":
      return mapFromWire(field, wire, vendor);
    default:
      return wire;
  }
};

/**
 * Converts members of the service's JSON to the form in which a program sets them; omits members
 * without a field.
 */
export const fieldsFromWire = (fields: Fields, wire: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [
      name,
      fromWire(field, memberOf(wire, field.wire ?? name), vendor),
    ]),
  );

/** Converts a value from the service to a program's form, leaving the vendor's words unchanged. */
const readWire = (field: Field, wire: unknown): unknown => fromWire(field, wire, neutralVendor);

/** Returns the items in a list on the wire; empty if the value is not a list. */
export const itemsOf = (field: ListField, wire: unknown): readonly unknown[] =>
  listAt(unwrapped(field.envelope, wire));

/** The paths of the parts of a value that no field covers; null counts as absent. */
const unknownParts = (field: Field, wire: unknown, path: string): readonly string[] =>
  contentsOf(field, wire).flatMap(({ field: of, steps, value }) => {
    const here = steps.reduce<string>((at, step) => {
      const isItem = field.type === "list" && typeof step === "number";
      return isItem
        ? itemPath(at, field, readWire(field.of, value), step)
        : memberPath(at, String(step));
    }, path);
    if (steps.length === 0 || value === null || value === undefined) return [];
    if (!of) return [here];
    // Members of a referenced object belong to that object.
    return field.type === "reference" ? [] : unknownParts(of, value, here);
  });

/**
 * Returns the paths of an object's members that no field of its kind covers, as a program would
 * write them. No PUT carries any of them. Any may be a secret, so none is written to a file.
 */
export const unknownMembers = (
  { fields }: Pick<Definition, "fields">,
  wire: JsonObject,
): readonly string[] => {
  const own = Object.entries(wire).filter(([name]) => !addedMembers.includes(name));
  return unknownParts(object({ doc: "", fields }), objectOf(own), "");
};

/** Returns a path; few of them are ever needed. */
type PathOf = () => string;

/** The same part of several values of a field: a member, an item, or an entry. */
export interface AlignedPart {
  readonly field: Field;
  readonly name: string;
  /** Returns its path as a program would write it. */
  readonly path: PathOf;
  /** Undefined where a value has no such part. */
  readonly values: readonly unknown[];
}

/** Returns each member that fields define, in every one of several objects. */
export const alignMembers = (
  fields: Fields,
  objects: readonly unknown[],
  path: PathOf,
): readonly AlignedPart[] =>
  Object.entries(fields).map(([name, field]) => ({
    field,
    name,
    path: () => memberPath(path(), name),
    values: objects.map((value) => valueAt(value, name)),
  }));

/**
 * Returns the parts of a value, each with the corresponding part of other values of the same field:
 * members by name, items as {@link pairs} matches them, entries by the normal form of their keys.
 *
 * @param values in a program's terms. The first one decides which items and entries there are
 * @returns undefined if the first value has no parts, or another shape than its field's
 */
export const alignParts = (
  field: Field,
  [first, ...others]: readonly unknown[],
  path: PathOf,
): readonly AlignedPart[] | undefined => {
  if (field.type === "object")
    return isObject(first) ? alignMembers(field.fields, [first, ...others], path) : undefined;
  if (field.type === "list" && Array.isArray(first)) {
    const matches = others.map((other) => pairs(field, first, listAt(other)));
    return first.map((item: unknown, at) => {
      const partners = matches.map((places, side) => {
        const place = places[at];
        return place === undefined ? undefined : listAt(others[side])[place];
      });
      const here = () => itemPath(path(), field, item, at);
      return { field: field.of, name: String(at), path: here, values: [item, ...partners] };
    });
  }
  if (field.type !== "map" || !isObject(first)) return undefined;
  const entries = others.map(
    (other) =>
      new Map(
        isObject(other) ? Object.entries(other).map(([key, of]) => [plainText(key), of]) : [],
      ),
  );
  return Object.entries(first).map(([name, value]) => {
    const partners = entries.map((entry) => entry.get(plainText(name)));
    const here = () => memberPath(path(), name);
    return { field: field.of, name, path: here, values: [value, ...partners] };
  });
};

/** Puts parts together again, in the shape of their field. Omits undefined ones. */
const joinParts = (
  field: Pick<Field, "type">,
  parts: readonly (readonly [name: string, value: unknown])[],
): unknown =>
  field.type === "list"
    ? parts.map(([, value]) => value).filter((value) => value !== undefined)
    : objectOf(parts);

/**
 * One place of an object as the service has it, as the program wants it, and as it wanted it last
 * time.
 */
interface Sides {
  readonly live: unknown;
  readonly desired: unknown;
  readonly prior: unknown;
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
const mergeFields = ({ live, desired, prior, keeps, ...kind }: Merge): MergeResult => {
  const sides = { live, desired, prior };
  const { value, undeclared, hidden } = mergeMembers(kind, sides, () => "", keeps);
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
  path: PathOf,
  keeps: boolean,
): Part => {
  const gone = displaced(shape, desired);
  const parts = alignMembers(shape.fields, [desired, live, prior], path);
  return mergeParts({ type: "object" }, parts, ({ field, name, values, ...at }) => {
    const [wanted, there, known] = values;
    const isGone = gone.has(name) && wanted === undefined;
    const sides = { desired: wanted, live: there, prior: known };
    return isGone ? nothing : mergeMember(field, sides, at.path, keeps);
  });
};

/** @param keeps whether the service keeps the member if it is left out here */
const mergeMember = (field: Field, sides: Sides, path: PathOf, keeps: boolean): Part => {
  const { live, desired, prior } = sides;
  if (desired !== undefined) return mergeValue(field, sides, path);
  if (prior !== undefined) return mergeLeftover(field, sides, path);
  if (live === undefined && !isNeeded(field)) return nothing;
  const { value, hidden } = visiblePart(field, live, path, isNeeded(field));
  const undeclared = saysNothing(field, live) ? [] : [path()];
  return keeps && hidden.length > 0
    ? partOf(undefined, [], undeclared)
    : partOf(value, hidden, undeclared);
};

const isNeeded = ({ required }: Field): boolean => required === true;

/**
 * The part of an object that is not the program's after the program no longer declares it; nothing
 * if that part is not valid alone.
 */
const mergeLeftover = (field: Field, sides: Sides, path: PathOf): Part => {
  if (field.type !== "object" || !isObject(sides.live) || !isObject(sides.prior)) return nothing;
  const rest = mergeMembers(field, { ...sides, desired: {} }, path, false);
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
const mergeValue = (field: Field, sides: Sides, path: PathOf): Part => {
  const { live, desired, prior } = sides;
  if (field.secret) return partOf(desired);
  if (field.type === "object")
    return isObject(live) && isObject(desired)
      ? mergeMembers(field, sides, path, false)
      : partOf(desired);
  const parts = alignParts(field, [desired, live, prior], path);
  if (!parts) return partOf(desired);
  return mergeParts(field, parts, ({ field: of, path: here, values: [wanted, there, known] }) =>
    mergeValue(of, { desired: wanted, live: there, prior: known }, here),
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
const visiblePart = (field: Field, live: unknown, path: PathOf, isNeededHere: boolean): Part => {
  if (field.secret)
    return isHidden(live, isNeededHere) ? partOf(undefined, [path()]) : partOf(live);
  if (isBlank(live) && !isNeededHere) return nothing;
  const parts = alignParts(field, [live], path);
  if (!parts) return partOf(live);
  const whole = mergeParts(field, parts, ({ field: of, path: here, values: [value] }) =>
    // An item, and an entry without its value, has nothing else to write.
    visiblePart(of, value, here, field.type !== "object" || isNeeded(of)),
  );
  if (whole.hidden.length === 0) return whole;
  const isEnough = field.type !== "object" || canStand(field.fields, whole.value);
  return isEnough && !isBlank(whole.value) ? whole : partOf(undefined, whole.hidden);
};

/** Whether the service hides a secret. Neither a mask nor nothing can be written back. */
const isHidden = (value: unknown, isNeededHere: boolean): boolean => {
  if (isMissing(value)) return isNeededHere || value === "";
  return typeof value === "string" && looksMasked(value);
};

/** Whether a value is undefined, null, or the empty string, all of which count as absent. */
export const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === "";

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

/**
 * Returns the body of a PUT that gives a live object the desired content, and what the PUT does to
 * everything else.
 *
 * @param sides the object as the service shows it; the content that the program wants, and the one
 * that it wanted last time, in its own terms
 */
export const writtenOver = (
  { fields, rule }: Members,
  settings: VendorName & { readonly put?: "keep" | "replace" | undefined },
  { live, desired, prior }: Pick<Merge, "live" | "desired" | "prior">,
) => {
  const { merged, ...rest } = mergeFields({
    ...{ fields, rule, desired, prior },
    live: fieldsFromWire(fields, live, settings),
    keeps: settings.put === "keep",
  });
  const body = fieldsToWire(fields, merged, settings);
  const { modified } = live;
  // A service may refuse to overwrite a later change than this one (public reference).
  const fresh = typeof modified === "string" ? { ...body, modified } : body;
  return { body: fresh, fields: merged, ...rest };
};
