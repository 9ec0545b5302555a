import type {
  Definition,
  Field,
  Fields,
  MemberRule,
  Members,
  ObjectField,
  TextField,
} from "../../provider/definition/define.js";
import { isAutomatic } from "../../provider/definition/references.js";
import { factsOf, sourceOf } from "./field-facts.js";

/** A nested object of a kind and the name of its type. */
export interface NestedType {
  readonly name: string;
  readonly field: ObjectField;
}

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const singular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");

const isSame = (a: ObjectField, b: ObjectField): boolean =>
  JSON.stringify(keysOf(a)) === JSON.stringify(keysOf(b));
const keysOf = (field: ObjectField): string[] => Object.keys(field.fields);

/** Every nested object of a kind, inner ones first, each under a name of its own. */
export const nestedTypes = (definition: Definition): readonly NestedType[] => {
  const types: NestedType[] = [];
  const add = (field: ObjectField, name: string, parent: string): void => {
    const plain = `${definition.kind}${name}`;
    const taken = types.find((shape) => shape.name === plain);
    if (taken && isSame(taken.field, field)) return;
    types.push({ name: taken ? `${definition.kind}${parent}${name}` : plain, field });
  };
  const visit = (field: Field, name: string, parent: string): void => {
    if (field.type === "list") visit(field.of, singular(name), parent);
    if (field.type === "map") visit(field.of, singular(name), parent);
    if (field.type !== "object") return;
    visitAll(field.fields, pascal(name));
    add(field, pascal(name), parent);
  };
  const visitAll = (fields: Fields, parent: string): void => {
    for (const [name, field] of Object.entries(fields)) visit(field, name, parent);
  };
  visitAll(definition.fields, "");
  return types;
};

/** Name of the type of one nested object. */
export const nestedTypeName = (types: readonly NestedType[], field: ObjectField): string => {
  const shape =
    types.find((candidate) => candidate.field === field) ??
    types.find((candidate) => isSame(candidate.field, field));
  if (!shape) throw new Error(`No type for the object ${keysOf(field).join(", ")}`);
  return shape.name;
};

const literals = (values: readonly string[]): string =>
  values.map((value) => JSON.stringify(value)).join(" | ");

const inputText = (field: TextField): string => {
  if (field.values) return literals(field.values);
  return field.json ? "string | pulumi.Inputs" : "string";
};

/** Type of a value that a program gives. */
export const inputType = (field: Field, types: readonly NestedType[]): string => {
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

/** Type of a value as it stands in the outputs. */
export const outputType = (field: Field, types: readonly NestedType[]): string => {
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
export const comment = (lines: readonly string[], indent: string): string => {
  const safe = lines.map((line) => line.replaceAll("*/", "*\\/"));
  return safe.length === 1
    ? `${indent}/** ${safe[0]} */\n`
    : `${indent}/**\n${safe.map((line) => `${`${indent} * ${line}`.trimEnd()}\n`).join("")}${indent} */\n`;
};

export const docOf = (field: Field, indent: string): string =>
  comment([[field.doc, ...factsOf(field), `Source: ${sourceOf(field.basis)}.`].join(" ")], indent);

/** Whether a program must give the member. A name may always be left out, as may what follows from another member. */
export const mustGive = (name: string, field: Field, rule: MemberRule | undefined): boolean =>
  field.required === true &&
  !isAutomatic(field) &&
  !(rule && "exactlyOne" in rule && rule.discriminator === name);

export const inputMembers = (shape: Members, types: readonly NestedType[]): string =>
  Object.entries(shape.fields)
    .map(([name, field]) => {
      const type = inputType(field, types);
      const member = mustGive(name, field, shape.rule)
        ? `${name}: ${type}`
        : `${name}?: ${type} | undefined`;
      return `${docOf(field, "  ")}  ${member};\n`;
    })
    .join("");

export const outputMembers = (shape: Members, types: readonly NestedType[]): string =>
  Object.entries(shape.fields)
    .map(([name, field]) => {
      const optional = field.required ? ":" : "?:";
      return `${docOf(field, "  ")}  readonly ${name}${optional} ${outputType(field, types)};\n`;
    })
    .join("");

/** The allowed combinations of members, as a union: a wrong one does not compile. */
export const ruleType = (shape: Members, types: readonly NestedType[]): string => {
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

/** The members that a rule speaks of are declared by its union alone. */
export const withoutRuled = ({ fields, rule }: Members): Members => {
  if (!rule || !("exactlyOne" in rule)) return { fields, ...(rule ? { rule } : {}) };
  const ruled = new Set([rule.discriminator, ...Object.values(rule.exactlyOne)]);
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !ruled.has(name))),
    rule,
  };
};
