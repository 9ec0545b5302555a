import {
  factsOf,
  fieldDoc,
  mustGive,
  type NestedType,
  nestedTypeName,
  nestedTypes,
  type ResourceArgument,
  readOnlyFields,
  resourceArguments,
} from "../../provider/definition/declarations.js";
import type { Definition, Field, Members, TextField } from "../../provider/definition/define.js";
import { naturalKey } from "../../provider/definition/kinds.js";

const base64OrFile = 'Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`.';

/** The rules of a field as they hold in a program in TypeScript. */
export const classFacts = (field: Field): string[] => factsOf(field, base64OrFile);

/** A statement that makes one object of a kind. */
export const exampleOf = ({ kind, example }: Definition): string => {
  const json = JSON.stringify(example, undefined, 2);
  const source = json
    .replace(/"([A-Za-z_$][\w$]*)":/g, "$1:")
    .replace(
      /"\$\{(\w+)\}"/g,
      (_, referred: string) => referred.charAt(0).toLowerCase() + referred.slice(1),
    );
  return `new ${kind}("example", ${source});`;
};

const literals = (values: readonly string[]): string =>
  values.map((value) => JSON.stringify(value)).join(" | ");

const inputText = (field: TextField): string => {
  if (field.values) return literals(field.values);
  return field.json ? "string | pulumi.Inputs" : "string";
};

/** Type of a value that a program gives. */
const inputType = (field: Field, types: readonly NestedType[]): string => {
  switch (field.type) {
    case "text":
      return `pulumi.Input<${inputText(field)}>${field.format === "base64" ? " | pulumi.asset.FileAsset" : ""}`;
    case "number":
      return "pulumi.Input<number>";
    case "flag":
      return "pulumi.Input<boolean>";
    case "reference":
      return `pulumi.Input<string> | pulumi.Input<${field.to.kind}>`;
    case "object":
      return `pulumi.Input<${nestedTypeName(types, field)}Args>`;
    case "list":
      return `pulumi.Input<readonly (${inputType(field.of, types)})[]>`;
    case "map":
      return `pulumi.Input<Record<string, ${inputType(field.of, types)}>>`;
  }
};

const outputType = (field: Field, types: readonly NestedType[]): string => {
  switch (field.type) {
    case "text":
      return field.values ? literals(field.values) : "string";
    case "number":
      return "number";
    case "flag":
      return "boolean";
    case "reference":
      return "string";
    case "object":
      return nestedTypeName(types, field);
    case "list":
      return `(${outputType(field.of, types)})[]`;
    case "map":
      return `Record<string, ${outputType(field.of, types)}>`;
  }
};

/** A doc comment at the given indentation, one line for each sentence given. */
const comment = (lines: readonly string[], indent: string): string => {
  const safe = lines.map((line) => line.replaceAll("*/", "*\\/"));
  return safe.length === 1
    ? `${indent}/** ${safe[0]} */\n`
    : `${indent}/**\n${safe.map((line) => `${`${indent} * ${line}`.trimEnd()}\n`).join("")}${indent} */\n`;
};

const docOf = (field: Field, indent: string): string =>
  comment([fieldDoc(field, base64OrFile)], indent);

const inputMembers = (shape: Members, types: readonly NestedType[]): string =>
  Object.entries(shape.fields)
    .map(([name, field]) => {
      const type = inputType(field, types);
      const member = mustGive(name, field, shape.rule)
        ? `${name}: ${type}`
        : `${name}?: ${type} | undefined`;
      return `${docOf(field, "  ")}  ${member};\n`;
    })
    .join("");

const outputMembers = (shape: Members, types: readonly NestedType[]): string =>
  Object.entries(shape.fields)
    .map(([name, field]) => {
      const optional = field.required ? ":" : "?:";
      return `${docOf(field, "  ")}  readonly ${name}${optional} ${outputType(field, types)};\n`;
    })
    .join("");

/** The allowed combinations of members, as a union: a wrong one does not compile. */
const ruleType = (shape: Members, types: readonly NestedType[]): string => {
  const { rule, fields } = shape;
  if (!rule) return "";
  const given = (member: string): string => {
    const field = fields[member];
    if (!field) throw new Error(`No field ${member}`);
    return `\n${docOf(field, "      ")}      ${member}: ${inputType(field, types)};\n`;
  };
  if ("atLeastOne" in rule) return union(rule.atLeastOne.map(given));
  const { discriminator } = rule;
  const type = fields[discriminator];
  return union(
    Object.entries(rule.exactlyOne).map(([value, member]) => {
      const others = Object.values(rule.exactlyOne).filter((other) => other !== member);
      const never = others.map((other) => `      ${other}?: undefined;\n`).join("");
      const doc = type ? docOf(type, "      ") : "";
      return `\n${doc}      ${discriminator}?: ${JSON.stringify(value)} | undefined;${given(member)}${never}`;
    }),
  );
};

const union = (members: readonly string[]): string =>
  `(\n${members.map((each) => `  | {${each}    }\n`).join("")})`;

