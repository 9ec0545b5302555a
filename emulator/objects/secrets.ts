import type { Field, Fields } from "../../provider/definition/define.js";
import { holdsSecret, membersOf } from "../../provider/definition/fields.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../service/switches.js";
import { fieldsInJson } from "./validate.js";

/** Text that replaces values that are or might be secret. */
export const mask = "********";

/**
 * How secrets are hidden: as the service's responses do, which trusts the shape of what is stored,
 * or for a person's eyes (`strict`), whoever wrote the values.
 */
type Way = Exclude<Switches["secrets"], "echo"> | "strict";

const hideValue = (field: Field, value: unknown, way: Way): unknown => {
  if (value === undefined || value === null || !holdsSecret(field)) return value;
  if (field.secret) return way === "omit" ? undefined : mask;
  // A value of another shape may be a misplaced secret.
  const misshapen = (other: unknown): unknown => (way === "strict" ? mask : other);
  switch (field.type) {
    case "object":
      return isObject(value) ? hideMembers(field.fields, value, way) : misshapen(value);
    case "list": {
      const hideItems = (items: unknown): unknown =>
        Array.isArray(items)
          ? items.map((item) => hideValue(field.of, item, way))
          : misshapen(items);
      const { envelope } = field;
      return envelope && isObject(value)
        ? { ...value, [envelope]: hideItems(value[envelope]) }
        : hideItems(value);
    }
    case "map": {
      const { key, value: member } = membersOf(field);
      const hideEntry = (entry: unknown): unknown => {
        if (!isObject(entry)) return misshapen(entry);
        return objectOf(
          Object.entries(entry).map(([name, each]) => {
            if (name === member) return [name, hideValue(field.of, each, way)];
            return [name, name === key ? each : misshapen(each)];
          }),
        );
      };
      return Array.isArray(value) ? value.map(hideEntry) : misshapen(value);
    }
    default:
      return misshapen(value);
  }
};

/** Members of every object that the service sets. */
const ownMembers = ["id", "created", "modified"];

const hideMembers = (fields: Fields, values: JsonObject, way: Way): JsonObject => {
  const byName = fieldsInJson(fields);
  const isBesideSecret = way === "strict" && Object.values(fields).some(holdsSecret);
  return objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = byName.get(name);
      if (field) return [name, hideValue(field, value, way)];
      return [name, isBesideSecret && !ownMembers.includes(name) ? mask : value];
    }),
  );
};

/** An object's JSON in a response, with secrets masked, omitted, or in plain text. */
export const hideSecrets = (
  fields: Fields,
  values: JsonObject,
  way: Switches["secrets"],
): JsonObject => (way === "echo" ? values : hideMembers(fields, values, way));

/**
 * An object's members in a form that is safe to show, whoever wrote them. Asterisks replace values
 * that the definition marks as secret. They also replace values of a different shape where a secret
 * is expected, and all unknown members next to a secret, because these could be misplaced secrets.
 */
export const shownMembers = (fields: Fields, values: unknown): unknown =>
  isObject(values) ? hideMembers(fields, values, "strict") : mask;
