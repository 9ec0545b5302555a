import {
  fieldDoc,
  mustGive,
  type NestedType,
  nestedTypeName,
  nestedTypes,
  type ResourceArgument,
  readOnlyFields,
  resourceArguments,
} from "../definition/declarations.js";
import type { Definition, Field, Fields, MemberRule, Members } from "../definition/define.js";
import { naturalKey, withArticle } from "../definition/kinds.js";
import { describePackage, packageName } from "../kernel/package.js";
import { pluginToken, typeToken } from "../kernel/pulumi.js";
import { resources } from "../resources/index.js";
import { describeSettings, settingTable } from "../service/settings.js";

/** A type in a Pulumi package schema, limited to what this package uses. */
export type TypeSpec =
  | { readonly type: "boolean" | "integer" | "number" | "string"; readonly plain?: true }
  | { readonly type: "array"; readonly items: TypeSpec }
  | { readonly type: "object"; readonly additionalProperties: TypeSpec }
  | { readonly type: "string"; readonly oneOf: readonly TypeSpec[] }
  | { readonly $ref: string };

/** A member of an object, a resource, or the configuration. */
export type PropertySpec = TypeSpec & {
  /** Description in Markdown. */
  readonly description: string;
  readonly secret?: true;
};

type PropertySpecs = Readonly<Record<string, PropertySpec>>;

/** An object type: its members, and the names of those that are always present. */
export interface ObjectSpec {
  readonly type: "object";
  readonly description?: string;
  readonly properties: PropertySpecs;
  readonly required: readonly string[];
}

const anyObject = { type: "object", additionalProperties: { $ref: "pulumi.json#/Any" } } as const;
const textOr = (other: TypeSpec): TypeSpec => ({
  type: "string",
  oneOf: [{ type: "string" }, other],
});

/** A kind, and what its types are made with. */
interface KindTypes {
  readonly definition: Definition;
  readonly nested: readonly NestedType[];
}

/**
 * Type of a value, given and read alike: a nested type has one form for both. Where one type can say
 * it, none is a choice of types: generated code in Go would take anything and give anything back.
 */
const typeOf = (field: Field, types: KindTypes): TypeSpec => {
  switch (field.type) {
    case "text":
      return field.json ? textOr(anyObject) : { type: "string" };
    case "number":
      return { type: field.integer || field.usuallyWhole ? "integer" : "number" };
    case "flag":
      return { type: "boolean" };
    case "reference":
      // Not also the resource itself: a plain text takes `channel.id` in every language.
      return { type: "string" };
    case "object":
      return { $ref: `#/types/${pluginToken(nestedTypeName(types.nested, field))}` };
    case "list":
      return { type: "array", items: typeOf(field.of, types) };
    case "map":
      return { type: "object", additionalProperties: typeOf(field.of, types) };
  }
};

/** Whether a value as a whole is secret. What a type of its own holds is marked there. */
const isSecret = (field: Field): boolean =>
  field.secret === true || ("of" in field && isSecret(field.of));

/** What the type says in TypeScript: the kind of a reference, and the words of a text. */
const typeDoc = (field: Field): string[] => {
  if (field.type === "reference") return [`The ID of ${withArticle(field.to.noun)}.`];
  if (field.type === "text" && field.values) return [`Values: ${quotedNames(field.values)}.`];
  return "of" in field ? typeDoc(field.of) : [];
};

/**
 * No default, although some fields have one: generated code would send it with every object, an
 * adopted one too, which is to keep what the program does not declare. Only the provider knows which
 * objects it makes, and gives the default to those.
 */
const propertyOf = (field: Field, types: KindTypes): PropertySpec => ({
  ...typeOf(field, types),
  description: fieldDoc({ ...field, doc: [field.doc, ...typeDoc(field)].join(" ") }),
  ...(isSecret(field) ? { secret: true } : {}),
});

const propertiesOf = (fields: Fields, types: KindTypes): PropertySpecs =>
  Object.fromEntries(
    Object.entries(fields).map(([member, field]) => [member, propertyOf(field, types)]),
  );

const mustBeGiven = ({ fields, rule }: Members): readonly string[] =>
  Object.entries(fields).flatMap(([member, field]) =>
    mustGive(member, field, rule) ? [member] : [],
  );

const quotedNames = (names: readonly string[]): string =>
  names.map((member) => `\`${member}\``).join(", ");

/** What the types of a schema cannot say. */
const ruleDoc = (rule: MemberRule | undefined): string[] => {
  if (!rule) return [];
  return "atLeastOne" in rule
    ? [`Specify at least one of ${quotedNames(rule.atLeastOne)}.`]
    : [`Specify exactly one of ${quotedNames(Object.values(rule.exactlyOne))}.`];
};

/** Types of a kind by their tokens: nested objects under the names that the classes have. */
const typesOf = (types: KindTypes): (readonly [string, ObjectSpec])[] =>
  types.nested.map(({ name, field }) => [
    pluginToken(name),
    {
      type: "object",
      description: [field.doc, ...ruleDoc(field.rule)].join(" "),
      properties: propertiesOf(field.fields, types),
      required: mustBeGiven(field),
    },
  ]);

