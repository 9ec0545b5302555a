import type { Field, Fields } from "./define.js";

const withSecrets = (field: Field, paths: readonly string[]): Field => {
  if (paths.length === 0 || field.secret) return field;
  // What is inside a list or a map has no path of its own.
  return field.type !== "object" || paths.includes("")
    ? { ...field, secret: true }
    : { ...field, fields: fieldsWithSecrets(field.fields, paths) };
};

/**
 * Fields as a program treats them: secret, too, is what it marks so.
 *
 * @param paths such as `callback` or `oauth.clientId`; the empty path is all of them
 */
export const fieldsWithSecrets = (fields: Fields, paths: readonly string[] = []): Fields => {
  if (paths.length === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const inside = paths.flatMap((path) => {
        if (path === "" || path === name) return [""];
        return path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [];
      });
      return [name, withSecrets(field, inside)];
    }),
  );
};
