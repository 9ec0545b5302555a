import type { Field, Fields } from "../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../control/switches.js";
import { fieldsByWire } from "./wire-fields.js";

const mask = "********";

type Way = Switches["secrets"];

const hideValue = (field: Field, value: unknown, way: Way): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return way === "mask" ? mask : undefined;
  switch (field.type) {
    case "object":
      return isObject(value) ? hideFields(field.fields, value, way) : value;
    case "list": {
      const items = field.envelope && isObject(value) ? value[field.envelope] : value;
      const hidden = Array.isArray(items)
        ? items.map((item) => hideValue(field.of, item, way))
        : items;
      return field.envelope && isObject(value) ? { ...value, [field.envelope]: hidden } : hidden;
    }
    case "map": {
      const member = field.members?.value ?? "value";
      const hide = (entry: unknown): unknown =>
        isObject(entry)
          ? objectOf(
              Object.entries(entry).map(([name, of]) => [
                name,
                name === member ? hideValue(field.of, of, way) : of,
              ]),
            )
          : entry;
      return Array.isArray(value) ? value.map(hide) : value;
    }
    default:
      return value;
  }
};

/** The JSON of an object as it is given back: secrets as asterisks, left out, or as they are. */
export const hideFields = (fields: Fields, values: JsonObject, way: Way): JsonObject => {
  if (way === "echo") return values;
  const byWire = fieldsByWire(fields);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = byWire.get(name);
      return [name, field ? hideValue(field, value, way) : value];
    }),
  );
};
