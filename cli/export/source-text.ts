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

/** Source for values that a program does not write literally. */
interface Substitutes {
  /** The variable of a resource, or its ID in quotes. */
  reference(to: Definition, id: string): string;
  /** @param path as a person would write it, such as `roles[custom_bot].headers["X-Key"]` */
  secret(path: string): string;
}

/** Parts between brackets, one on each line. @param indent of the line that they begin on */
const bracketed = (brackets: string, parts: readonly string[], indent: string): string => {
  const [open = "", close = ""] = brackets;
  if (parts.length === 0) return brackets;
  return [open, ...parts.map((part) => `${indent}${step}${part},`), `${indent}${close}`].join("\n");
};

const memberText = (name: string, value: string): string =>
  `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quotedText(name)}: ${value}`;

const valueText = (
  field: Field,
  value: unknown,
  path: string,
  put: Substitutes,
  indent: string,
): string => {
  const inner = indent + step;
  if (field.secret) return put.secret(path);
  if (typeof value === "string")
    return field.type === "reference" ? put.reference(field.to, value) : quotedText(value);
  if (field.type === "list" && Array.isArray(value)) {
    const items = value.map((item, place) =>
      valueText(field.of, item, itemPath(path, field, item, place), put, inner),
    );
    return bracketed("[]", items, indent);
  }
  if (field.type === "map" && isObject(value)) {
    const entries = Object.entries(value).map(([key, entry]) =>
      memberText(key, valueText(field.of, entry, memberPath(path, key), put, inner)),
    );
    return bracketed("{}", entries, indent);
  }
  if (field.type === "object" && isObject(value))
    return bracketed("{}", membersText(field.fields, value, put, path, inner), indent);
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
};

/**
 * The members of an object as source, in the order of their definition, without those that have
 * their default.
 */
export const membersText = (
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
    return [memberText(name, valueText(field, value, memberPath(path, name), put, indent))];
  });

/** A call such as `const x = new Channel("x", { … });`, with each member on a line. */
export const declarationText = (
  head: string,
  args: readonly string[],
  members?: readonly string[],
): string =>
  `${head}(${[...args, ...(members ? [bracketed("{}", members, "")] : [])].join(", ")});`;

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
