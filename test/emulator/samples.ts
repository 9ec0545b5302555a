import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";

/** Ids of existing objects, by kind. */
type Ids = ReadonlyMap<string, string>;

const formats = { url: "https://x.example.com/y", email: "a@example.com", base64: "QUJD" } as const;

/** A valid value of a field on the wire, with all its members. */
const sample = (field: Field, ids: Ids): unknown => {
  const box = (key: string | undefined, value: unknown) => (key ? { [key]: value } : value);
  switch (field.type) {
    case "text": {
      const plain = field.format ? formats[field.format] : "x";
      return box(field.envelope, field.values?.[0] ?? plain.padEnd(field.min ?? 0, "x"));
    }
    case "number":
      return Math.max(1, field.min ?? 1);
    case "flag":
      return false;
    case "reference":
      return box(field.plainId ? undefined : "id", ids.get(field.to.kind));
    case "object":
      return members(field.fields, ids);
    case "list":
      return box(field.envelope, [sample(field.of, ids)]);
    case "map": {
      const { key, value } = field.members ?? { key: "name", value: "value" };
      return [{ [key]: field.keys?.[0] ?? "x", [value]: sample(field.of, ids) }];
    }
  }
};

const members = (fields: Fields, ids: Ids): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [field.wire ?? name, sample(field, ids)]),
  );

/** Complete valid bodies of a kind: one for each choice where only one of several members may be there. */
export const samples = (definition: Definition, ids: Ids): readonly JsonObject[] => {
  const all = members(definition.fields, ids);
  const { rule } = definition;
  if (!rule || !("exactlyOne" in rule)) return [all];
  const chosen = Object.values(rule.exactlyOne);
  return Object.entries(rule.exactlyOne).map(([choice, kept]) => ({
    ...Object.fromEntries(
      Object.entries(all).filter(([name]) => name === kept || !chosen.includes(name)),
    ),
    [rule.discriminator]: choice,
  }));
};
