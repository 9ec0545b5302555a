import { hash } from "node:crypto";
import { pascal } from "../../provider/definition/declarations.js";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { itemPath, memberPath } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { inertText } from "../../provider/kernel/text.js";
import { camelCase, type PlannedResource, wordsIn } from "./program-plan.js";

/** A TypeScript expression that a program gives as an argument. */
export type Expression =
  | { readonly type: "literal"; readonly value: string | number | boolean | null }
  /** A variable, or a member of one. */
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "list"; readonly items: readonly Expression[] }
  | { readonly type: "object"; readonly members: readonly Member[] };

export type Member = readonly [name: string, value: Expression];

/** Replacements for values that a program does not write literally. */
interface Substitutes {
  /** The variable of a resource, or its ID in quotes. */
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

/** A secret that a program takes from the configuration of its stack. */
export interface ProgramSecret {
  /** Key of the configuration, without the project. */
  readonly key: string;
  readonly resource: PlannedResource;
  /** As a person would write it, such as `basicAuth.password`. */
  readonly path: string;
}

/** Gives each secret of a program its own key. */
export const secretKeys = () => {
  const secrets: ProgramSecret[] = [];
  const taken = new Set<string>();
  return {
    secrets: secrets as readonly ProgramSecret[],
    keyOf: (resource: PlannedResource, path: string): string => {
      const plain = resource.variable + pascal(camelCase(wordsIn(insideFirst(path))));
      const suffix = hash("sha256", path).slice(0, 6);
      const key = taken.has(plain.toLowerCase()) ? `${plain}${suffix}` : plain;
      taken.add(key.toLowerCase());
      secrets.push({ key, resource, path });
      return key;
    },
  };
};

/** `password` of `basicAuth.password`: the variable says which object. */
const insideFirst = (path: string): string => path.replace(/^\w+(?=[.[])/, "");

const step = "  ";

/** A text in quotes. Characters that are invisible or change how the source is shown are escaped. */
export const quotedText = (text: string): string => inertText(JSON.stringify(text));

const isPlainName = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);

const keyText = (name: string): string => (isPlainName(name) ? name : quotedText(name));

const literalText = (value: string | number | boolean | null): string => {
  if (typeof value === "string") return quotedText(value);
  return Object.is(value, -0) ? "-0" : String(value);
};

/** Longest line that holds a whole list or object. */
const width = 80;

/** Parts between brackets: on one line if they fit there, else one on each line. */
const bracketed = (
  [open, close]: readonly [string, string],
  parts: readonly string[],
  indent: string,
): string => {
  const line = `${open}${parts.join(", ")}${close}`;
  if (!line.includes("\n") && indent.length + line.length <= width) return line;
  const inner = indent + step;
  const lines = parts.map((part) => `${inner}${part},`);
  return [open.trim(), ...lines, `${indent}${close.trim()}`].join("\n");
};

/** @param indent of the line that it begins on */
const expressionText = (expression: Expression, indent: string): string => {
  const inner = indent + step;
  switch (expression.type) {
    case "literal":
      return literalText(expression.value);
    case "code":
      return expression.text;
    case "list":
      return bracketed(
        ["[", "]"],
        expression.items.map((item) => expressionText(item, inner)),
        indent,
      );
    case "object":
      return expression.members.length === 0
        ? "{}"
        : bracketed(
            ["{ ", " }"],
            expression.members.map((member) => memberText(member, inner)),
            indent,
          );
  }
};

const memberText = ([name, value]: Member, indent: string): string =>
  `${keyText(name)}: ${expressionText(value, indent)}`;

/** A call such as `const x = new Channel("x", { … });`, with each member on a line. */
export const declarationText = (
  head: string,
  args: readonly string[],
  members?: readonly Member[],
): string => {
  const lines = members?.map((member) => `\n${step}${memberText(member, step)},`) ?? [];
  const end = lines.length > 0 ? "\n" : "";
  const last = members ? [`{${lines.join("")}${end}}`] : [];
  return `${head}(${[...args, ...last].join(", ")});`;
};
