import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  TextField,
} from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf, namingOf } from "../../provider/definition/fields.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../service/switches.js";
import type { Store, StoredObject } from "./store.js";

/** The name of the object that a reference points to; undefined if there is none. */
type NameOf = (to: Definition, id: unknown) => unknown;

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

/** Numeric text as a number, if the number loses nothing. */
const numericForm = (text: unknown): unknown => {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
};

/** Items with an id from the service added to each object that has none. */
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

/** The form of a member that no field covers. */
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
 * The JSON of an object in the service's own forms (switch `forms`): the meaning stays, the
 * notation changes. Secrets are left to the switch `secrets`.
 */
const ownForms = ({ fields }: Definition, object: JsonObject, nameOf: NameOf) => {
  const { id, created, modified, ...rest } = object;
  return objectOf([
    ["id", id],
    ...Object.entries(fieldsForm(fields, rest, nameOf)),
    ["created", created],
    ["modified", modified],
  ]);
};

/** The object without a member. */
const without = (values: JsonObject, name: string): JsonObject =>
  objectOf(Object.entries(values).filter(([each]) => each !== name));

/** An id such as `item-1`, which no caller gave. */
const madeUpId = /^item-\d+$/;

const withoutItemId = (item: unknown): unknown =>
  isObject(item) && typeof item.id === "string" && madeUpId.test(item.id)
    ? without(item, "id")
    : item;

const isNumeric = (text: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

/** Whether the service adds its own id to items of this shape. */
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
 * A body as it would be without the switch `forms`, so that what was read in the service's own
 * forms can be written back. Validation refuses what neither form allows.
 */
export const fromOwnForms = ({ fields }: Definition, body: JsonObject): JsonObject =>
  plainFields(fields, body);

const mask = "********";

type SecretsSwitch = Switches["secrets"];

const hideValue = (field: Field, value: unknown, way: SecretsSwitch): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return way === "mask" ? mask : undefined;
  switch (field.type) {
    case "object":
      return isObject(value) ? hideSecrets(field.fields, value, way) : value;
    case "list": {
      if (field.envelope && isObject(value))
        return { ...value, [field.envelope]: hideItems(field.of, value[field.envelope], way) };
      return hideItems(field.of, value, way);
    }
    case "map": {
      const { value: member } = membersOf(field);
      const hide = (entry: unknown): unknown =>
        isObject(entry) && Object.hasOwn(entry, member)
          ? objectOf(
              Object.entries({ ...entry, [member]: hideValue(field.of, entry[member], way) }),
            )
          : entry;
      return Array.isArray(value) ? value.map(hide) : value;
    }
    default:
      return value;
  }
};

const hideItems = (of: Field, items: unknown, way: SecretsSwitch): unknown =>
  Array.isArray(items) ? items.map((item) => hideValue(of, item, way)) : items;

/** The JSON of an object as returned: secrets as asterisks, left out, or in clear. */
export const hideSecrets = (fields: Fields, values: JsonObject, way: SecretsSwitch): JsonObject => {
  if (way === "echo") return values;
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const [, field] = byWire.get(name) ?? [];
      return [name, field ? hideValue(field, value, way) : value];
    }),
  );
};

const namesIn =
  (store: Store): NameOf =>
  (to, id) => {
    const target = typeof id === "string" ? store.get(to.collection, id) : undefined;
    return target?.[namingOf(to).wire];
  };

/**
 * A stored object as the service returns it: in its own forms and with secrets hidden, depending on
 * switches.
 */
export const responseObject = (
  { store, switches }: { readonly store: Store; readonly switches: Switches },
  definition: Definition,
  object: StoredObject,
): JsonObject => {
  const formed = switches.forms === "own" ? ownForms(definition, object, namesIn(store)) : object;
  return hideSecrets(definition.fields, formed, switches.secrets);
};
