import type { Field, Fields, MemberRule, TextField } from "../../provider/definition/define.js";
import { membersOf, wireName } from "../../provider/definition/wire/wire.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { type Switches, vendorWord } from "../control/switches.js";
import { envelopeOf } from "../objects/validate.js";

/** What a schema is for. */
export interface SchemaUse {
  readonly switches: Switches;
  /** Of what is read: nothing is required there, as secrets may be left out, or be asterisks. */
  readonly isRead: boolean;
}

/** What a field's own words add to its schema: how certain it is, and whether it is a secret. */
const notes = ({ doc, basis, secret }: Field): readonly (readonly [string, unknown])[] => [
  ["description", doc],
  ["x-basis", basis],
  ["x-secret", secret],
];

const formats = {
  url: { format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
  email: { format: "email" },
  base64: { contentEncoding: "base64" },
} as const;

/** Whether what is read may be in the service's own forms. */
const isInOwnForms = ({ isRead, switches }: SchemaUse): boolean =>
  isRead && switches.forms === "own";

const textSchema = (field: TextField, use: SchemaUse): JsonObject =>
  objectOf([
    ["type", field.envelope && isInOwnForms(use) ? ["string", "number"] : "string"],
    ["enum", field.values?.map((word) => vendorWord(word, use.switches))],
    ["minLength", field.values ? undefined : field.min],
    // A slash or a return of the service's own may come on top.
    ["maxLength", field.values || isInOwnForms(use) ? undefined : field.max],
    ["default", field.default],
    ...(field.format ? Object.entries(formats[field.format]) : []),
  ]);

const listOf = (items: JsonObject, min?: number, max?: number): JsonObject =>
  objectOf([
    ["type", "array"],
    ["items", items],
    ["minItems", min],
    ["maxItems", max],
  ]);

const holding = (members: JsonObject, required = Object.keys(members)): JsonObject => ({
  type: "object",
  properties: members,
  ...(required.length > 0 ? { required } : {}),
});

/** The value without what it travels in. */
const valueSchema = (field: Field, use: SchemaUse): JsonObject => {
  switch (field.type) {
    case "text":
      return textSchema(field, use);
    case "number":
      if (isInOwnForms(use)) return { type: "string" };
      return objectOf([
        ["type", field.integer ? "integer" : "number"],
        ["minimum", field.min],
        ["maximum", field.max],
      ]);
    case "flag":
      return objectOf([
        ["type", "boolean"],
        ["default", field.default],
      ]);
    case "reference":
      return { type: "string", minLength: field.length ?? 1, maxLength: field.length ?? 255 };
    case "object":
      return fieldsSchema(field.fields, field.rule, use);
    case "list":
      return listOf(fieldSchema(field.of, use), field.min, field.max);
    case "map": {
      const { key, value } = membersOf(field);
      const name = { type: "string", minLength: 1 };
      const members = { [key]: name, [value]: fieldSchema(field.of, use) };
      const entry = holding(members, use.isRead ? [key] : [key, value]);
      return listOf(entry, field.min, field.max);
    }
  }
};

const fieldSchema = (field: Field, use: SchemaUse): JsonObject => {
  const isHidden = use.isRead && field.secret;
  const value = isHidden ? { type: "string" } : valueSchema(field, use);
  const key = envelopeOf(field);
  const schema = key === undefined ? value : holding({ [key]: value });
  // In its own forms the service says null for what is optional and was not given.
  const read =
    isInOwnForms(use) && !field.required ? { anyOf: [schema, { type: "null" }] } : schema;
  return objectOf([...Object.entries(read), ...notes(field)]);
};

const ruleSchema = (rule: MemberRule | undefined): JsonObject => {
  if (!rule) return {};
  if ("atLeastOne" in rule)
    return { anyOf: rule.atLeastOne.map((member) => ({ required: [member] })) };
  const { exactlyOne, discriminator } = rule;
  const variants = Object.entries(exactlyOne).map(([word, member]) => ({
    properties: { [discriminator]: { const: word } },
    required: [member],
  }));
  return { oneOf: variants };
};

/** The schema of what an object of these fields looks like in JSON; further members are allowed. */
export const fieldsSchema = (
  fields: Fields,
  rule: MemberRule | undefined,
  use: SchemaUse,
): JsonObject => {
  const members = Object.entries(fields).map(
    ([name, field]) => [wireName(name, field), field] as const,
  );
  const schemas = members.map(([name, field]) => [name, fieldSchema(field, use)] as const);
  const required = members.flatMap(([name, field]) =>
    field.required && !use.isRead ? [name] : [],
  );
  return { ...holding(objectOf(schemas), required), ...(use.isRead ? {} : ruleSchema(rule)) };
};
