import type { JsonObject } from "../kernel/json.js";
import type { Definition, Field, ReferenceField } from "./define.js";
import { fieldsIn } from "./fields.js";

// Kinds as wholes: what refers to what, in which order they are made, and how people call an object.

/** A field, at any depth in a definition, that contains another object's ID. */
export interface ReferencePath {
  readonly from: Definition;
  readonly to: Definition;
  /** A readable path, such as `applications.botConfiguration.bots[].participant`. */
  readonly path: string;
  readonly field: ReferenceField;
}

/** Returns every reference that objects of a kind may contain, including nested ones. */
export const referencesOf = (definition: Definition): readonly ReferencePath[] =>
  fieldsIn(definition.fields).flatMap(({ field, path }) =>
    field.type === "reference" ? [{ from: definition, to: field.to, path, field }] : [],
  );

/** Returns every reference, from any kind, that may point to objects of this kind. */
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

/** Sorts kinds so that each comes after everything it refers to. */
export const setUpOrder = (resources: readonly Definition[]): readonly Definition[] =>
  sorted(resources, (definition) => referencesOf(definition).map(({ to }) => to));

/**
 * Sorts kinds so that each comes before everything it refers to, and before the kinds that it keeps
 * in use under the literal wording of a deletion rule. The order is correct under every
 * interpretation of the rules (specification §2).
 */
export const deletionOrder = (resources: readonly Definition[]): readonly Definition[] =>
  sorted([...resources].reverse(), (definition) => [
    ...referencesTo(definition, resources).map(({ from }) => from),
    ...(definition.heldByAny?.kinds ?? []),
  ]);

/** How people identify the objects of a kind. */
export interface Naming {
  /** Name of the field that contains the object's name; empty if objects of this kind have no name. */
  readonly key: string;
  /** The service's name for the field that contains the object's name. */
  readonly wire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
}

const namings = new WeakMap<Definition, Naming>();

/** Returns how people identify the objects of a kind, according to its fields. */
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

/** Whether a field is derived from the logical name if a program omits it. */
export const isAutomatic = (field: Field): boolean =>
  field.type === "text" && field.names === "automatic";

/**
 * Returns the name of the field by which people identify objects of a kind; empty if there is none.
 */
export const naturalKey = (definition: Definition): string => namingOf(definition).key;

/** Returns the name by which people identify an object, as the service shows it. */
export const nameOnWire = (definition: Definition, wire: JsonObject): unknown =>
  wire[namingOf(definition).wire];

/** Returns a noun with its article, such as `an account` or `a channel`. */
export const withArticle = (noun: string): string =>
  `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;

/**
 * Returns the message for a reference to a resource of the wrong kind.
 *
 * @param takes the classes that the property accepts, such as `Channel`
 * @param given the given value, such as `got the Participant "bot"`
 */
export const wrongKind = (path: string, takes: readonly string[], given: string): string =>
  `${path} must be ${takes.map(withArticle).join(" or ")}; ${given}`;

/**
 * Returns an object's name for messages, such as `channel "custom.web"`; only the kind if the
 * object has no name.
 */
export const objectTitle = (definition: Definition, fields: JsonObject): string => {
  const name = fields[naturalKey(definition)];
  return typeof name === "string" ? `${definition.noun} ${JSON.stringify(name)}` : definition.noun;
};
