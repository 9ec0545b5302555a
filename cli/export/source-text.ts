import { hash } from "node:crypto";
import { pascal } from "../../provider/definition/declarations.js";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { itemPath, memberPath } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { inertText } from "../../provider/kernel/text.js";
import { camelCase, type PlannedResource, wordsIn } from "./program-plan.js";

const step = "  ";

/** A text in quotes. Characters that are invisible or change how the source is shown are escaped. */
export const quotedText = (text: string): string => inertText(JSON.stringify(text));

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

const listText = (items: readonly string[], indent: string): string =>
  bracketed(["[", "]"], items, indent);

const objectText = (members: readonly string[], indent: string): string =>
  members.length === 0 ? "{}" : bracketed(["{ ", " }"], members, indent);

const isPlainName = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);

const memberText = (name: string, value: string): string =>
  `${isPlainName(name) ? name : quotedText(name)}: ${value}`;

/** The members of a JSON object as source, each as it begins on a line with this indent. */
export const jsonMembers = (object: JsonObject, indent: string = step): readonly string[] =>
  Object.entries(object).flatMap(([name, value]) =>
    value === undefined ? [] : [memberText(name, jsonText(value, indent))],
  );

/** Any JSON as source. @param indent of the line that it begins on */
const jsonText = (value: unknown, indent: string): string => {
  const inner = indent + step;
  if (Array.isArray(value))
    return listText(
      value.map((item) => jsonText(item, inner)),
      indent,
    );
  if (isObject(value)) return objectText(jsonMembers(value, inner), indent);
  if (typeof value === "string") return quotedText(value);
  if (Object.is(value, -0)) return "-0";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "null";
};

/** Source for values that a program does not write literally. */
interface Substitutes {
  /** The variable of a resource, or its ID in quotes. */
  reference(to: Definition, id: string): string;
  /** @param path as a person would write it, such as `roles[custom_bot].headers["X-Key"]` */
  secret(path: string): string;
}

const fieldText = (
  field: Field,
  value: unknown,
  path: string,
  put: Substitutes,
  indent: string,
): string => {
  const inner = indent + step;
  if (field.secret) return put.secret(path);
  if (field.type === "reference" && typeof value === "string")
    return put.reference(field.to, value);
  if (field.type === "list" && Array.isArray(value))
    return listText(
      value.map((item, place) =>
        fieldText(field.of, item, itemPath(path, field, item, place), put, inner),
      ),
      indent,
    );
  if (field.type === "map" && isObject(value))
    return objectText(
      Object.entries(value).map(([key, entry]) =>
        memberText(key, fieldText(field.of, entry, memberPath(path, key), put, inner)),
      ),
      indent,
    );
  if (field.type === "object" && isObject(value))
    return objectText(fieldMembers(field.fields, value, put, path, inner), indent);
  return jsonText(value, indent);
};

/**
 * The members of an object as source, in the order of their definition, without those that have
 * their default.
 */
export const fieldMembers = (
  fields: Fields,
  values: JsonObject,
  put: Substitutes,
  path = "",
  indent = step,
): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const isDefault = "default" in field && field.default === value;
    if (value === undefined || isDefault) return [];
    return [memberText(name, fieldText(field, value, memberPath(path, name), put, indent))];
  });

/** A call such as `const x = new Channel("x", { … });`, with each member on a line. */
export const declarationText = (
  head: string,
  args: readonly string[],
  members?: readonly string[],
): string => {
  const lines = members?.map((member) => `\n${step}${member},`) ?? [];
  const end = lines.length > 0 ? "\n" : "";
  const last = members ? [`{${lines.join("")}${end}}`] : [];
  return `${head}(${[...args, ...last].join(", ")});`;
};

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
