import { isObject, type JsonObject, jsonIn, listAt, memberOf, objectOf } from "../kernel/json.js";
import {
  holdsUnknown,
  isSecretValue,
  secretPathsBelow,
  undisclosed,
  unknownValue,
} from "../kernel/pulumi.js";
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
} from "./define.js";

const fieldOf = (fields: Fields, name: string): Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** The field of a member: of an object the one with its name, of a map the one of all. */
const fieldOfMember = (field: Field | undefined, name: string): Field | undefined => {
  if (field?.type === "map") return field.of;
  return field?.type === "object" ? fieldOf(field.fields, name) : undefined;
};

/** Returns the name of a field in the service's JSON. */
export const wireName = (name: string, field: Field): string => field.wire ?? name;

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
const membersIn = (fields: Fields, values: JsonObject): readonly Content[] => {
  const all = Object.values(fields);
  return Object.entries(values).map(([name, value]) => {
    const field = fieldOf(fields, name) ?? all.find(({ wire }) => wire === name);
    return { ...(field ? { field } : {}), steps: [name], value };
  });
};

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
          normaliseValue(field, values[name]) ??
            (isFilled(name) && "default" in field ? field.default : undefined),
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

/** Returns the value that an omitted member has in the service; undefined if there is none. */
export const defaultIn = (field: Field): unknown =>
  ("default" in field ? field.default : undefined) ?? field.serviceDefault;

/** The values, with the discriminator derived from the one member that is present. */
const discriminated = (rule: MemberRule | undefined, values: JsonObject): JsonObject => {
  if (!rule || !("exactlyOne" in rule) || values[rule.discriminator] !== undefined) return values;
  const there = Object.entries(rule.exactlyOne).filter(
    ([, member]) => values[member] !== undefined,
  );
  const [only] = there.length === 1 ? there : [];
  return only ? { ...values, [rule.discriminator]: only[0] } : values;
};

// Is it secret? By its definition, by the program that marks it, or by the service that masks it.

const holders = new WeakMap<Field, boolean>();

export const holdsSecret = (field: Field): boolean => {
  const known = holders.get(field);
  if (known !== undefined) return known;
  const holds = fieldsIn({ field }).some((inner) => inner.field.secret === true);
  holders.set(field, holds);
  return holds;
};

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

/** Returns field values with every secret replaced, or omitted if `change` gives undefined. */
export const changeFieldSecrets = (
  fields: Fields,
  values: JsonObject,
  change: (secret: unknown) => unknown,
): JsonObject => {
  const inside: ChangeValue = (field, value) => {
    if (value === undefined || value === null || !holdsSecret(field)) return value;
    return field.secret ? change(value) : changeInside(field, value, inside);
  };
  return changeMembers(fields, values, inside);
};

/** Returns values without the placeholders for secrets that nobody knows, or not yet. */
export const withoutPlaceholders = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, (secret) =>
    secret === undisclosed || secret === unknownValue ? undefined : secret,
  );

/** Returns values with every secret undisclosed, so that they can be written to a file. */
export const withoutSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, () => undisclosed);

/** @param field what the definition knows of the value; what is secret by it needs no mark */
const pathsIn = (value: unknown, field?: Field): readonly string[] => {
  if (field?.secret) return [];
  if (isSecretValue(value)) return [""];
  if (Array.isArray(value)) {
    const of = field?.type === "list" ? field.of : undefined;
    return value.some((item) => pathsIn(item, of).length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    secretPathsBelow(name, pathsIn(member, fieldOfMember(field, name))),
  );
};

const sortedPaths = (found: readonly string[]): readonly string[] | undefined => {
  const paths = new Set(found);
  if (paths.has("")) return [""];
  return paths.size > 0 ? [...paths].sort() : undefined;
};

/**
 * Returns the paths to values in a resource's fields that a program marks as secret, except those
 * that are secret by definition; undefined if there are none.
 */
export const markedSecrets = (fields: Fields, values: JsonObject): readonly string[] | undefined =>
  sortedPaths(
    Object.entries(fields).flatMap(([name, field]) =>
      secretPathsBelow(name, pathsIn(values[name], field)),
    ),
  );

/**
 * Returns every string in an object that messages must not show: strings from secret fields and
 * from members without a field, and the Basic credentials that the fields form. Accepts both a
 * program's values and the service's JSON.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const members = membersIn(fields, values);
  return collectTexts(members.filter(({ steps: [name] }) => !addedMembers.includes(String(name))));
};

/** What no field covers may be anything, so all its texts are hidden. */
const collectTexts = (contents: Contents): string[] => [
  ...contents.flatMap(({ field, value }) =>
    !field || field.secret ? textsIn(value) : collectTexts(contentsOf(field, value)),
  ),
  ...collectCredentials(contents),
];

type Contents = ReturnType<typeof contentsOf>;

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
const collectCredentials = (contents: Contents): string[] => {
  const texts = contents.flatMap(({ field, value }) =>
    field?.type === "text" && typeof value === "string" ? [{ isSecret: field.secret, value }] : [],
  );
  const names = texts.filter(({ isSecret }) => !isSecret);
  return texts
    .filter(({ isSecret }) => isSecret)
    .flatMap((secret) => names.flatMap((name) => basicCredentials(name.value, secret.value)));
};

/**
 * Returns every form of the credentials in a Basic header (RFC 7617). Messages must hide them, too,
 * because they reveal even a password too short to search for.
 */
export const basicCredentials = (user: string, password: string): string[] =>
  (["utf8", "latin1"] as const).flatMap((charset) => {
    const bytes = Buffer.from(`${user}:${password}`, charset);
    return [bytes.toString("base64"), bytes.toString("base64url")];
  });

const words =
  /^\W*((value )?(is )?(hidden|secret|redacted|masked|filtered|protected|private|encrypted|obfuscated|sensitive|confidential|suppressed|removed|omitted|not (shown|displayed|disclosed|available))( value)?|string)\W*$/i;

/** Whether a string may be a mask that a service shows instead of a secret. */
export const looksMasked = (text: string): boolean =>
  /[*•●]{3}/.test(text) ||
  /^\s*[*•●.#-][*•●.#\s-]*$/.test(text) ||
  (/^[*•●xX.#\s-]+$/.test(text) && /x.*x.*x/i.test(text)) ||
  words.test(text);
