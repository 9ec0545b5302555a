import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  TextField,
} from "../../provider/definition/define.js";
import { fieldsByWireName, holdsSecret, membersOf } from "../../provider/definition/fields.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../service/switches.js";
import type { StoredObject } from "./store.js";

/** A list with each item changed; anything else stays. */
const eachItem = (items: unknown, change: (item: unknown) => unknown): unknown =>
  Array.isArray(items) ? items.map(change) : items;

/** What is in the envelope of a field changed, or the value itself if it has none. */
const inEnvelope = (
  { envelope }: TextField | ListField,
  value: unknown,
  change: (inner: unknown) => unknown,
): unknown =>
  envelope && isObject(value) ? { ...value, [envelope]: change(value[envelope]) } : change(value);

/** The value of each entry of a map changed; one without a value stays. */
const eachEntry = (field: MapField, entries: unknown, change: (value: unknown) => unknown) => {
  const { value: member } = membersOf(field);
  return eachItem(entries, (entry) =>
    isObject(entry) && Object.hasOwn(entry, member)
      ? objectOf(Object.entries({ ...entry, [member]: change(entry[member]) }))
      : entry,
  );
};

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

/** Returns a stored object as the service sends it: how secrets are shown is a switch. */
export const responseObject = (
  { switches }: { readonly switches: Switches },
  definition: Definition,
  object: StoredObject,
): JsonObject => hideSecrets(definition.fields, object, switches.secrets);
