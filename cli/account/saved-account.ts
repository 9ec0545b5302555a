import { z } from "zod";
import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
} from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire.js";
import { isObject, type JsonObject, jsonIn, objectOf } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { AccountReading } from "./read-account.js";
import { isAdded } from "./unknown-members.js";

const objects = z.array(z.record(z.string(), z.unknown()));

const kindSchema = z.object({
  /** Name of the resource class. */
  kind: z.string(),
  /** As the service sent them: what the definitions know to be no secret. */
  objects,
  /** Why objects are missing. */
  problem: z.string().optional(),
});

/** A reading of an account as a JSON document. */
export const savedAccountSchema = z.object({
  format: z.literal("pulumi-conversation account"),
  version: z.literal(1),
  baseUrl: z.string(),
  readAt: z.string(),
  consistent: z.boolean(),
  kinds: z.array(kindSchema),
});

export type SavedAccount = z.infer<typeof savedAccountSchema>;

/** A value that holds no others; nothing where the service sends something else in its place. */
const plain = (wire: unknown): unknown =>
  typeof wire === "object" && wire !== null ? undefined : wire;

/** The one member that a value travels in, where it does. */
const inside = (name: string | undefined, wire: unknown, of: (inner: unknown) => unknown) =>
  name !== undefined && isObject(wire) ? { [name]: of(wire[name]) } : of(wire);

const publicEntry = (field: MapField, entry: unknown): unknown => {
  if (!isObject(entry)) return undefined;
  const { key, value } = membersOf(field);
  return { [key]: plain(entry[key]), [value]: publicValue(field.of, entry[value]) };
};

const publicEntries = (field: MapField, wire: unknown): unknown => {
  if (Array.isArray(wire)) return wire.map((entry) => publicEntry(field, entry));
  if (!isObject(wire)) return undefined;
  return objectOf(Object.entries(wire).map(([key, of]) => [key, publicValue(field.of, of)]));
};

const publicItems = ({ of }: ListField, wire: unknown): unknown =>
  Array.isArray(wire) ? wire.map((item) => publicValue(of, item)) : undefined;

/** A value in the form in which it came, of what the field knows to be no secret. */
const publicValue = (field: Field, wire: unknown): unknown => {
  if (field.secret) return undefined;
  switch (field.type) {
    case "object":
      return isObject(wire) ? publicMembers(field.fields, wire) : undefined;
    case "list":
      return inside(field.envelope, wire, (items) => publicItems(field, items));
    case "map":
      return publicEntries(field, wire);
    case "text":
      return inside(field.envelope, wire, plain);
    case "reference":
      return inside("id", wire, plain);
    default:
      return plain(wire);
  }
};

/** What the fields know to be no secret, in the service's JSON; nothing of what none of them knows. */
export const publicMembers = (fields: Fields, wire: JsonObject): JsonObject => {
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(wire).flatMap(([name, value]): [string, unknown][] => {
      const [, field] = byWire.get(name) ?? [];
      return field ? [[name, publicValue(field, value)]] : [];
    }),
  );
};

/** The same of a whole object, with what the service adds to each. */
export const publicObject = (
  { fields }: Pick<Definition, "fields">,
  wire: JsonObject,
): JsonObject => ({
  ...objectOf(
    Object.entries(wire)
      .filter(([name]) => isAdded(name))
      .map(([name, value]) => [name, plain(value)]),
  ),
  ...publicMembers(fields, wire),
});

/** A reading as it may be kept on disk: without secrets. */
export const savedAccount = (reading: AccountReading): SavedAccount => ({
  format: "pulumi-conversation account",
  version: 1,
  baseUrl: reading.baseUrl,
  readAt: reading.readAt,
  consistent: reading.consistent,
  kinds: reading.kinds.map(({ definition, objects: found, problem }) => ({
    kind: definition.kind,
    objects: [...found.values()].map((wire) => publicObject(definition, wire)),
    ...(problem === undefined ? {} : { problem }),
  })),
});

/** A saved reading; undefined where the text is none, or names a kind that is not known. */
export const savedAccountIn = (text: string): SavedAccount | undefined => {
  const { data } = savedAccountSchema.safeParse(jsonIn(text));
  const known = resources.map(({ kind }) => kind);
  return data?.kinds.every(({ kind }) => known.includes(kind)) ? data : undefined;
};
