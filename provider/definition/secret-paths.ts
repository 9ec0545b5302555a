import { isObject, type JsonObject } from "../kernel/json.js";
import { isSecretValue, secretPathsBelow } from "../kernel/stand-ins.js";
import type { Field, Fields } from "./define.js";
import { fieldOfMember } from "./fields.js";

/** @param field what the definition knows of the value; what is secret by it needs no mark */
const pathsIn = (value: unknown, field?: Field): readonly string[] => {
  if (field?.secret) return [];
  if (isSecretValue(value)) return [""];
  if (Array.isArray(value)) {
    const of = field?.type === "list" ? field.of : undefined;
    return value.some((item) => pathsIn(item, of).length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    secretPathsBelow(name, pathsIn(member, fieldOfMember(field, name))),
  );
};

const sorted = (found: readonly string[]): readonly string[] | undefined => {
  const paths = new Set(found);
  if (paths.has("")) return [""];
  return paths.size > 0 ? [...paths].sort() : undefined;
};

/**
 * Returns the parts of a value that a program marks as secret, as sorted paths from its root, such
 * as `apiKey` or `proxy.password`; undefined if nothing is secret. A list that contains a secret is
 * secret as a whole, and the empty path stands for the entire value. The lifecycle needs these
 * paths because the values that it receives are not marked as secret.
 *
 * @param value with each secret in the engine's own form
 */
export const secretPaths = (value: unknown): readonly string[] | undefined =>
  sorted(pathsIn(value));

/**
 * Returns the paths to values in a resource's fields that a program marks as secret, except those
 * that are secret by definition; undefined if there are none.
 */
export const markedSecrets = (fields: Fields, values: JsonObject): readonly string[] | undefined =>
  sorted(
    Object.entries(fields).flatMap(([name, field]) =>
      secretPathsBelow(name, pathsIn(values[name], field)),
    ),
  );
