import { isObject, type JsonObject, listAt, memberOf, objectOf } from "../kernel/json.js";
import { holdsUnknown, unknownValue } from "../kernel/stand-ins.js";
import {
  type Definition,
  type Field,
  type Fields,
  identityOf,
  type ListField,
  type MapField,
  type MemberRule,
  type Members,
  outputFields,
  type ReferenceField,
} from "./define.js";

/** The field with a name in a program, if there is one. */
const fieldOf = (fields: Fields, name: string): Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** The field of a member: of an object the one with its name, of a map the one of all. */
export const fieldOfMember = (field: Field | undefined, name: string): Field | undefined => {
  if (field?.type === "map") return field.of;
  return field?.type === "object" ? fieldOf(field.fields, name) : undefined;
};

/** Returns the name of a field in the service's JSON. */
export const wireName = (name: string, field: Field): string => field.wire ?? name;

const known = new WeakMap<Fields, ReadonlyMap<string, readonly [name: string, field: Field]>>();

/** Returns fields and their names in a program, keyed by their names in the service's JSON. */
export const fieldsByWireName = (
  fields: Fields,
): ReadonlyMap<string, readonly [name: string, field: Field]> => {
  const before = known.get(fields);
  if (before) return before;
  const byWire = new Map(
    Object.entries(fields).map(
      ([name, field]) => [wireName(name, field), [name, field] as const] as const,
    ),
  );
  known.set(fields, byWire);
  return byWire;
};

/** Returns the names of a map entry's two members on the wire. */
export const membersOf = (field: MapField): { readonly key: string; readonly value: string } =>
  field.members ?? { key: "name", value: "value" };

/** Returns the content of an envelope; a value without an envelope is returned unchanged. */
export const unwrapped = (key: string | undefined, value: unknown): unknown =>
  key !== undefined && isObject(value) ? memberOf(value, key) : value;

/** Returns the key of a map entry as a string; undefined unless it is a string or number. */
export const keyOf = (field: MapField, entry: unknown): string | undefined => {
  const key = isObject(entry) ? memberOf(entry, membersOf(field).key) : undefined;
  return typeof key === "string" || typeof key === "number" ? String(key) : undefined;
};

/** A field somewhere inside others. */
interface FieldPath {
  readonly field: Field;
  /** As a person would write it; `[]` stands for the items of a list, `{}` for the values of a map. */
  readonly path: string;
}

const inside = (field: Field, path: string): FieldPath[] => {
  const own = { field, path };
  switch (field.type) {
    case "object":
      return [own, ...fieldsIn(field.fields, `${path}.`)];
    case "list":
      return [own, ...inside(field.of, `${path}[]`)];
    case "map":
      return [own, ...inside(field.of, `${path}{}`)];
    default:
      return [own];
  }
};

/** Returns fields and every field nested in them, parents first. */
export const fieldsIn = (fields: Fields, prefix = ""): readonly FieldPath[] =>
  Object.entries(fields).flatMap(([name, field]) => inside(field, prefix + name));

/** A part of a value, with the field that covers it. */
interface Content {
  /** Absent for a part that no field covers. */
  readonly field?: Field;
  /** Where it is in the value; empty for a value of another shape than its field's. */
  readonly steps: readonly (string | number)[];
  readonly value: unknown;
}

/** The members that are not among a field's own ones, which it reads itself. */
const others = (value: JsonObject, own: readonly unknown[], ...steps: string[]): Content[] =>
  Object.entries(value)
    .filter(([name]) => !own.includes(name))
    .map(([name, of]) => ({ steps: [...steps, name], value: of }));

/** Returns the members of an object, found by their names in a program or on the wire. */
export const membersIn = (fields: Fields, values: JsonObject): readonly Content[] =>
  Object.entries(values).map(([name, value]) => {
    const field = fieldOf(fields, name) ?? fieldsByWireName(fields).get(name)?.[1];
    return { ...(field ? { field } : {}), steps: [name], value };
  });

