import type { JsonObject } from "../kernel/json.js";
import type { Definition, Field, Fields, ReferenceField } from "./define.js";
import { fieldsIn, valuesIn } from "./walk.js";

/** A field somewhere inside a definition that holds the id of another object. */
export interface ReferencePath {
  readonly from: Definition;
  readonly to: Definition;
  /** As a person would write it, such as `applications.botConfiguration.bots[].participant`. */
  readonly path: string;
  readonly field: ReferenceField;
}

/** Every reference that objects of a kind may hold, nested ones too. */
export const referencesOf = (definition: Definition): readonly ReferencePath[] =>
  fieldsIn(definition.fields).flatMap(({ field, path }) =>
    field.type === "reference" ? [{ from: definition, to: field.to, path, field }] : [],
  );

/** Every reference of any kind that may point at objects of this kind: the other end of the same data. */
export const referencesTo = (
  target: Definition,
  resources: readonly Definition[],
): readonly ReferencePath[] =>
  resources.flatMap(referencesOf).filter((reference) => reference.to.kind === target.kind);

const sorted = (
  resources: readonly Definition[],
  before: (definition: Definition) => readonly Definition[],
): Definition[] => {
  const done: Definition[] = [];
  const visit = (definition: Definition): void => {
    if (done.includes(definition)) return;
    for (const earlier of before(definition)) visit(earlier);
    done.push(definition);
  };
  for (const definition of resources) visit(definition);
  return done;
};

/** Kinds so that each comes after everything it refers to. */
export const setUpOrder = (resources: readonly Definition[]): readonly Definition[] =>
  sorted(resources, (definition) => referencesOf(definition).map(({ to }) => to));

/**
 * Kinds so that each comes before everything it refers to, and before what it holds by the literal
 * wording of a deletion rule: right under every reading of the rules (specification §2).
 */
export const deletionOrder = (resources: readonly Definition[]): readonly Definition[] =>
  sorted([...resources].reverse(), (definition) => [
    ...referencesTo(definition, resources).map(({ from }) => from),
    ...(definition.heldByAny?.kinds ?? []),
  ]);

/** The field by which people know objects of a kind. */
export const naturalKey = ({ fields }: Definition): string =>
  Object.keys(fields).find((key) => isName(fields[key])) ?? "";

/** The field that is made from the logical name where a program leaves it out; undefined where none is. */
export const automaticKey = ({ fields }: Definition): string | undefined =>
  Object.keys(fields).find((key) => isAutomatic(fields[key]));

const isName = (field: Field | undefined): boolean =>
  field?.type === "text" && field.names !== undefined;

/** Whether a field is made from the logical name where a program leaves it out. */
export const isAutomatic = (field: Field | undefined): boolean =>
  field?.type === "text" && field.names === "automatic";

/** `an account`, `a channel` */
export const withArticle = (noun: string): string =>
  `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** An object as messages call it: `channel "custom.web"`, or the kind alone where it has no name. */
export const objectTitle = (definition: Definition, fields: JsonObject): string => {
  const name = fields[naturalKey(definition)];
  return typeof name === "string" ? `${definition.noun} ${JSON.stringify(name)}` : definition.noun;
};

/** A reference that a value in a program's terms holds. */
export interface ReferenceIn {
  /** As a person would write it, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: unknown;
}

/** Every reference in the values of an object. */
export const referencesIn = (fields: Fields, values: JsonObject): readonly ReferenceIn[] =>
  valuesIn(fields, values).flatMap(({ field, path, value }) =>
    field.type === "reference" ? [{ path, to: field.to, id: value }] : [],
  );
