import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { holdsSecret } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";

export type Json = Record<string, unknown>;

/** What every secret value holds, and nothing else. */
export const marker = "canary";

/** With characters that are spelt otherwise in JSON and in addresses. */
const canaryAt = (path: string): string => `${marker} ${path} "q" \\ 10% & + é`;

const valueAt = (field: Field, given: unknown, path: string): unknown => {
  if (field.secret) return canaryAt(path);
  switch (field.type) {
    case "object":
      return filled(field.fields, isObject(given) ? given : {}, path);
    case "list":
      return Array.isArray(given)
        ? given.map((item, place) => valueAt(field.of, item, `${path}[${place}]`))
        : given;
    case "map": {
      const entries = isObject(given) ? given : { "X-Key": undefined };
      return Object.fromEntries(
        Object.entries(entries).map(([key, of]) => [key, valueAt(field.of, of, `${path}.${key}`)]),
      );
    }
    default:
      return given ?? "shown";
  }
};

/** The values given, and a canary in every secret below, whether it was given or not. */
const filled = (fields: Fields, given: Json, path: string): Json => ({
  ...given,
  ...Object.fromEntries(
    Object.entries(fields)
      .filter(
        ([name, field]) => holdsSecret(field) || (field.required && given[name] === undefined),
      )
      .map(([name, field]) => [name, valueAt(field, given[name], `${path}.${name}`)]),
  ),
});

/** What the examples leave out. */
const additions: Readonly<Record<string, Json>> = {
  Channel: {
    restrictions: {
      outbound: {
        attachmentPolicy: { enabled: false, maxSize: 1, type: "allow", extensions: ["png"] },
        customerServiceWindow: { durationMinutes: 60, continueMessageTypes: ["template"] },
      },
    },
  },
};

const merged = (first: Json, second: Json): Json => ({
  ...first,
  ...Object.fromEntries(
    Object.entries(second).map(([name, value]) => {
      const below = first[name];
      return [name, isObject(value) ? merged(isObject(below) ? below : {}, value) : value];
    }),
  ),
});

/** One way to declare an object of a kind: one for each form that its rule offers. */
export interface Form {
  readonly definition: Definition;
  readonly name: string;
  readonly values: Json;
}

/** Every form of a kind with all its members, made from its definition, with a canary in every secret field. */
export const formsOf = (definition: Definition): readonly Form[] => {
  const { kind, rule, fields, example } = definition;
  const all = filled(fields, merged(example, additions[kind] ?? {}), kind);
  if (!rule || !("exactlyOne" in rule)) return [{ definition, name: kind, values: all }];
  const members = Object.values(rule.exactlyOne);
  const key = naturalKey(definition);
  return Object.entries(rule.exactlyOne).map(([word, member]) => {
    const own = Object.entries(all).filter(([name]) => name === member || !members.includes(name));
    const unique = { [rule.discriminator]: word, [key]: `${all[key]}-${word}` };
    return {
      definition,
      name: `${kind}-${word}`,
      values: { ...Object.fromEntries(own), ...unique },
    };
  });
};

/** Values with something else in place of every `${Kind}`. */
export const bound = (value: unknown, at: (kind: string) => unknown): unknown => {
  if (typeof value === "string") {
    const kind = /^\$\{(\w+)\}$/.exec(value)?.[1];
    return kind ? at(kind) : value;
  }
  if (Array.isArray(value)) return value.map((item) => bound(item, at));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, bound(of, at)]));
};

/** A role of a client application with no more than it needs. */
export const roleOf = <Name extends string, More extends object>(name: Name, more?: More) => ({
  name,
  version: "v3" as const,
  callback: "https://x.example.com/",
  notificationEmail: "a@b.example",
  ...more,
});

/** The settings of an authentication with OAuth. */
export const oauth2 = {
  tokenRequestUrl: "https://x.example.com/token",
  method: "POST",
  headers: { Accept: "application/json" },
  payload: { grant: "x" },
  accessTokenPath: "$.token",
};

/** The objects of an account, in the order in which they are set up. */
export const listed = <Wire extends JsonObject>(
  account: Readonly<Record<string, readonly Wire[]>>,
) =>
  resources.flatMap((definition) =>
    (account[definition.collection] ?? []).map((wire) => ({
      definition,
      id: String(wire.id),
      wire,
    })),
  );
