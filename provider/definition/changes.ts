import { isBlank, isObject, type JsonObject, memberOf, objectOf } from "../kernel/json.js";
import { undisclosed, unknownValue } from "../kernel/pulumi.js";
import { abbreviated } from "../kernel/text.js";
import { type Field, type Fields, identityOf, type ListField, type MapField } from "./define.js";
import { changeInside, holdsSecret, looksMasked } from "./fields.js";
import { pairs, sameMeaning, sameValue } from "./meaning.js";
import { type AlignedPart, alignMembers, alignParts } from "./wire.js";

export interface FieldChange {
  /** Path as a program would write it, such as `roles[custom_bot].callback`. */
  readonly path: string;
  /**
   * The current value as short JSON text; undefined if there is none. Secrets appear as `[secret]`.
   */
  readonly from?: string;
  /** The new value as short JSON text; undefined if the value is removed. */
  readonly to?: string;
}

/**
 * Returns a change as one line, such as `active (was true)`. Pulumi itself shows the new value: a
 * transform may have made it secret, and Pulumi keeps that from dynamic providers.
 */
export const changeText = ({ path, from = "not set" }: FieldChange): string =>
  `${path} (was ${from})`;

const longest = 60;

const hidden = "[secret]";

const veiled = (field: Field, value: unknown): unknown =>
  field.secret ? hidden : changeInside(field, value, veiled);

/** In a preview, a value not known before the update is shown as Pulumi shows it. */
const shortJson = (value: unknown): string =>
  abbreviated(JSON.stringify(value).replaceAll(unknownValue, "[unknown]"), longest);

const shown = (field: Field, value: unknown): string =>
  field.secret ? hidden : shortJson(veiled(field, value));

export const isThere = (value: unknown): boolean => value !== undefined && value !== null;

const change = (field: Field, path: () => string, from: unknown, to: unknown): FieldChange[] => [
  {
    path: path(),
    ...(isThere(from) ? { from: shown(field, from) } : {}),
    ...(isThere(to) ? { to: shown(field, to) } : {}),
  },
];

const inField = (field: Field, path: () => string, from: unknown, to: unknown): FieldChange[] => {
  if (field.secret) return from === to ? [] : change(field, path, from, to);
  if (!holdsSecret(field) && sameMeaning(field, from, to)) return [];
  const isNamed = field.type !== "list" || identityOf(field).length > 0;
  const parts = isNamed && alignParts(field, [to, from], path);
  const before = parts && alignParts(field, [from, to], path);
  if (!parts || !before) return sameValue(field, from, to) ? [] : change(field, path, from, to);
  if (field.type === "object") return parts.flatMap(inDeclared);
  // An entry counts even if its value is empty.
  const inner = parts.flatMap(({ field: of, path: here, values: [after, there] }) =>
    isThere(there) && isThere(after)
      ? inField(of, here, there, after)
      : change(of, here, there, after),
  );
  const gone = before
    .filter(({ values: [, after] }) => after === undefined)
    .flatMap(({ field: of, path: here, values: [there] }) => change(of, here, there, undefined));
  const all = [...inner, ...gone];
  const isReordered = field.type === "list" && all.length === 0 && !sameMeaning(field, from, to);
  return isReordered ? change(field, path, from, to) : all;
};

/** What a program does not declare does not change. */
const inDeclared = ({ field, path, values: [wanted, there] }: AlignedPart): FieldChange[] =>
  isThere(wanted) ? inField(field, path, there, wanted) : [];

/**
 * Returns the changes from one object to another, in field order. Includes a member only if `to`
 * declares it and its meaning differs. A secret counts as changed unless the service shows the same
 * value.
 *
 * @param from The live object as `fieldsFromWire` reads it.
 * @param to The inputs of a program.
 */
export const changesOf = (
  fields: Fields,
  from: JsonObject,
  to: JsonObject,
): readonly FieldChange[] => alignMembers(fields, [to, from], () => "").flatMap(inDeclared);

/**
 * Items in the service's order if the order matters, otherwise those known before come first, in
 * their order.
 */
const managedList = (
  field: ListField,
  live: readonly unknown[],
  prior: readonly unknown[],
): readonly unknown[] => {
  const places = pairs(field, prior, live);
  const now = live.map((item, place) => {
    const at = places.indexOf(place);
    return at < 0 ? item : managedValue(field.of, item, prior[at]);
  });
  if (!field.unordered) return now;
  const known = places.filter((place) => place !== undefined);
  return [...known.map((place) => now[place]), ...now.filter((_, place) => !known.includes(place))];
};

/** The entries known before, in their form and order, then the new ones. */
const managedMap = (field: MapField, live: JsonObject, prior: JsonObject): JsonObject => {
  const kept = (alignParts(field, [prior, live], () => "") ?? []).flatMap(
    ({ field: of, name, values: [known, there] }) =>
      there === undefined ? [] : [[name, managedValue(of, there, known)] as const],
  );
  const added = (alignParts(field, [live, prior], () => "") ?? []).flatMap(
    ({ name, values: [there, known] }) => (known === undefined ? [[name, there] as const] : []),
  );
  return objectOf([...kept, ...added]);
};

const managedValue = (field: Field, live: unknown, prior: unknown): unknown => {
  if (sameMeaning(field, live, prior)) return prior;
  if (live === undefined || live === null) return undefined;
  if (field.type === "list" && Array.isArray(live) && Array.isArray(prior))
    return managedList(field, live, prior);
  if (!isObject(live) || !isObject(prior)) return live;
  if (field.type === "object") return managedFields(field.fields, live, prior);
  return field.type === "map" ? managedMap(field, live, prior) : live;
};

/**
 * Returns the part of a live object that a program manages: the members that the program declared,
 * with the service's current values. A value with the same meaning keeps its prior form, and so
 * does every secret, because a service may mask, omit, or echo it. Undeclared members are not
 * included.
 */
export const managedFields = (fields: Fields, live: JsonObject, prior: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => memberOf(prior, name) !== undefined)
      .map(([name, field]) => [
        name,
        managedValue(field, memberOf(live, name), memberOf(prior, name)),
      ]),
  );

/** Neither a mask nor an empty text reveals the secret. */
const isShown = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && !looksMasked(value);

/** An empty optional member counts as absent. */
const isLeftOut = (field: Field, value: unknown): boolean => !field.required && isBlank(value);

const tidyValue = (field: Field, value: unknown): unknown => {
  if (field.secret) return isShown(value) ? value : undisclosed;
  return field.type === "object" && isObject(value)
    ? tidyFields(field.fields, value)
    : changeInside(field, value, tidyValue);
};

/** Adds required secrets that the service does not show, as undisclosed. */
const hiddenMembers = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name, field]) => field.secret && field.required && values[name] === undefined)
      .map(([name]) => [name, undisclosed]),
  );

/** Returns values without empty members that count as absent; hidden secrets become undisclosed. */
export const tidyFields = (fields: Fields, values: JsonObject): JsonObject => ({
  ...objectOf(
    Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const tidy = field ? tidyValue(field, value) : value;
      return field && isLeftOut(field, tidy) ? [] : [[name, tidy]];
    }),
  ),
  ...hiddenMembers(fields, values),
});
