import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";

/** The object without a member. */
const without = (values: JsonObject, name: string): JsonObject =>
  objectOf(Object.entries(values).filter(([each]) => each !== name));

/** Such as `item-1`: told apart from an id that a caller gave. */
const madeUpId = /^item-\d+$/;

const withoutItemId = (item: unknown): unknown =>
  isObject(item) && typeof item.id === "string" && madeUpId.test(item.id)
    ? without(item, "id")
    : item;

const isNumeric = (text: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

/** Whether the service has an id of its own for items of this shape. */
const hasOwnId = (field: Field): boolean =>
  field.type === "reference" ||
  (field.type === "object" && fieldsByWireName(field.fields).has("id"));

const plainItems = (value: unknown, plain: (item: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(plain) : value;

const plainText = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\r\n", "\n") : value;

const plainOf = (field: Field, value: unknown): unknown => {
  if (field.secret) return value;
  switch (field.type) {
    case "text":
      if (!field.envelope || !isObject(value)) return plainText(value);
      return typeof value[field.envelope] === "number"
        ? { ...value, [field.envelope]: String(value[field.envelope]) }
        : value;
    case "number":
      return typeof value === "string" && isNumeric(value) ? Number(value) : value;
    case "reference":
      return isObject(value) ? without(value, "name") : value;
    case "object":
      return isObject(value) ? plainFields(field.fields, value) : value;
    case "list": {
      const { of } = field;
      const plain = (item: unknown) => plainOf(of, hasOwnId(of) ? item : withoutItemId(item));
      const items = (list: unknown) => plainItems(list, plain);
      return field.envelope && isObject(value)
        ? { ...value, [field.envelope]: items(value[field.envelope]) }
        : items(value);
    }
    case "map": {
      const { value: member } = membersOf(field);
      return plainItems(value, (entry) =>
        isObject(entry)
          ? withoutItemId({ ...entry, [member]: plainOf(field.of, entry[member]) })
          : entry,
      );
    }
    default:
      return value;
  }
};

const plainUnknown = (value: unknown): unknown => {
  if (Array.isArray(value)) return plainItems(value, (item) => plainUnknown(withoutItemId(item)));
  return isObject(value)
    ? objectOf(Object.entries(value).map(([name, member]) => [name, plainUnknown(member)]))
    : plainText(value);
};

const plainFields = (fields: Fields, values: JsonObject): JsonObject => {
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const [, field] = byWire.get(name) ?? [];
      if (!field) return [name, plainUnknown(value)];
      return [name, value === null ? undefined : plainOf(field, value)];
    }),
  );
};

/**
 * A body as it would be without the switch `forms`: what was read in the service's own forms can be
 * written back. What neither form allows is left for the validation to refuse.
 */
export const fromOwnForms = ({ fields }: Definition, body: JsonObject): JsonObject =>
  plainFields(fields, body);
