import {
  type Basis,
  type Definition,
  type Field,
  type Fields,
  type MemberRule,
  type NumberField,
  type ObjectField,
  outputFields,
} from "./define.js";
import { defaultIn } from "./fields.js";
import { isAutomatic } from "./kinds.js";

// What the declarations of a kind have in common in every language: the classes of TypeScript, the
// schema of the plugin, the reference page.

const sources: Readonly<Record<Basis, string>> = {
  spec: "specification",
  vendor: "vendor's description of the interface",
  public: "public reference",
  assumed: "assumed",
};

export const sourceOf = (basis: Basis): string => sources[basis];

/** Capitalizes the first letter of a string. */
export const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const shown = (value: number): string => value.toLocaleString("en-GB");

const span = (least: number | undefined, most: number | undefined, unit: string): string[] => {
  if (least === undefined && most === undefined) return [];
  if (most === undefined)
    return least === 0 || least === 1 ? [] : [`At least ${shown(least ?? 0)} ${unit}.`];
  return [
    least === undefined
      ? `At most ${shown(most)} ${unit}.`
      : `${shown(least)} to ${shown(most)} ${unit}.`,
  ];
};

/** The allowed numbers. Unlike for a number of items, a minimum of 0 or 1 is a real limit. */
const rangeOf = ({ integer, min, max }: NumberField): string[] => {
  const least = min === undefined ? [] : [`at least ${shown(min)}`];
  const most = max === undefined ? [] : [`at most ${shown(max)}`];
  const range =
    min === undefined || max === undefined
      ? [...least, ...most]
      : [`${shown(min)} to ${shown(max)}`];
  const facts = [...(integer ? ["whole number"] : []), ...range].join(", ");
  return facts ? [`${pascal(facts)}.`] : [];
};

const formatOf = (field: Field, base64: string): string[] => {
  if (field.type !== "text" || !field.format) return [];
  const url = "Absolute http or https URL, without user name or password.";
  return [{ url, email: "Email address.", base64, time: "ISO 8601 date-time." }[field.format]];
};

const sizeOf = (field: Field): string[] => {
  switch (field.type) {
    case "text":
      return field.values ? [] : span(field.min, field.max, "characters");
    case "number":
      return rangeOf(field);
    case "list":
      return span(field.min, field.max, "items");
    case "map":
      return span(field.min, field.max, "entries");
    default:
      return [];
  }
};

/**
 * Describes a field's rules in short sentences.
 *
 * @param base64 the sentence for base64 text, which some languages can read from a file
 */
export const factsOf = (field: Field, base64 = "Base64 text."): string[] => [
  ...sizeOf(field),
  ...formatOf(field, base64),
  ...(field.type === "text" && field.unique ? ["Unique."] : []),
  ...(field.type === "map" && field.keys ? [`Keys: ${field.keys.join(", ")}.`] : []),
  ...(defaultIn(field) === undefined ? [] : [`Default: \`${defaultIn(field)}\`.`]),
  ...(field.type === "map" && field.of.secret
    ? ["Values are secret: encrypted in the state, never shown."]
    : []),
  ...(field.secret ? ["Secret: encrypted in the state, never shown."] : []),
];

/** Returns a field's doc comment: its meaning, rules, and source. */
export const fieldDoc = (field: Field, base64?: string): string =>
  [field.doc, ...factsOf(field, base64), `Source: ${sourceOf(field.basis)}.`].join(" ");

/** Sentence about the source of values that a program can read but not set. */
export const setByService =
  "Set by the service. If the response to the write omits the time, the response's own time is used.";

/**
 * Fields that a program can read from every object but not set, with docs that state their source.
 */
export const readOnlyFields: Fields = Object.fromEntries(
  Object.entries(outputFields).map(([name, field]) => [
    name,
    {
      ...field,
      doc: `${field.doc} ${setByService}`,
    },
  ]),
);

/**
 * Whether a program must set the member. An automatic name, or a discriminator that another member
 * implies, is always optional.
 */
export const mustGive = (name: string, field: Field, rule: MemberRule | undefined): boolean =>
  field.required === true &&
  !isAutomatic(field) &&
  !(rule && "exactlyOne" in rule && rule.discriminator === name);

export interface NestedType {
  readonly name: string;
  readonly field: ObjectField;
}

const singular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");

const isSame = (a: ObjectField, b: ObjectField): boolean =>
  JSON.stringify(keysOf(a)) === JSON.stringify(keysOf(b));
const keysOf = (field: ObjectField): string[] => Object.keys(field.fields);

/** Returns the types of a kind's nested objects, innermost first, each with a distinct name. */
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

/**
 * Returns the type name of a nested object.
 *
 * @throws Error if the object has none of these types
 */
export const nestedTypeName = (types: readonly NestedType[], field: ObjectField): string => {
  const shape =
    types.find((candidate) => candidate.field === field) ??
    types.find((candidate) => isSame(candidate.field, field));
  if (!shape) throw new Error(`There is no type for the object ${keysOf(field).join(", ")}`);
  return shape.name;
};

/** An argument that every resource accepts in addition to the fields of its kind. */
export interface ResourceArgument {
  readonly name: string;
  readonly form: "flag" | "flag or ID" | "text";
  /** Doc comment, with one or more sentences per line. */
  readonly doc: readonly string[];
}

/** The arguments that every resource accepts in addition to the fields of its kind. */
export const resourceArguments: readonly ResourceArgument[] = [
  {
    name: "adopt",
    form: "flag or ID",
    doc: [
      "An existing object to adopt instead of creating one: `true` for the object with the same unique name, or an object's ID.",
      "The object must exist, be the only match, and not have another stack's mark.",
      "The preview reads the object and shows what will change; members that the program does not declare stay unchanged.",
      "From then on, the object belongs to the stack, and removing the resource deletes it. To keep it, use `retainOnDelete`.",
      "The argument has no effect once the resource is in the state, so you can leave it in the program. Default: `false`.",
    ],
  },
  {
    name: "eraseHidden",
    form: "flag",
    doc: [
      "Whether an update or adoption may erase hidden members (secrets that the service masks or omits) that the program does not declare, if it is unknown whether PUT keeps them.",
      "If false, the run fails and lists them. Default: `false`.",
    ],
  },
  {
    name: "profile",
    form: "text",
    doc: [
      "Name of the settings profile, for programs that use several accounts. For example, `staging` reads `CONVERSATION_STAGING_BASE_URL` and `conversation:staging.baseUrl`.",
      "Up to 64 letters, digits, `_`, and `-`, starting with a letter. Cannot be changed later. Default: no profile.",
    ],
  },
];
