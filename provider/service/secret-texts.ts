import { AsyncLocalStorage } from "node:async_hooks";
import { type Field, type Fields, outputFields } from "../definition/define.js";
import { type FieldValue, membersIn, valuesIn } from "../definition/walk.js";
import { fieldsByWireName, membersOf, unwrapped } from "../definition/wire.js";
import { isObject, type JsonObject, jsonIn, memberOf } from "../kernel/json.js";
import type { Settings } from "./setting-table.js";

/** What no answer of any address may show of a client's credentials. */
export const clientSecrets = ({ clientId, clientSecret }: Settings): readonly string[] => [
  clientSecret,
  ...basicCredentials(clientId, clientSecret),
];

/** The texts beside the members that a field is made of. */
const beside = (value: unknown, own: readonly (string | undefined)[]): string[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, of]) => (own.includes(name) ? [] : textsIn(of)))
    : [];

/** What stands under names that a definition knows, and the texts under all others. */
const inMembers = (fields: Fields, values: JsonObject): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const field = memberOf(fields, name) ?? fieldsByWireName(fields).get(name)?.[1];
    return field ? inField(field as Field, value) : textsIn(value);
  });

/** A value in a shape that its field has not is nothing that the definition knows. */
const inField = (field: Field, value: unknown): string[] => {
  if (field.secret) return textsIn(value);
  switch (field.type) {
    case "object":
      return isObject(value) ? inMembers(field.fields, value) : textsIn(value);
    case "list": {
      const items = unwrapped(field.envelope, value);
      const others = beside(value, [field.envelope]);
      if (!Array.isArray(items)) return [...others, ...textsIn(items)];
      return [...others, ...items.flatMap((item) => inField(field.of, item))];
    }
    case "map": {
      const { key, value: member } = membersOf(field);
      if (!Array.isArray(value))
        return Object.values(isObject(value) ? value : { value }).flatMap((of) =>
          inField(field.of, of),
        );
      return value.flatMap((entry) =>
        isObject(entry)
          ? [...inField(field.of, memberOf(entry, member)), ...beside(entry, [key, member])]
          : textsIn(entry),
      );
    }
    case "reference":
      // What else a service shows of the object is that object's own.
      return isObject(value) ? inObject(field.to.fields, value) : [];
    default:
      return field.type === "text" && field.envelope !== undefined
        ? beside(value, [field.envelope])
        : isObject(value) || Array.isArray(value)
          ? textsIn(value)
          : [];
  }
};

const byService: readonly string[] = ["id", ...Object.keys(outputFields)];

const inObject = (fields: Fields, values: JsonObject): string[] =>
  inMembers(
    fields,
    Object.fromEntries(Object.entries(values).filter(([name]) => !byService.includes(name))),
  );

/**
 * Every text of an object that no definition says may be shown: of secret fields, and of members that no
 * field knows. Of values as a program gives them, `extra` among them, and of the service's JSON alike;
 * with the Basic credentials that the fields make.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const inner = valuesIn(fields, values).map(({ field, value }) =>
    field.type === "object" && isObject(value) ? membersIn(field.fields, value) : [],
  );
  return [
    ...inObject(fields, values),
    ...[membersIn(fields, values), ...inner].flatMap(credentialsOf),
  ];
};

type Secrets = () => readonly string[];

const ofRunningCall = new AsyncLocalStorage<Secrets>();

/** Runs a call of the engine: no call that it makes of the service shows any of these texts. */
export const keepingSecret = <T>(secrets: Secrets, call: () => Promise<T>): Promise<T> =>
  ofRunningCall.run(secrets, call);

/** The secrets of the engine's call that is running. */
export const secretsOfRunningCall: Secrets = () => ofRunningCall.getStore()?.() ?? [];

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
const credentialsOf = (members: readonly FieldValue[]): string[] => {
  const texts = members.filter(isText);
  const names = texts.filter(({ field }) => !field.secret);
  return texts
    .filter(({ field }) => field.secret)
    .flatMap((secret) => names.flatMap((name) => basicCredentials(name.value, secret.value)));
};
