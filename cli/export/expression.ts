import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { itemPath, memberPath } from "../../provider/definition/walk.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

/** A TypeScript expression that a program gives as an argument. */
export type Expression =
  | { readonly type: "literal"; readonly value: string | number | boolean | null }
  /** A variable, or a member of one. */
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "list"; readonly items: readonly Expression[] }
  | { readonly type: "object"; readonly members: readonly Member[] };

export type Member = readonly [name: string, value: Expression];

/** What stands in the place of what a program does not write as it is. */
export interface Substitutes {
  /** The variable of a resource, or its id in quotes. */
  reference(to: Definition, id: string): Expression;
  /** @param path as a person would write it, such as `roles[custom_bot].headers["X-Key"]` */
  secret(path: string): Expression;
}

/** Any JSON as an expression. */
export const jsonExpression = (value: unknown): Expression => {
  if (Array.isArray(value)) return { type: "list", items: value.map(jsonExpression) };
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, of]) => of !== undefined);
    return { type: "object", members: members.map(([name, of]) => [name, jsonExpression(of)]) };
  }
  const isScalar =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return { type: "literal", value: isScalar ? value : null };
};

const listExpression = (
  field: Extract<Field, { readonly type: "list" }>,
  items: readonly unknown[],
  path: string,
  put: Substitutes,
): Expression => ({
  type: "list",
  items: items.map((item, place) =>
    valueExpression(field.of, item, itemPath(path, field, item, place), put),
  ),
});

const mapExpression = (
  field: Extract<Field, { readonly type: "map" }>,
  entries: JsonObject,
  path: string,
  put: Substitutes,
): Expression => ({
  type: "object",
  members: Object.entries(entries).map(([key, value]) => [
    key,
    valueExpression(field.of, value, memberPath(path, key), put),
  ]),
});

const valueExpression = (
  field: Field,
  value: unknown,
  path: string,
  put: Substitutes,
): Expression => {
  if (field.secret) return put.secret(path);
  if (field.type === "reference" && typeof value === "string")
    return put.reference(field.to, value);
  if (field.type === "list" && Array.isArray(value)) return listExpression(field, value, path, put);
  if (field.type === "map" && isObject(value)) return mapExpression(field, value, path, put);
  if (field.type === "object" && isObject(value))
    return { type: "object", members: fieldMembers(field.fields, value, put, path) };
  return jsonExpression(value);
};

const isDefault = (field: Field, value: unknown): boolean =>
  "default" in field && field.default === value;

/** The members of an object in the order of their definition, without those that have their default. */
export const fieldMembers = (
  fields: Fields,
  values: JsonObject,
  put: Substitutes,
  path = "",
): readonly Member[] =>
  Object.entries(fields).flatMap(([name, field]): Member[] => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || isDefault(field, value)) return [];
    return [[name, valueExpression(field, value, memberPath(path, name), put)]];
  });
