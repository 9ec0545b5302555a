import type { Definition } from "../definition/define.js";
import type { Field, Fields } from "../definition/field.js";
import { isObject } from "../definition/json.js";
import { textsIn } from "./redaction.js";

const unboxed = (box: string | undefined, value: unknown): unknown =>
  box !== undefined && isObject(value) ? value[box] : value;

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const inField = (field: Field, value: unknown): string[] => {
  if (field.secret) return textsIn(value);
  switch (field.type) {
    case "object":
      return inFields(field.fields, value);
    case "list":
      return itemsOf(unboxed(field.boxed, value)).flatMap((item) => inField(field.of, item));
    case "map": {
      const member = field.members?.value ?? "value";
      return itemsOf(value).flatMap((item) =>
        isObject(item) ? inField(field.of, item[member]) : [],
      );
    }
    default:
      return [];
  }
};

const inFields = (fields: Fields, value: unknown): string[] =>
  isObject(value)
    ? Object.entries(fields).flatMap(([name, field]) => inField(field, value[field.wire ?? name]))
    : [];

/** Every text that a body in the service's form holds in secret fields of its kind. */
export const secretTexts = (definition: Definition, body: unknown): readonly string[] =>
  inFields(definition.fields, body);
