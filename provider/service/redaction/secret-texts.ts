import type { Field, Fields, MapField } from "../../definition/define.js";
import { wireName } from "../../definition/wire/wire.js";
import { isObject, parseJson } from "../../kernel/json.js";
import type { Settings } from "../settings/setting-table.js";

const jsonTexts = (text: string): string[] => {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return textsIn(parseJson(text));
  } catch {
    return [];
  }
};

/** Every text and number inside a value, and inside JSON that a text holds. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value === "" ? [] : [value, ...jsonTexts(value)];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

/** The bytes of a text in every spelling of base64. */
export const inBase64 = (text: string): string[] =>
  (["utf8", "latin1"] as const).flatMap((charset) => {
    const bytes = Buffer.from(text, charset);
    const base64 = bytes.toString("base64");
    return [base64, base64.replace(/=+$/, ""), bytes.toString("base64url")];
  });

/** The credentials of a Basic header (RFC 7617), as they must not be shown either. */
export const basicCredentials = (user: string, password: string): string[] =>
  inBase64(`${user}:${password}`);

/** What no answer of any address may show of a client's credentials. */
export const clientSecrets = ({ clientId, clientSecret }: Settings): readonly string[] => [
  clientSecret,
  ...basicCredentials(clientId, clientSecret),
];

const unboxed = (box: string | undefined, value: unknown): unknown =>
  box !== undefined && isObject(value) && Object.hasOwn(value, box) ? value[box] : value;

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A map of a program is an object, on the wire a list of two-membered ones. */
const valuesOf = (field: MapField, value: unknown): readonly unknown[] => {
  if (isObject(value)) return Object.values(value);
  const member = field.members?.value ?? "value";
  return itemsOf(value).flatMap((item) => (isObject(item) ? [item[member]] : []));
};

const inField = (field: Field, value: unknown): string[] => {
  if (field.secret) return textsIn(value);
  switch (field.type) {
    case "object":
      return secretTexts(field.fields, value);
    case "list":
      return itemsOf(unboxed(field.envelope, value)).flatMap((item) => inField(field.of, item));
    case "map":
      return valuesOf(field, value).flatMap((of) => inField(field.of, of));
    default:
      return [];
  }
};

type Member = readonly [Field, unknown];

const isText = (member: Member): member is readonly [Field, string] =>
  member[0].type === "text" && typeof member[1] === "string";

/** A text and a secret side by side may be used together as name and password. */
const credentialsOf = (members: readonly Member[]): string[] => {
  const texts = members.filter(isText);
  const names = texts.filter(([{ secret }]) => !secret);
  return texts
    .filter(([{ secret }]) => secret)
    .flatMap(([, password]) => names.flatMap(([, name]) => basicCredentials(name, password)));
};

/**
 * Every text that secret fields hold, and the Basic credentials that they make: of values as a program
 * gives them and of the service's JSON alike.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const members = Object.entries(fields).flatMap(([name, field]): Member[] =>
    [...new Set([name, wireName(name, field)])].map((key) => [field, values[key]]),
  );
  return [...members.flatMap(([field, value]) => inField(field, value)), ...credentialsOf(members)];
};
