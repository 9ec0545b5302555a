import type { Definition } from "../../provider/definition/define.js";
import { outputFields } from "../../provider/definition/define.js";
import { answeredByService } from "./field-facts.js";
import { exampleOf } from "./reference-docs.js";
import { resourceArguments } from "./resource-arguments.js";
import {
  comment,
  docOf,
  inputMembers,
  type NestedType,
  nestedTypes,
  outputMembers,
  outputType,
  ruleType,
  withoutRuled,
} from "./types.js";

const camel = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
const fileOf = (kind: string): string =>
  kind.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

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
    `${comment([field.doc], "")}export interface ${name} {\n${outputMembers(field, types)}}\n`,
  ]);

const outputs = (definition: Definition, types: readonly NestedType[]): string =>
  [...Object.entries(definition.fields), ...Object.entries(outputFields)]
    .map(([name, field]) => {
      const type = outputType(field, types) + (field.required ? "" : " | undefined");
      const note =
        name in outputFields ? { ...field, doc: `${field.doc} ${answeredByService}` } : field;
      return `${docOf(note, "  ")}  declare readonly ${name}: pulumi.Output<${type}>;\n`;
    })
    .join("\n");

/** The member that people know an object by. */
const knownBy = ({ kind, fields }: Definition): string => {
  const found = Object.entries(fields).find(([, field]) => "names" in field && field.names);
  if (!found) throw new Error(`${kind} has no field that names its objects`);
  return found[0];
};

const classOf = (definition: Definition, types: readonly NestedType[]): string => {
  const { kind, noun } = definition;
  const known = knownBy(definition);
  const doc = [
    definition.doc,
    `Collection \`/${definition.collection}\`. Updated in place, never replaced.`,
    "",
    "@throws pulumi.RunError where a reference is of another kind, or `import` contradicts `adopt`",
    "@example",
    ...exampleOf(definition).split("\n"),
  ];
  return `${comment(doc, "")}export class ${kind} extends ConversationResource {
  /** Type token, part of every state file. */
  static readonly __pulumiType: string = typeToken("${kind}");

  /** Whether a value is ${article(noun)} ${noun}, also one made by another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ${kind} {
    return isOfType(value, ${kind}.__pulumiType);
  }

${outputs(definition, types)}
  /**
   * @param name Logical name, unique in the program.
   * @param args What the ${noun} is to be.
   * @param opts Options of the engine. \`import\` takes an existing object over, as \`adopt\` does; not both.
   */
  constructor(name: string, args: ${kind}Args, opts?: pulumi.CustomResourceOptions) {
    super(${camel(kind)}, name, args, opts);
  }

  /**
   * Reads an existing ${noun} without managing it: one call to the service on every preview and update.
   * The run fails where there is none with this id, or it cannot be read.
   *
   * @param name Logical name, unique in the program.
   * @param id Id of the ${noun} at the service.
   * @param state Settings to read with.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ${kind} {
    return lookUp(${kind}, name, id, state, opts);
  }

  /**
   * Finds an existing ${noun} by its ${known} and reads it without managing it: the list of all, once for a
   * program, and one call, on every preview and update. Its ${known} is the logical name, too.
   * The run fails where there is none, or where there are several.
   *
   * @param where The ${known} that people know it by, exactly.
   * @param state Settings to read with.
   */
  static find(where: { readonly ${known}: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ${kind} {
    return findBy(${camel(kind)}, ${kind}, where, state, opts);
  }
}
`;
};

const common = (): string => {
  const members = resourceArguments
    .map(({ name, type, doc }) => `${comment(doc, "  ")}  ${name}?: ${type} | undefined;\n`)
    .join("");
  const doc = ["What every resource takes besides the fields of its kind."];
  return `${comment(doc, "")}export interface CommonArgs {\n${members}}\n`;
};

const kindSource = (definition: Definition): string => {
  const types = nestedTypes(definition);
  const doc = [`What a program says of one ${definition.noun}.`, definition.doc];
  return [
    ...nested(types),
    argsOf(`${definition.kind}Args`, doc, definition, types, true),
    classOf(definition, types),
  ].join("\n");
};

/** Source of the resource classes and their types: one class for each kind of the registry. */
export const resourceClasses = (resources: readonly Definition[]): string => {
  const imports = resources.map(
    ({ kind }) => `import { ${camel(kind)} } from "../provider/resources/${fileOf(kind)}.js";`,
  );
  return [
    "// Generated from provider/resources by `npm run generate`. Change the definitions, not this file.\n",
    [
      'import type * as pulumi from "@pulumi/pulumi";',
      'import { typeToken } from "../provider/pointer.js";',
      ...imports,
      'import { isOfType } from "./given-arguments.js";',
      'import { ConversationResource, findBy, type Lookup, lookUp } from "./resource-class.js";',
      "",
    ].join("\n"),
    common(),
    ...resources.map(kindSource),
  ].join("\n");
};