/** The members that the service adds to each object. */
export const addedMembers: readonly string[] = ["id", ...Object.keys(outputFields)];

/**
 * Returns what a value consists of, in its own order: its parts, which have fields themselves, and
 * whatever no field covers. Accepts both a program's values and the service's JSON.
 */
export const contentsOf = (field: Field, value: unknown): readonly Content[] => {
  const misshapen = isObject(value) || Array.isArray(value) ? [{ steps: [], value }] : [];
  switch (field.type) {
    case "object":
      return isObject(value) ? membersIn(field.fields, value) : misshapen;
    case "reference":
      return isObject(value)
        ? membersIn(field.to.fields, value).filter(
            ({ steps: [name] }) => !addedMembers.includes(String(name)),
          )
        : misshapen;
    case "list": {
      const { envelope, of } = field;
      const beside = envelope && isObject(value) ? others(value, [envelope]) : [];
      const items = unwrapped(envelope, value);
      if (!Array.isArray(items)) return [...beside, { steps: [], value: items }];
      return [...beside, ...items.map((item, at) => ({ field: of, steps: [at], value: item }))];
    }
    case "map": {
      const members = membersOf(field);
      if (isObject(value))
        return Object.entries(value).map(([key, of]) => ({
          field: field.of,
          steps: [key],
          value: of,
        }));
      return listAt(value).flatMap((entry) => {
        if (!isObject(entry)) return [{ steps: [], value: entry }];
        const key = keyOf(field, entry) ?? "";
        const inner = { field: field.of, steps: [key], value: memberOf(entry, members.value) };
        return [...others(entry, [members.key, members.value], key), inner];
      });
    }
    default:
      return field.type === "text" && field.envelope !== undefined && isObject(value)
        ? others(value, [field.envelope])
        : misshapen;
  }
};

/** A field and one of its values, at any depth inside an object. */
interface FieldValue extends FieldPath {
  readonly value: unknown;
}

/**
 * Returns the value of every field inside an object with its readable path, parents first. Accepts
 * both a program's values and the service's JSON. Omits absent values, and what belongs to a
 * referenced object.
 */
export const valuesIn = (fields: Fields, values: JsonObject): readonly FieldValue[] => {
  const inside = (contents: readonly Content[], parent: string): FieldValue[] =>
    contents.flatMap(({ field, steps: [step], value }) => {
      if (!field || value === undefined) return [];
      const member = parent ? `${parent}.${step}` : String(step);
      const path = typeof step === "number" ? `${parent}[${step}]` : member;
      const inner = field.type === "reference" ? [] : inside(contentsOf(field, value), path);
      return [{ field, path, value }, ...inner];
    });
  return inside(membersIn(fields, values), "");
};

/** A reference in a program's values. */
export interface ReferenceIn {
  /** A readable path, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: unknown;
}

/** Returns every reference in an object's values. */
export const referencesIn = (fields: Fields, values: JsonObject): readonly ReferenceIn[] =>
  valuesIn(fields, values).flatMap(({ field, path, value }) =>
    field.type === "reference" ? [{ path, to: field.to, id: value }] : [],
  );

/** Returns a field's new value, or undefined to remove the member. */
export type ChangeValue = (field: Field, value: unknown) => unknown;

/**
 * Returns an object, in a program's terms, with `change` applied to every member that has a field.
 */
export const changeMembers = (
  fields: Fields,
  values: JsonObject,
  change: ChangeValue,
): JsonObject =>
  objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = fieldOf(fields, name);
      return [name, field ? change(field, value) : value];
    }),
  );

/**
 * Returns a value, in a program's terms, with `change` applied to its direct content: members,
 * items, or entries. A value stays unchanged if its shape does not match its field.
 */
