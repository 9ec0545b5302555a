import { isBlank, isObject, type JsonObject, objectOf } from "../kernel/json.js";
import { undisclosed } from "../kernel/stand-ins.js";
import type { Field, Fields } from "./define.js";
import { type ChangeValue, changeInside, changeMembers } from "./fields.js";
import { looksMasked } from "./merge.js";

/** Neither a mask nor an empty text reveals the secret. */
const isShown = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && !looksMasked(value);

/** An empty optional member counts as absent. */
const isLeftOut = (field: Field, value: unknown): boolean => !field.required && isBlank(value);

const tidyValue = (field: Field, value: unknown): unknown => {
  if (field.secret) return isShown(value) ? value : undisclosed;
  return field.type === "object" && isObject(value)
    ? tidyFields(field.fields, value)
    : changeInside(field, value, tidyValue);
};

/** Adds required secrets that the service does not show, as undisclosed. */
const hiddenMembers = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name, field]) => field.secret && field.required && values[name] === undefined)
      .map(([name]) => [name, undisclosed]),
  );

/** Returns values without empty members that count as absent; hidden secrets become undisclosed. */
export const tidyFields = (fields: Fields, values: JsonObject): JsonObject => ({
  ...objectOf(
    Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const tidy = field ? tidyValue(field, value) : value;
      return field && isLeftOut(field, tidy) ? [] : [[name, tidy]];
    }),
  ),
  ...hiddenMembers(fields, values),
});

const undisclosedInside: ChangeValue = (field, value) =>
  field.secret ? undisclosed : changeInside(field, value, undisclosedInside);

/** Returns values with every secret undisclosed, so that they can be written to a file. */
export const withoutSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeMembers(fields, values, undisclosedInside);
