import { isObject, type JsonObject, jsonIn, listAt, memberOf, objectOf } from "../kernel/json.js";
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

const holders = new WeakMap<Field, boolean>();

/** Whether a field is a secret or contains one at any depth. */
export const holdsSecret = (field: Field): boolean => {
  const known = holders.get(field);
  if (known !== undefined) return known;
  const holds = inside(field, "").some((inner) => inner.field.secret === true);
  holders.set(field, holds);
  return holds;
};

/** A field and one of its values, at any depth inside an object. */
export interface FieldValue extends FieldPath {
  readonly value: unknown;
}

/**
 * Returns an object's members that have a field, found by the field's name in a program or on the
 * wire.
 */
export const membersIn = (fields: Fields, values: JsonObject): readonly FieldValue[] => {
  const own = new Map(Object.entries(values));
  return Object.entries(fields).flatMap(([path, field]) =>
    [...new Set([path, field.wire ?? path])].flatMap((key) => {
      const value = own.get(key);
      return value === undefined ? [] : [{ field, path, value }];
    }),
  );
};

const entriesIn = (field: MapField, value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value)
    ? Object.entries(value)
    : listAt(value)
        .filter(isObject)
        .map((entry) => [keyOf(field, entry) ?? "", memberOf(entry, membersOf(field).value)]);

const insideValue = (field: Field, value: unknown, path: string): FieldValue[] => {
  const own = { field, path, value };
  switch (field.type) {
    case "object":
      return isObject(value) ? [own, ...valuesIn(field.fields, value, `${path}.`)] : [own];
    case "list":
      return [
        own,
        ...listAt(unwrapped(field.envelope, value)).flatMap((item, place) =>
          insideValue(field.of, item, `${path}[${place}]`),
        ),
      ];
    case "map":
      return [
        own,
        ...entriesIn(field, value).flatMap(([key, of]) =>
          insideValue(field.of, of, `${path}.${key}`),
        ),
      ];
    default:
      return [own];
  }
};

/**
 * Returns the value of every field inside an object with its readable path, parents first. Accepts
 * both a program's values and the service's JSON. Omits absent values.
 */
export const valuesIn = (fields: Fields, values: JsonObject, prefix = ""): readonly FieldValue[] =>
  membersIn(fields, values).flatMap(({ field, path, value }) =>
    insideValue(field, value, prefix + path),
  );

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

const withSecrets = (field: Field, paths: readonly string[]): Field => {
  if (paths.length === 0 || field.secret) return field;
  // The content of a list or a map has no path of its own.
  const inside = field.type === "object" && !paths.includes("") ? paths : [""];
  const secret = inside === paths ? {} : { secret: true as const };
  if (field.type === "object")
    return { ...field, ...secret, fields: fieldsWithSecrets(field.fields, inside) };
  return "of" in field
    ? ({ ...field, ...secret, of: withSecrets(field.of, inside) } as Field)
    : { ...field, ...secret };
};

/**
 * Returns fields with `secret` set on those that the program marks as secret.
 *
 * @param paths such as `callback` or `oauth.clientId`; the empty path means all of them
 */
export const fieldsWithSecrets = (fields: Fields, paths: readonly string[] = []): Fields => {
  if (paths.length === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const inside = paths.flatMap((path) => {
        if (path === "" || path === name) return [""];
        return path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [];
      });
      return [name, withSecrets(field, inside)];
    }),
  );
};

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

/**
 * Returns every string in an object that messages must not show: strings from secret fields and
 * from members without a field, and the Basic credentials that the fields form. Accepts both a
 * program's values, including `extra`, and the service's JSON.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const inner = valuesIn(fields, values).map(({ field, value }) =>
    field.type === "object" && isObject(value) ? membersIn(field.fields, value) : [],
  );
  return [
    ...inObject(fields, values),
    ...[membersIn(fields, values), ...inner].flatMap(credentialsOf),
  ];
};

const byService: readonly string[] = ["id", ...Object.keys(outputFields)];

const inObject = (fields: Fields, values: JsonObject): string[] =>
  inMembers(
    fields,
    Object.fromEntries(Object.entries(values).filter(([name]) => !byService.includes(name))),
  );

/** The secret texts under names that a definition knows, and all texts under other names. */
const inMembers = (fields: Fields, values: JsonObject): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const field = fieldOf(fields, name) ?? fieldsByWireName(fields).get(name)?.[1];
    return field ? inField(field, value) : textsIn(value);
  });

/** The definition does not cover a value whose shape differs from its field's. */
const inField = (field: Field, value: unknown): string[] => {
  if (field.secret) return textsIn(value);
  switch (field.type) {
    case "object":
      return isObject(value) ? inMembers(field.fields, value) : textsIn(value);
    case "list": {
      const items = unwrapped(field.envelope, value);
      const others = beside(value, [field.envelope]);
      if (!Array.isArray(items)) return [...others, ...textsIn(items)];
      return [...others, ...items.flatMap((item) => inField(field.of, item))];
    }
    case "map": {
      const { key, value: member } = membersOf(field);
      if (!Array.isArray(value))
        return Object.values(isObject(value) ? value : { value }).flatMap((of) =>
          inField(field.of, of),
        );
      return value.flatMap((entry) =>
        isObject(entry)
          ? [...inField(field.of, memberOf(entry, member)), ...beside(entry, [key, member])]
          : textsIn(entry),
      );
    }
    case "reference":
      // Anything else that a service shows of the object belongs to that object.
      return isObject(value) ? inObject(field.to.fields, value) : [];
    default:
      return field.type === "text" && field.envelope !== undefined
        ? beside(value, [field.envelope])
        : isObject(value) || Array.isArray(value)
          ? textsIn(value)
          : [];
  }
};

/** The texts of a value outside the members that form a field. */
const beside = (value: unknown, own: readonly (string | undefined)[]): string[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, of]) => (own.includes(name) ? [] : textsIn(of)))
    : [];

/**
 * Returns every nonempty string and every number inside a value, including those in strings that
 * contain JSON.
 */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value === "" ? [] : [value, ...jsonTexts(value)];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

const jsonTexts = (text: string): string[] => (/^\s*[[{]/.test(text) ? textsIn(jsonIn(text)) : []);

/** A text and a secret next to each other may be used together as name and password. */
const credentialsOf = (members: readonly FieldValue[]): string[] => {
  const texts = members.filter(isText);
  const names = texts.filter(({ field }) => !field.secret);
  return texts
    .filter(({ field }) => field.secret)
    .flatMap((secret) => names.flatMap((name) => basicCredentials(name.value, secret.value)));
};

const isText = (member: FieldValue): member is FieldValue & { readonly value: string } =>
  member.field.type === "text" && typeof member.value === "string";

/**
 * Returns every form of the credentials in a Basic header (RFC 7617). Messages must hide them, too,
 * because they reveal even a password too short to search for.
 */
export const basicCredentials = (user: string, password: string): string[] =>
  (["utf8", "latin1"] as const).flatMap((charset) => {
    const bytes = Buffer.from(`${user}:${password}`, charset);
    return [bytes.toString("base64"), bytes.toString("base64url")];
  });
