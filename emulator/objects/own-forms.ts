import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  TextField,
} from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";

/** What the object that a reference points at is called; undefined where there is none. */
export type NameOf = (to: Definition, id: unknown) => unknown;

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.values(value).every(isEmpty);

const plainForm = (text: string): string => text.normalize("NFC").replaceAll(/\r?\n/g, "\r\n");

/** The address with a slash at the end of its path. */
const withSlash = (url: string): string => url.replace(/^([^?#]*[^/?#])(?=[?#]|$)/, "$1/");

const textForm = ({ format }: TextField, text: string): string => {
  if (format === "url") return withSlash(text);
  return format === "email" ? text.toLowerCase() : plainForm(text);
};

/** Numeric text as a number, where the number says as much as the text. */
const numericForm = (text: unknown): unknown => {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
};

/** Items that are objects with an id that the service made up, unless they have one. */
const withItemIds = (items: readonly unknown[]): readonly unknown[] =>
  items.map((item, place) => (isObject(item) ? { id: `item-${place + 1}`, ...item } : item));

const sorted = (items: readonly unknown[]): readonly unknown[] =>
  items
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item);

const listForm = (field: ListField, items: unknown, nameOf: NameOf): unknown => {
  if (!Array.isArray(items)) return items;
  const formed = items.map((item) => formOf(field.of, item, nameOf));
  const isSorted = field.unordered || field.of.type === "reference";
  return withItemIds(isSorted ? sorted(formed) : formed);
};

const mapForm = (field: MapField, entries: unknown, nameOf: NameOf): unknown => {
  if (!Array.isArray(entries)) return entries;
  const { key, value } = membersOf(field);
  const formed = entries.map((entry) =>
    isObject(entry)
      ? { [key]: entry[key], ...entry, [value]: formOf(field.of, entry[value], nameOf) }
      : entry,
  );
  return withItemIds(sorted(formed));
};

const formOf = (field: Field, value: unknown, nameOf: NameOf): unknown => {
  if (field.secret) return value;
  switch (field.type) {
    case "text":
      if (field.envelope && isObject(value))
        return { ...value, [field.envelope]: numericForm(value[field.envelope]) };
      return typeof value === "string" ? textForm(field, value) : value;
    case "number":
      return typeof value === "number" ? String(value) : value;
    case "reference":
      return isObject(value)
        ? objectOf([...Object.entries(value), ["name", unknownForm(nameOf(field.to, value.id))]])
        : value;
    case "object":
      return isObject(value) ? fieldsForm(field.fields, value, nameOf) : value;
    case "list":
      return field.envelope && isObject(value)
        ? { ...value, [field.envelope]: listForm(field, value[field.envelope], nameOf) }
        : listForm(field, value, nameOf);
    case "map":
      return mapForm(field, value, nameOf);
    default:
      return value;
  }
};

/** What can be said of a member that no field knows. */
const unknownForm = (value: unknown): unknown => {
  if (typeof value === "string") return plainForm(value);
  if (isEmpty(value)) return undefined;
  if (Array.isArray(value)) return withItemIds(value.map((item) => unknownForm(item) ?? item));
  return isObject(value)
    ? objectOf(Object.entries(value).map(([name, member]) => [name, unknownForm(member)]))
    : value;
};

const fieldsForm = (fields: Fields, values: JsonObject, nameOf: NameOf): JsonObject => {
  const byWire = fieldsByWireName(fields);
  const memberForm = (name: string, value: unknown): unknown => {
    const [, field] = byWire.get(name) ?? [];
    if (!field) return unknownForm(value);
    return isEmpty(value) && !field.required ? undefined : formOf(field, value, nameOf);
  };
  const absent = [...byWire].filter(
    ([name, [, field]]) => !field.required && !Object.hasOwn(values, name),
  );
  return objectOf([
    ...Object.entries(values).map(([name, value]) => [name, memberForm(name, value)] as const),
    ...absent.map(([name]) => [name, null] as const),
  ]);
};

/**
 * The JSON of an object in forms of the service's own (switch `forms`): what it means stays, and
 * how it is written changes. Secrets are left to the switch `secrets`.
 */
export const ownForms = ({ fields }: Definition, object: JsonObject, nameOf: NameOf) => {
  const { id, created, modified, ...rest } = object;
  return objectOf([
    ["id", id],
    ...Object.entries(fieldsForm(fields, rest, nameOf)),
    ["created", created],
    ["modified", modified],
  ]);
};
