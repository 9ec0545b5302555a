import { z } from "zod";
import type { Field, Fields } from "../../provider/definition/define.js";
import { holdsSecret } from "../../provider/definition/walk.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { jsonIn } from "../../provider/kernel/json-text.js";
import { resources } from "../../provider/resources/index.js";
import type { AccountReading } from "./read-account.js";
import { publicUnknown } from "./unknown-members.js";

const objects = z.array(z.record(z.string(), z.unknown()));

const kindSchema = z.object({
  /** Name of the resource class. */
  kind: z.string(),
  /** As the service sent them, without secrets. */
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

const publicEntry = (of: Field, value: string, entry: unknown): unknown =>
  isObject(entry)
    ? objectOf(
        Object.entries(entry).map(([name, member]) => [
          name,
          name === value ? publicValue(of, member) : member,
        ]),
      )
    : entry;

/** What a service tells beside the value of a field. */
const publicAround = (wire: unknown): unknown =>
  isObject(wire)
    ? objectOf(Object.entries(wire).map(([name, value]) => [name, publicUnknown(name, value)]))
    : wire;

const publicValue = (field: Field, wire: unknown): unknown => {
  if (field.secret) return undefined;
  if (field.type === "map" && holdsSecret(field)) {
    const { value } = membersOf(field);
    if (Array.isArray(wire)) return wire.map((entry) => publicEntry(field.of, value, entry));
    return isObject(wire)
      ? objectOf(Object.entries(wire).map(([key, of]) => [key, publicValue(field.of, of)]))
      : undefined;
  }
  if (field.type === "list" && Array.isArray(wire))
    return wire.map((item) => publicValue(field.of, item));
  if (field.type === "object" && isObject(wire)) return publicMembers(field.fields, wire);
  return holdsSecret(field) ? undefined : publicAround(wire);
};

/** The service's JSON of an object without the values of its secrets. */
export const publicMembers = (fields: Fields, wire: JsonObject): JsonObject => {
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(wire).map(([name, value]) => {
      const [, field] = byWire.get(name) ?? [];
      return [name, field ? publicValue(field, value) : publicUnknown(name, value)];
    }),
  );
};

/** A reading as it may be kept on disk: without secrets. */
export const savedAccount = (reading: AccountReading): SavedAccount => ({
  format: "pulumi-conversation account",
  version: 1,
  baseUrl: reading.baseUrl,
  readAt: reading.readAt,
  consistent: reading.consistent,
  kinds: reading.kinds.map(({ definition, objects: found, problem }) => ({
    kind: definition.kind,
    objects: [...found.values()].map((wire) => publicMembers(definition.fields, wire)),
    ...(problem === undefined ? {} : { problem }),
  })),
});

/** A saved reading; undefined where the text is none, or names a kind that is not known. */
export const savedAccountIn = (text: string): SavedAccount | undefined => {
  const { data } = savedAccountSchema.safeParse(jsonIn(text));
  const known = resources.map(({ kind }) => kind);
  return data?.kinds.every(({ kind }) => known.includes(kind)) ? data : undefined;
};
