import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { namingOf } from "../../provider/definition/references.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../control/switches.js";
import { type NameOf, ownForms } from "./own-forms.js";
import type { Store, StoredObject } from "./store.js";

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

/** The JSON of an object as it is given back: secrets as asterisks, left out, or as they are. */
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

/** A stored object as the service gives it back: in its own forms, and secrets hidden, by switch. */
export const responseObject = (
  { store, switches }: { readonly store: Store; readonly switches: Switches },
  definition: Definition,
  object: StoredObject,
): JsonObject => {
  const formed = switches.forms === "own" ? ownForms(definition, object, namesIn(store)) : object;
  return hideSecrets(definition.fields, formed, switches.secrets);
};
