import type { FieldValue } from "../../definition/walk.js";
import { isObject } from "../../kernel/json.js";
import { jsonIn } from "../../kernel/json-text.js";

const jsonTexts = (text: string): string[] => (/^\s*[[{]/.test(text) ? textsIn(jsonIn(text)) : []);

/** Every text and number inside a value, and inside JSON that a text holds. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value === "" ? [] : [value, ...jsonTexts(value)];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

/**
 * The credentials of a Basic header (RFC 7617), as they must not be shown either: a password that is too
 * short to be looked for can be read from them.
 */
export const basicCredentials = (user: string, password: string): string[] =>
  (["utf8", "latin1"] as const).flatMap((charset) => {
    const bytes = Buffer.from(`${user}:${password}`, charset);
    return [bytes.toString("base64"), bytes.toString("base64url")];
  });

const isText = (member: FieldValue): member is FieldValue & { readonly value: string } =>
  member.field.type === "text" && typeof member.value === "string";

/** A text and a secret side by side may be used together as name and password. */
export const credentialsOf = (members: readonly FieldValue[]): string[] => {
  const texts = members.filter(isText);
  const names = texts.filter(({ field }) => !field.secret);
  return texts
    .filter(({ field }) => field.secret)
    .flatMap((secret) => names.flatMap((name) => basicCredentials(name.value, secret.value)));
};
