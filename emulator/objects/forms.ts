import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  TextField,
} from "../../provider/definition/define.js";
import {
  fieldsByWireName,
  holdsSecret,
  membersOf,
  namingOf,
} from "../../provider/definition/fields.js";
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

/** A list with each item changed; anything else stays. */
const eachItem = (items: unknown, change: (item: unknown, place: number) => unknown): unknown =>
  Array.isArray(items) ? items.map(change) : items;

/** What is in the envelope of a field changed, or the value itself if it has none. */
const inEnvelope = (
  { envelope }: TextField | ListField,
  value: unknown,
  change: (inner: unknown, isWrapped: boolean) => unknown,
): unknown =>
  envelope && isObject(value)
    ? { ...value, [envelope]: change(value[envelope], true) }
    : change(value, false);

/** The value of each entry of a map changed; one without a value stays. */
const eachEntry = (field: MapField, entries: unknown, change: (value: unknown) => unknown) => {
  const { value: member } = membersOf(field);
  return eachItem(entries, (entry) =>
    isObject(entry) && Object.hasOwn(entry, member)
      ? objectOf(Object.entries({ ...entry, [member]: change(entry[member]) }))
      : entry,
  );
};

/** Items with an ID from the service added to each object that has none. */
const withItemIds = (items: unknown): unknown =>
  eachItem(items, (item, place) => (isObject(item) ? { id: `item-${place + 1}`, ...item } : item));

const sorted = (items: unknown): unknown =>
  Array.isArray(items)
    ? items
        .map((item: unknown) => ({ item, text: JSON.stringify(item) }))
        .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
        .map(({ item }) => item)
    : items;

const formOf = (field: Field, value: unknown, nameOf: NameOf): unknown => {
  if (field.secret) return value;
  switch (field.type) {
    case "text":
      return inEnvelope(field, value, (text, isWrapped) => {
        if (isWrapped) return numericForm(text);
        return typeof text === "string" ? textForm(field, text) : text;
      });
    case "number":
      return typeof value === "number" ? String(value) : value;
    case "reference":
      return isObject(value)
        ? objectOf([...Object.entries(value), ["name", unknownForm(nameOf(field.to, value.id))]])
        : value;
    case "object":
      return isObject(value) ? fieldsForm(field.fields, value, nameOf) : value;
    case "list":
      return inEnvelope(field, value, (items) => {
        const formed = eachItem(items, (item) => formOf(field.of, item, nameOf));
        const isSorted = field.unordered || field.of.type === "reference";
        return withItemIds(isSorted ? sorted(formed) : formed);
      });
    case "map": {
      const { key } = membersOf(field);
      const formed = eachEntry(field, value, (member) => formOf(field.of, member, nameOf));
      const keyFirst = (entry: unknown) =>
        isObject(entry) ? { [key]: entry[key], ...entry } : entry;
      return withItemIds(sorted(eachItem(formed, keyFirst)));
    }
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

/** An ID such as `item-1`, which no caller gave. */
const madeUpId = /^item-\d+$/;

const withoutItemId = (item: unknown): unknown =>
  isObject(item) && typeof item.id === "string" && madeUpId.test(item.id)
    ? without(item, "id")
    : item;

const isNumeric = (text: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

/** Whether the service adds its own ID to items of this shape. */
const hasOwnId = (field: Field): boolean =>
  field.type === "reference" ||
  (field.type === "object" && fieldsByWireName(field.fields).has("id"));

const plainText = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\r\n", "\n") : value;

const plainOf = (field: Field, value: unknown): unknown => {
  if (field.secret) return value;
  switch (field.type) {
    case "text":
      return inEnvelope(field, value, (text, isWrapped) => {
        if (!isWrapped) return plainText(text);
        return typeof text === "number" ? String(text) : text;
      });
    case "number":
      return typeof value === "string" && isNumeric(value) ? Number(value) : value;
    case "reference":
      return isObject(value) ? without(value, "name") : value;
    case "object":
      return isObject(value) ? plainFields(field.fields, value) : value;
    case "list": {
      const { of } = field;
      const plain = (item: unknown) => plainOf(of, hasOwnId(of) ? item : withoutItemId(item));
      return inEnvelope(field, value, (items) => eachItem(items, plain));
    }
    case "map":
      return eachItem(
        eachEntry(field, value, (member) => plainOf(field.of, member)),
        withoutItemId,
      );
    default:
      return value;
  }
};

const plainUnknown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => plainUnknown(withoutItemId(item)));
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
 * Converts a body from the service's own forms into the form that clients send, so that a client
 * can write back what it read. Validation refuses values that neither form allows.
 */
export const fromOwnForms = ({ fields }: Definition, body: JsonObject): JsonObject =>
  plainFields(fields, body);

/** Text that replaces values that are or might be secret. */
export const mask = "********";

type SecretsSwitch = Switches["secrets"];

const hideValue = (field: Field, value: unknown, way: SecretsSwitch): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return way === "mask" ? mask : undefined;
  switch (field.type) {
    case "object":
      return isObject(value) ? hideSecrets(field.fields, value, way) : value;
    case "list":
      return inEnvelope(field, value, (items) =>
        eachItem(items, (item) => hideValue(field.of, item, way)),
      );
    case "map":
      return eachEntry(field, value, (member) => hideValue(field.of, member, way));
    default:
      return value;
  }
};

/** An object's JSON in a response, with secrets masked, omitted, or in plain text. */
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

const shownValue = (field: Field, value: unknown): unknown => {
  if (value === undefined || value === null || !holdsSecret(field)) return value;
  if (field.secret) return mask;
  switch (field.type) {
    case "object":
      return shownMembers(field.fields, value);
    case "list":
      return inEnvelope(field, value, (items) =>
        Array.isArray(items) ? items.map((item) => shownValue(field.of, item)) : mask,
      );
    case "map": {
      const { key } = membersOf(field);
      const shownEntry = (entry: unknown) =>
        isObject(entry)
          ? objectOf(Object.entries(entry).map(([name, of]) => [name, name === key ? of : mask]))
          : mask;
      return Array.isArray(value) ? value.map(shownEntry) : mask;
    }
    default:
      return mask;
  }
};

/** Members of every object that the service sets. */
const ownMembers = ["id", "created", "modified"];

/**
 * An object's members in a form that is safe to show, whoever wrote them. Asterisks replace values
 * that the definition marks as secret. They also replace values of a different shape where a secret
 * is expected, and all unknown members next to a secret, because these could be misplaced secrets.
 */
export const shownMembers = (fields: Fields, values: unknown): unknown => {
  if (!isObject(values)) return mask;
  const byWire = fieldsByWireName(fields);
  const isBesideSecret = Object.values(fields).some(holdsSecret);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const [, field] = byWire.get(name) ?? [];
      if (field) return [name, shownValue(field, value)];
      return [name, isBesideSecret && !ownMembers.includes(name) ? mask : value];
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
 * Returns a stored object as the service sends it. The switches determine whether the object is in
 * the service's own forms, and how its secrets are shown.
 */
export const responseObject = (
  { store, switches }: { readonly store: Store; readonly switches: Switches },
  definition: Definition,
  object: StoredObject,
): JsonObject => {
  const formed = switches.forms === "own" ? ownForms(definition, object, namesIn(store)) : object;
  return hideSecrets(definition.fields, formed, switches.secrets);
};
