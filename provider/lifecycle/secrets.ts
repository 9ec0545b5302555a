import type { Field, Fields } from "../definition/field.js";
import { isObject, type JsonObject, objectOf } from "../definition/json.js";

/** The engine's own form of a secret value; public as `pulumi.runtime.specialSigKey` and `specialSecretSig`. */
const signature = "4dabf18193072939515e22adb298388d";
const secretKind = "1b47061264138c4ac30d75fd1eb44270";

const sealed = (value: unknown): JsonObject => ({ [signature]: secretKind, value });

const sealValue = (field: Field, value: unknown): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return sealed(value);
  if (field.type === "object" && isObject(value)) return sealFields(field.fields, value);
  if (field.type === "list" && Array.isArray(value))
    return value.map((item) => sealValue(field.of, item));
  if (field.type === "map" && isObject(value)) {
    return objectOf(Object.entries(value).map(([key, of]) => [key, sealValue(field.of, of)]));
  }
  return value;
};

/**
 * The values with every declared secret in the engine's sealed form, so that the state holds it
 * encrypted even where a program forgot `pulumi.secret`.
 */
export const sealFields = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, field ? sealValue(field, value) : value];
    }),
  );

/**
 * The members of `extra` that the program gave as secrets, in the engine's sealed form.
 *
 * @param paths such as `apiKey` or `auth.token`; the empty path is all of it
 */
export const sealPaths = (extra: JsonObject, paths: readonly string[]): JsonObject =>
  paths.includes("")
    ? sealed(extra)
    : objectOf(
        Object.entries(extra).map(([name, value]) => {
          const below = paths.flatMap((path) =>
            path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [],
          );
          if (paths.includes(name)) return [name, sealed(value)];
          return [name, isObject(value) && below.length > 0 ? sealPaths(value, below) : value];
        }),
      );
