import { z } from "zod";
import type { CommandSpec } from "../command.js";

/** The part of a JSON Schema that is used. */
const shape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().default(""),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
});
type Shape = z.output<typeof shape>;

/** A member of what a command prints. */
export interface JsonMember {
  /** From the top, such as `changed[].id`; keys of a map are `<name>`. */
  readonly path: string;
  /** Whether it may be omitted. */
  readonly isOptional: boolean;
  readonly type: string;
  readonly doc: string;
}

const words: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "object",
};

const alternativesOf = ({ anyOf, oneOf }: Shape): readonly Shape[] | undefined =>
  (anyOf ?? oneOf)?.map((each) => shape.parse(each));

const itemOf = ({ items }: Shape): Shape | undefined =>
  items === undefined ? undefined : shape.parse(items);

/** The shape of a map's values; undefined if it is no map. */
const entryOf = ({ properties, additionalProperties: entry }: Shape): Shape | undefined =>
  !properties && typeof entry === "object" ? shape.parse(entry ?? {}) : undefined;

const typeOf = (of: Shape): string => {
  const item = itemOf(of);
  if (item) return `list of ${typeOf(item)}s`.replace(/(text|s)s$/, "$1");
  if (of.enum) return of.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (of.const !== undefined) return `\`${String(of.const)}\``;
  if (entryOf(of)) return "map";
  const alternatives = alternativesOf(of);
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(" or ");
  const types = [of.type ?? []].flat().map((type) => words[type] ?? type);
  return types.length === 0 ? "any value" : types.join(" or ");
};

/**
 * Merges members of the same name of several alternatives; those that not all have are optional.
 */
const merged = (alternatives: readonly (readonly JsonMember[])[]): readonly JsonMember[] => {
  const byPath = Map.groupBy(alternatives.flat(), ({ path }) => path);
  return [...byPath].map(([path, same]) => ({
    path,
    isOptional: same.length < alternatives.length || same.some(({ isOptional }) => isOptional),
    type: [...new Set(same.map(({ type }) => type))].join(", "),
    doc: [...new Set(same.map(({ doc }) => doc).filter((doc) => doc !== ""))].join("; "),
  }));
};

const below = (of: Shape, path: string): readonly JsonMember[] => {
  const item = itemOf(of);
  if (item) return below(item, `${path}[]`);
  const entry = entryOf(of);
  if (entry) return below(entry, `${path}.<name>`);
  const alternatives = alternativesOf(of);
  if (alternatives) return merged(alternatives.map((each) => below(each, path)));
  return Object.entries(of.properties ?? {}).flatMap(([name, schema]) => {
    const member = shape.parse(schema);
    const own = path === "" ? name : `${path}.${name}`;
    const isOptional = !of.required.includes(name);
    return [
      { path: own, isOptional, type: typeOf(member), doc: member.description },
      ...below(member, own),
    ];
  });
};

/** Every member of a JSON Schema, each after its parent. */
export const jsonMembers = (schema: unknown): readonly JsonMember[] =>
  below(shape.parse(schema), "");

/** Members in braces, `?` after optional ones, as a help text shows them. */
const shapeOf = (of: Shape): string | undefined => {
  const item = itemOf(of);
  if (item) return `[${shapeOf(item) ?? item.enum?.join(" | ") ?? typeOf(item)}]`;
  const entry = entryOf(of);
  if (entry) {
    const below = shapeOf(entry);
    return below && `{ <name>: ${below} }`;
  }
  const alternatives = alternativesOf(of);
  const names = alternatives
    ? membersOfAll(alternatives)
    : Object.entries(of.properties ?? {}).map(([name, schema]): NamedShape => {
        return [of.required.includes(name) ? name : `${name}?`, shape.parse(schema)];
      });
  if (names.length === 0) return undefined;
  const shown = names.map(([name, member]) => {
    const below = shapeOf(member);
    return below === undefined ? name : `${name}: ${below}`;
  });
  return `{ ${shown.join(", ")} }`;
};

type NamedShape = readonly [name: string, shape: Shape];

/** The members of several alternatives; those that not all have are optional. */
const membersOfAll = (alternatives: readonly Shape[]): readonly NamedShape[] => {
  const all = alternatives.flatMap(({ properties = {} }) => Object.entries(properties));
  const byName = new Map(all);
  return [...byName].map(([name, schema]) => {
    const isAlways = alternatives.every(({ required }) => required.includes(name));
    return [isAlways ? name : `${name}?`, shape.parse(schema)];
  });
};

/** The shape that a schema describes, on one line: `{ ok, checks: [{ name, message? }] }`. */
export const jsonShape = (schema: z.ZodType): string => {
  const document = shape.parse(z.toJSONSchema(schema, { io: "output" }));
  return shapeOf(document) ?? typeOf(document);
};

/** Shapes of what commands print with `--json`, by command and use, such as `rehearse check`. */
export const jsonShapes = async (
  commands: readonly CommandSpec[],
): Promise<ReadonlyMap<string, string>> =>
  new Map(
    await Promise.all(
      commands.flatMap(({ name, uses }) =>
        Object.entries(uses).map(
          async ([use, { json }]) => [`${name} ${use}`, jsonShape(await json())] as const,
        ),
      ),
    ),
  );

/** Shape of everything that a command prints with `--json`. */
export const schemaOf = async ({ uses }: CommandSpec): Promise<z.ZodType> => {
  const schemas = await Promise.all(Object.values(uses).map(({ json }) => json()));
  const [only, ...others] = schemas;
  return only && others.length === 0 ? only : z.union(schemas);
};