export const changeInside = (field: Field, value: unknown, change: ChangeValue): unknown => {
  switch (field.type) {
    case "object":
      return isObject(value) ? changeMembers(field.fields, value, change) : value;
    case "list":
      return Array.isArray(value) ? value.map((item) => change(field.of, item)) : value;
    case "map":
      return isObject(value)
        ? objectOf(Object.entries(value).map(([key, of]) => [key, change(field.of, of)]))
        : value;
    default:
      return value;
  }
};

/** Returns the path to a member of an object or a map, as a program would write it. */
export const memberPath = (path: string, name: string): string => {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
};

/** Replaces the vendor's own word by the neutral one, such as `platform_bot`. */
const neutralWord = (field: Field | undefined, value: string): string => {
  const words = field?.type === "text" ? (field.values ?? []) : [];
  const isVendors = (word: string) =>
    word.startsWith("platform_") && value.endsWith(word.slice("platform".length));
  return words.includes(value) ? value : (words.find(isVendors) ?? value);
};

const identityText = (field: ListField, item: unknown): string | undefined => {
  const { of } = field;
  const values = identityOf(field).map((name) => {
    const value = isObject(item) ? memberOf(item, name) : undefined;
    const member = of.type === "object" ? of.fields[name] : undefined;
    const isShown = typeof value === "string" || typeof value === "number";
    return isShown && !holdsUnknown(value) ? neutralWord(member, String(value)) : undefined;
  });
  return values.length > 0 && !values.includes(undefined) ? values.join(", ") : undefined;
};

/**
 * Returns the path to a list item: by its identity, as in `roles[custom_bot]`, if the list defines
 * one and it is known; otherwise, by its position.
 *
 * @param item In a program's terms.
 */
export const itemPath = (path: string, field: ListField, item: unknown, place: number): string =>
  `${path}[${identityText(field, item) ?? place}]`;

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

/**
 * Returns values in the normal form that is checked, compared, and stored. This form has defaults
 * and derived members, JSON text instead of objects where the wire format uses text, and no
 * undefined values. Invalid values pass through unchanged, for the check to report.
 *
 * @param isFilled whether a top-level member gets its default if it is omitted; by default, every
 * member does
 */
export const normaliseFields = (
  { fields, rule }: Members,
  values: JsonObject,
  isFilled: (name: string) => boolean = () => true,
): JsonObject => {
  const filled = objectOf([
    ...Object.entries(fields).map(
      ([name, field]) =>
        [
          name,
          normaliseValue(field, values[name]) ?? (isFilled(name) ? defaultOf(field) : undefined),
        ] as const,
    ),
    ...Object.entries(values).filter(([name]) => !Object.hasOwn(fields, name)),
  ]);
  return discriminated(rule, filled);
};

const normaliseValue = (field: Field, value: unknown): unknown => {
  if (value === unknownValue) return value;
  if (field.type === "text") return field.json && isObject(value) ? jsonText(value) : value;
  return field.type === "object" && isObject(value)
    ? normaliseFields(field, value)
    : changeInside(field, value, normaliseValue);
};

const jsonText = (value: JsonObject): string =>
  holdsUnknown(value) ? unknownValue : JSON.stringify(value);

/** Returns the value that a program sets if it omits a field; undefined if there is none. */
const defaultOf = (field: Field): unknown => ("default" in field ? field.default : undefined);

/** Returns the value that an omitted member has in the service; undefined if there is none. */
export const defaultIn = (field: Field): unknown => defaultOf(field) ?? field.serviceDefault;

/** The values, with the discriminator derived from the one member that is present. */
const discriminated = (rule: MemberRule | undefined, values: JsonObject): JsonObject => {
  if (!rule || !("exactlyOne" in rule) || values[rule.discriminator] !== undefined) return values;
  const there = Object.entries(rule.exactlyOne).filter(
    ([, member]) => values[member] !== undefined,
  );
  const [only] = there.length === 1 ? there : [];
  return only ? { ...values, [rule.discriminator]: only[0] } : values;
};