/** Members without those of a rule, which only its union declares. */
const withoutRuled = ({ fields, rule }: Members): Members => {
  if (!rule || !("exactlyOne" in rule)) return { fields, ...(rule ? { rule } : {}) };
  const ruled = new Set([rule.discriminator, ...Object.values(rule.exactlyOne)]);
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !ruled.has(name))),
    rule,
  };
};

const camel = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
const article = (noun: string): string => (/^[aeiou]/.test(noun) ? "an" : "a");

const argsOf = (
  name: string,
  doc: readonly string[],
  shape: Parameters<typeof withoutRuled>[0],
  types: readonly NestedType[],
  isKind: boolean,
): string => {
  const rule = ruleType(shape, types);
  const common = isKind ? " extends CommonArgs" : "";
  if (!rule)
    return `${comment(doc, "")}export interface ${name}${common} {\n${inputMembers(shape, types)}}\n`;
  const members = `interface ${name}Members${common} {\n${inputMembers(withoutRuled(shape), types)}}\n`;
  return `${members}\n${comment(doc, "")}export type ${name} = ${name}Members & ${rule};\n`;
};

const nested = (types: readonly NestedType[]): string[] =>
  types.flatMap(({ name, field }) => [
    argsOf(`${name}Args`, [field.doc], field, types, false),
    `${comment([field.doc, `The members of {@link ${name}Args}, with their values in the service.`], "")}export interface ${name} {\n${outputMembers(field, types)}}\n`,
  ]);

const outputs = (definition: Definition, types: readonly NestedType[]): string =>
  [...Object.entries(definition.fields), ...Object.entries(readOnlyFields)]
    .map(([name, field]) => {
      const type = outputType(field, types) + (field.required ? "" : " | undefined");
      return `${docOf(field, "  ")}  declare readonly ${name}: pulumi.Output<${type}>;\n`;
    })
    .join("\n");

const classOf = (definition: Definition, types: readonly NestedType[]): string => {
  const { kind, noun } = definition;
  const known = naturalKey(definition);
  const doc = [
    definition.doc,
    `Stored in \`/${definition.collection}\`. Updated in place, never replaced.`,
    "",
    "@throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`",
    "@example",
    ...exampleOf(definition).split("\n"),
  ];
  return `${comment(doc, "")}export class ${kind} extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("${kind}");

  /** Whether a value is ${article(noun)} ${noun}, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ${kind} {
    return isOfType(value, ${kind}.__pulumiType);
  }

${outputs(definition, types)}
  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the ${noun}.
   * @param opts Pulumi options. \`import\` adopts an existing object, as \`adopt\` does; do not use both.
   */
  constructor(name: string, args: ${kind}Args, opts?: pulumi.CustomResourceOptions) {
    super(${camel(kind)}, name, args, opts);
  }

  /**
   * Reads an existing ${noun} without managing it. Every preview and update makes one service call.
   * The run fails if no ${noun} has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the ${noun} in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ${kind} {
    return lookUp(${kind}, name, id, state, opts);
  }

  /**
   * Finds an existing ${noun} by its ${known} and reads it without managing it. Every preview and update
   * lists all ${noun}s once per program, and makes one more call to read this one. The ${known} also serves
   * as the logical name.
   * The run fails unless exactly one ${noun} matches.
   *
   * @param where The exact ${known}.
   * @param state Settings for the call.
   */
  static find(where: { readonly ${known}: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ${kind} {
    return findBy(${camel(kind)}, ${kind}, where, state, opts);
  }
}
`;
};

const argumentTypes: Readonly<Record<ResourceArgument["form"], string>> = {
  flag: "boolean",
  "flag or ID": "boolean | string",
  text: "string",
};

const common = (): string => {
  const members = resourceArguments
    .map(
      ({ name, form, doc }) =>
        `${comment(doc, "  ")}  ${name}?: ${argumentTypes[form]} | undefined;\n`,
    )
    .join("");
  const doc = ["Arguments that every resource accepts in addition to the fields of its kind."];
  return `${comment(doc, "")}export interface CommonArgs {\n${members}}\n`;
};

const kindSource = (definition: Definition): string => {
  const types = nestedTypes(definition);
  const of = `${article(definition.noun)} ${definition.noun}`;
  const doc = [`Arguments for ${of}: ${camel(definition.doc)}`];
  return [
    ...nested(types),
    argsOf(`${definition.kind}Args`, doc, definition, types, true),
    classOf(definition, types),
  ].join("\n");
};

/** Source of the resource classes and their types: one class for each kind of the registry. */
export const resourceClasses = (resources: readonly Definition[]): string => {
  const imports = resources.map(
    ({ kind, noun }) =>
      `import { ${camel(kind)} } from "../provider/resources/${noun.replaceAll(" ", "-")}.js";`,
  );
  return [
    "// Generated from provider/resources by `npm run generate`. Change the definitions, not this file.\n",
    [
      'import type * as pulumi from "@pulumi/pulumi";',
      'import { typeToken } from "../provider/kernel/pulumi.js";',
      ...imports,
      'import { isOfType } from "./given-arguments.js";',
      'import { ConversationResource, findBy, type Lookup, lookUp } from "./resource-class.js";',
      "",
    ].join("\n"),
    common(),
    ...resources.map(kindSource),
  ].join("\n");
};
