import type { JsonObject } from "../kernel/json.js";
import type { Definition, Field, ReferenceField } from "./define.js";
import { fieldsIn } from "./walk.js";

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

/** How people know the objects of a kind. */
export interface Naming {
  /** The field with the name; empty where the kind has none. */
  readonly key: string;
  /** The same in the service's JSON. */
  readonly wire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is made from the logical name where a program leaves it out. */
  readonly isAutomatic: boolean;
}

const namings = new WeakMap<Definition, Naming>();

/** The naming of a kind, as its fields say. */
export const namingOf = (definition: Definition): Naming => {
  const known = namings.get(definition);
  if (known) return known;
  const named = Object.entries(definition.fields).flatMap(([key, field]) =>
    field.type === "text" && field.names
      ? [
          {
            key,
            wire: field.wire ?? key,
            isUnique: field.unique === true,
            isAutomatic: isAutomatic(field),
          },
        ]
      : [],
  );
  const naming = named[0] ?? { key: "", wire: "", isUnique: false, isAutomatic: false };
  namings.set(definition, naming);
  return naming;
};

/** Whether a field is made from the logical name where a program leaves it out. */
export const isAutomatic = (field: Field): boolean =>
  field.type === "text" && field.names === "automatic";

/** The field by which people know objects of a kind. */
export const naturalKey = (definition: Definition): string => namingOf(definition).key;

/** `an account`, `a channel` */
export const withArticle = (noun: string): string =>
  `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** An object as messages call it: `channel "custom.web"`, or the kind alone where it has no name. */
export const objectTitle = (definition: Definition, fields: JsonObject): string => {
  const name = fields[naturalKey(definition)];
  return typeof name === "string" ? `${definition.noun} ${JSON.stringify(name)}` : definition.noun;
};
