import { isObject, type JsonObject, jsonIn } from "../kernel/json.js";
import { isSecretValue, secretPathsBelow, undisclosed } from "../kernel/stand-ins.js";
import type { Field, Fields } from "./define.js";
import {
  addedMembers,
  type ChangeValue,
  changeInside,
  changeMembers,
  contentsOf,
  fieldOfMember,
  fieldsIn,
  membersIn,
} from "./fields.js";

// Is it secret? By its definition, by the program that marks it, or by the service that masks it.

const holders = new WeakMap<Field, boolean>();

/** Whether a field is a secret or contains one at any depth. */
export const holdsSecret = (field: Field): boolean => {
  const known = holders.get(field);
  if (known !== undefined) return known;
  const holds = fieldsIn({ field }).some((inner) => inner.field.secret === true);
  holders.set(field, holds);
  return holds;
};

const withSecrets = (field: Field, paths: readonly string[]): Field => {
  if (paths.length === 0 || field.secret) return field;
  // The content of a list or a map has no path of its own.
  const inside = field.type === "object" && !paths.includes("") ? paths : [""];
  const secret = inside === paths ? {} : { secret: true as const };
  if (field.type === "object")
    return { ...field, ...secret, fields: fieldsWithSecrets(field.fields, inside) };
  return "of" in field
    ? ({ ...field, ...secret, of: withSecrets(field.of, inside) } as Field)
    : { ...field, ...secret };
};

/**
 * Returns fields with `secret` set on those that the program marks as secret.
 *
 * @param paths such as `callback` or `oauth.clientId`; the empty path means all of them
 */
export const fieldsWithSecrets = (fields: Fields, paths: readonly string[] = []): Fields => {
  if (paths.length === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const inside = paths.flatMap((path) => {
        if (path === "" || path === name) return [""];
        return path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [];
      });
      return [name, withSecrets(field, inside)];
    }),
  );
};

/** Returns the replacement for a secret, or undefined to omit the secret. */
export type ChangeSecret = (secret: unknown) => unknown;

/** Returns field values with every secret replaced. */
export const changeFieldSecrets = (
  fields: Fields,
  values: JsonObject,
  change: ChangeSecret,
): JsonObject => {
  const inside: ChangeValue = (field, value) => {
    if (value === undefined || value === null || !holdsSecret(field)) return value;
    return field.secret ? change(value) : changeInside(field, value, inside);
  };
  return changeMembers(fields, values, inside);
};

/** Returns values with every secret undisclosed, so that they can be written to a file. */
export const withoutSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, () => undisclosed);

/** @param field what the definition knows of the value; what is secret by it needs no mark */
const pathsIn = (value: unknown, field?: Field): readonly string[] => {
  if (field?.secret) return [];
  if (isSecretValue(value)) return [""];
  if (Array.isArray(value)) {
    const of = field?.type === "list" ? field.of : undefined;
    return value.some((item) => pathsIn(item, of).length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    secretPathsBelow(name, pathsIn(member, fieldOfMember(field, name))),
  );
};

const sortedPaths = (found: readonly string[]): readonly string[] | undefined => {
  const paths = new Set(found);
  if (paths.has("")) return [""];
  return paths.size > 0 ? [...paths].sort() : undefined;
};

/**
 * Returns the paths to values in a resource's fields that a program marks as secret, except those
 * that are secret by definition; undefined if there are none.
 */
export const markedSecrets = (fields: Fields, values: JsonObject): readonly string[] | undefined =>
  sortedPaths(
    Object.entries(fields).flatMap(([name, field]) =>
      secretPathsBelow(name, pathsIn(values[name], field)),
    ),
  );

/**
 * Returns every string in an object that messages must not show: strings from secret fields and
 * from members without a field, and the Basic credentials that the fields form. Accepts both a
 * program's values and the service's JSON.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const members = membersIn(fields, values);
  return collectTexts(members.filter(({ steps: [name] }) => !addedMembers.includes(String(name))));
};

/** What no field covers may be anything, so all its texts are hidden. */
const collectTexts = (contents: Contents): string[] => [
  ...contents.flatMap(({ field, value }) =>
    !field || field.secret ? textsIn(value) : collectTexts(contentsOf(field, value)),
  ),
  ...collectCredentials(contents),
];

type Contents = ReturnType<typeof contentsOf>;

/**
 * Returns every nonempty string and every number inside a value, including those in strings that
 * contain JSON.
 */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value === "" ? [] : [value, ...jsonTexts(value)];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

const jsonTexts = (text: string): string[] => (/^\s*[[{]/.test(text) ? textsIn(jsonIn(text)) : []);

/** A text and a secret next to each other may be used together as name and password. */
const collectCredentials = (contents: Contents): string[] => {
  const texts = contents.flatMap(({ field, value }) =>
    field?.type === "text" && typeof value === "string" ? [{ isSecret: field.secret, value }] : [],
  );
  const names = texts.filter(({ isSecret }) => !isSecret);
  return texts
    .filter(({ isSecret }) => isSecret)
    .flatMap((secret) => names.flatMap((name) => basicCredentials(name.value, secret.value)));
};

/**
 * Returns every form of the credentials in a Basic header (RFC 7617). Messages must hide them, too,
 * because they reveal even a password too short to search for.
 */
export const basicCredentials = (user: string, password: string): string[] =>
  (["utf8", "latin1"] as const).flatMap((charset) => {
    const bytes = Buffer.from(`${user}:${password}`, charset);
    return [bytes.toString("base64"), bytes.toString("base64url")];
  });

const words =
  /^\W*((value )?(is )?(hidden|secret|redacted|masked|filtered|protected|private|encrypted|obfuscated|sensitive|confidential|suppressed|removed|omitted|not (shown|displayed|disclosed|available))( value)?|string)\W*$/i;

/** Whether a string may be a mask that a service shows instead of a secret. */
export const looksMasked = (text: string): boolean =>
  /[*•●]{3}/.test(text) ||
  /^\s*[*•●.#-][*•●.#\s-]*$/.test(text) ||
  (/^[*•●xX.#\s-]+$/.test(text) && /x.*x.*x/i.test(text)) ||
  words.test(text);