const argumentTypes: Readonly<Record<ResourceArgument["form"], TypeSpec>> = {
  flag: { type: "boolean", plain: true },
  "flag or ID": { type: "string", plain: true },
  text: { type: "string", plain: true },
};

const firstSentence = (text = ""): string => /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;

/** Without `profile`: several accounts are several providers here. */
const argumentProperties = (): PropertySpecs =>
  Object.fromEntries(
    resourceArguments
      .filter(({ name }) => name !== "profile")
      .map(({ name, form, doc }) => [
        name,
        { ...argumentTypes[form], description: firstSentence(doc[0]) },
      ]),
  );

const outputsOf = (types: KindTypes): ObjectSpec => {
  const { fields } = types.definition;
  return {
    type: "object",
    properties: propertiesOf({ ...fields, ...readOnlyFields }, types),
    required: Object.keys(fields).filter((name) => fields[name]?.required),
  };
};

/** A resource: `properties` are its outputs. */
const resourceSpec = (types: KindTypes) => {
  const { kind, doc, collection, fields, rule } = types.definition;
  const stored = `Stored in \`/${collection}\`. Updated in place, never replaced.`;
  return {
    ...outputsOf(types),
    description: [doc, stored, ...ruleDoc(rule)].join(" "),
    inputProperties: { ...propertiesOf(fields, types), ...argumentProperties() },
    requiredInputs: mustBeGiven(types.definition),
    // A program that goes over to the plugin keeps what it made by a dynamic resource of the name.
    aliases: [{ type: typeToken(kind) }],
  };
};

const findSpec = (types: KindTypes) => {
  const { noun } = types.definition;
  const key = naturalKey(types.definition);
  const outputs = outputsOf(types);
  return {
    description: `Finds an existing ${noun} by its ${key} and reads it without managing it; fails unless exactly one matches.`,
    inputs: {
      type: "object",
      properties: { [key]: { type: "string", description: `The exact ${key}.` } },
      required: [key],
    },
    outputs: {
      ...outputs,
      properties: {
        id: { type: "string", description: `ID of the ${noun} in the service.` },
        ...outputs.properties,
      },
      required: ["id", ...outputs.required],
    },
  };
};

/** Every setting, with names and docs as for dynamic resources. */
const settingProperties = (): PropertySpecs =>
  Object.fromEntries(
    describeSettings().map(({ key, doc, environment, required, secret, default: fallback }) => {
      const { number } = settingTable[key];
      const facts = [
        doc,
        ...(fallback === undefined ? [] : [`Default: \`${fallback}\`.`]),
        ...(secret ? ["Secret."] : []),
        `${required ? "Required, here or as" : "Also"} environment variable \`${environment}\`.`,
      ];
      const type = number === "whole" ? "integer" : number === "any" ? "number" : "string";
      const secrecy = secret ? { secret } : {};
      return [key, { type, description: facts.join(" "), ...secrecy }];
    }),
  );

/**
 * Where the package is found. Go's generated code has its import path from it; a release has the
 * repository of its package.json.
 */
const packagePage = `https://www.npmjs.com/package/${packageName}`;

/**
 * Returns the plugin's package schema, derived from the definitions: the response to `GetSchema`,
 * and the source of the generated code for every language. Makes no calls and reads only this
 * package's package.json. Never fails.
 */
export const packageSchema = () => {
  const { description, ...about } = describePackage();
  const kinds = resources.map((definition) => ({ definition, nested: nestedTypes(definition) }));
  return {
    name: "conversation",
    displayName: "Conversation",
    repository: packagePage,
    ...about,
    description: `${description} This plugin serves every Pulumi language.`,
    language: {
      // Not the npm package's own name, which a program in TypeScript may depend on, too.
      nodejs: {
        packageName: "@pulumi/conversation",
        disableUnionOutputTypes: true,
        respectSchemaVersion: true,
      },
      python: {
        packageName: "pulumi_conversation",
        pyproject: { enabled: true },
        respectSchemaVersion: true,
      },
      go: {
        rootPackageName: "conversation",
        generateResourceContainerTypes: true,
        respectSchemaVersion: true,
      },
    },
    config: { variables: settingProperties() },
    provider: {
      description:
        "An account: its settings, and all resources that use this provider. Omitted settings come from the run's environment.",
      // Without the environment as a default: generated code would copy it into the state, where a
      // later run without the program would find an old one; code for Node would not even encrypt it.
      // The provider itself reads the environment.
      inputProperties: settingProperties(),
    },
    types: Object.fromEntries(kinds.flatMap(typesOf)),
    resources: Object.fromEntries(
      kinds.map((types) => [pluginToken(types.definition.kind), resourceSpec(types)]),
    ),
    functions: Object.fromEntries(
      kinds.map((types) => [pluginToken(`find${types.definition.kind}`), findSpec(types)]),
    ),
  };
};
