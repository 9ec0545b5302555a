import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

const signature = "4dabf18193072939515e22adb298388d";

/** Whether a value of a state file is encrypted. */
export const isEncrypted = (value: unknown): boolean =>
  isObject(value) && signature in value && typeof value.ciphertext === "string";

/** A value that a definition declares secret; the path without places and keys, such as `roles[].headers{}`. */
export interface HeldSecret {
  readonly path: string;
  readonly value: unknown;
}

const inside = (field: Field, value: unknown, path: string): readonly HeldSecret[] => {
  if (value === undefined) return [];
  // The engine encrypts an output as a whole where anything in it is secret.
  if (isEncrypted(value)) return pathsBelow(field, path).map((below) => ({ path: below, value }));
  if (field.secret) return [{ path, value }];
  if (field.type === "object" && isObject(value)) return among(field.fields, value, `${path}.`);
  if (field.type === "list" && Array.isArray(value))
    return value.flatMap((item) => inside(field.of, item, `${path}[]`));
  return field.type === "map" && isObject(value)
    ? Object.values(value).flatMap((of) => inside(field.of, of, `${path}{}`))
    : [];
};

const among = (fields: Fields, values: JsonObject, prefix: string): readonly HeldSecret[] =>
  Object.entries(fields).flatMap(([name, field]) => inside(field, values[name], prefix + name));

/** The declared secrets among the values of a resource, as they are held there. */
export const heldSecrets = ({ kind, fields }: Definition, values: JsonObject) =>
  among(fields, values, `${kind}.`);

const pathsBelow = (field: Field, path: string): readonly string[] => {
  if (field.secret) return [path];
  if (field.type === "object") return pathsAmong(field.fields, `${path}.`);
  if (field.type === "list") return pathsBelow(field.of, `${path}[]`);
  return field.type === "map" ? pathsBelow(field.of, `${path}{}`) : [];
};

const pathsAmong = (fields: Fields, prefix: string): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => pathsBelow(field, prefix + name));

/** The path of every secret that a resource of the kind may hold. */
export const secretPaths = ({ kind, fields }: Definition): readonly string[] =>
  pathsAmong(fields, `${kind}.`);
