import { isObject, type JsonObject } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { unknownValue } from "../kernel/pulumi.js";
import { abbreviated, nearestHint, quoted, valueSort } from "../kernel/text.js";
import {
  type Field,
  type Fields,
  identityOf,
  idLength,
  keyLengths,
  type ListField,
  type MapField,
  type MemberRule,
  type Members,
  type NumberField,
  type ReferenceField,
  type TextField,
} from "./define.js";
import { fieldsIn } from "./fields.js";
import { isAutomatic, withArticle } from "./kinds.js";

/** A rule that a value breaks: a readable path to the value, and the rule in words. */
export interface Violation {
  readonly path: string;
  readonly rule: string;
}

/** Returns the resource of the program that has the object with an ID, if one is known. */
type HolderOf = (id: string) => { readonly kind: string; readonly label: string } | undefined;

/** The place of a value: its path, and its kind. */
interface Place {
  readonly holderOf: HolderOf;
  readonly path: string;
  readonly kind: string;
  /** All members that the kind may have. */
  readonly whole: Members;
}

type Rules = readonly (string | false | undefined)[];

/** Counts characters as a schema does: code points (RFC 8259), of which an emoji is one, not two. */
export const countCharacters = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

export const isHttpUrl = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const formats = {
  url: { rule: "must be an absolute http or https URL", accepts: isHttpUrl },
  email: {
    rule: "must be an email address",
    accepts: (value: string) => /^[^\s@]+@[^\s@]+$/.test(value),
  },
  base64: {
    rule: "must be base64 text, without a data: prefix",
    // Padding may be omitted, but not be wrong.
    accepts: (value: string) =>
      /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(value),
  },
  time: {
    rule: "must be an ISO 8601 date-time",
    accepts: (value: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(value),
  },
} as const;

interface Sized {
  readonly min?: number;
  readonly max?: number;
}

const bounds = ({ min, max }: Sized): string => {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
};

const within = (size: number, { min = 0, max = Number.POSITIVE_INFINITY }: Sized): boolean =>
  size >= min && size <= max;

/** Names the type of a wrong value: the value may be a misplaced secret. */
const otherSort = (rule: string, value: unknown): string => `${rule}, not ${valueSort(value)}`;

/**
 * A value that is sent inside an object with one key may have been given with that object around
 * it.
 */
const takenOut = (envelope: string | undefined, value: unknown): string =>
  envelope !== undefined && isObject(value) ? `: pass its ${envelope}` : "";

const textRules = (field: TextField, value: unknown): Rules => {
  const { values, format, json, envelope } = field;
  if (typeof value !== "string") {
    const rule = json ? "must be a string or an object" : "must be a string";
    return [otherSort(rule, value) + takenOut(envelope, value)];
  }
  if (values?.includes(value) === false) {
    const rule = `must be one of ${values.join(", ")}`;
    return [field.secret ? rule : `${rule}, not ${quoted(value)}${nearestHint(value, values)}`];
  }
  const length = countCharacters(value);
  if (!within(length, field)) return [`must have ${bounds(field)} characters, not ${length}`];
  // The state and reports would show them.
  const url = format === "url" ? URL.parse(value) : null;
  if (url?.username || url?.password)
    return [
      "must not contain a user name or password: set them in an Authentication (basicAuth, or headers of oauth2)",
    ];
  if (!format || formats[format].accepts(value)) return [];
  const { rule } = formats[format];
  // A web address may contain a password.
  return [format === "email" && !field.secret ? `${rule}, not ${quoted(value)}` : rule];
};

const numberRules = (field: NumberField, value: unknown): Rules => {
  const rule = field.integer ? "must be a whole number" : "must be a number";
  if (typeof value !== "number") return [otherSort(rule, value)];
  const isRight = field.integer ? Number.isSafeInteger(value) : Number.isFinite(value);
  const not = field.secret ? "" : `, not ${value}`;
  if (!isRight) return [`${rule}${not}`];
  return [!within(value, field) && `must be ${bounds(field)}${not}`];
};

/** The given value, shortened: an ID is not a secret, unless the program marks it as one. */
const shown = (given: unknown, secret: true | undefined): string => {
  if (secret || typeof given === "object") return valueSort(given);
  return typeof given === "string" ? JSON.stringify(abbreviated(given, 40)) : String(given);
};

const referenceRules = (
  { secret, to }: ReferenceField,
  value: unknown,
  { holderOf }: Place,
): Rules => {
  if (typeof value !== "string")
    return [`must be a resource or its ID, not ${shown(value, secret)}`];
  const signs = `${idLength} letters, digits, and hyphens`;
  const isRight = isId(value) && value.length === idLength;
  const holder = holderOf(value);
  return [
    holder &&
      holder.kind !== to.kind &&
      `must be the ID of ${withArticle(to.noun)}; ${secret ? "the given one" : value} is ${holder.label} in this program`,
    !isRight && `must be the ID of ${withArticle(to.noun)}: ${signs}; not ${shown(value, secret)}`,
  ];
};

/**
 * The first value that two items share in a member; values not known yet may turn out to differ.
 */
const sharedValue = (name: string, items: readonly unknown[]): unknown => {
  const values = items.map((item) => (isObject(item) ? item[name] : undefined));
  const known = values.filter((value) => value !== undefined && value !== unknownValue);
  return known.find((value, place) => known.indexOf(value) !== place);
};

/** `, "customer"`: a word that the kind allows; any other value may be a misplaced secret. */
const wordText = (field: Field | undefined, value: unknown): string =>
  field?.type === "text" && !field.secret && field.values?.some((word) => word === value)
    ? `, ${JSON.stringify(value)}`
    : "";

const listRules = (field: ListField, items: readonly unknown[]): Rules => {
  const members = field.of.type === "object" ? field.of.fields : {};
  return [
    !within(items.length, field) &&
      `must have ${bounds(field)} ${field.max === 1 ? "item" : "items"}, not ${items.length}`,
    ...(field.unique ? identityOf(field) : []).map((name) => {
      const shared = sharedValue(name, items);
      const word = wordText(members[name], shared);
      return shared !== undefined && `must not contain two items with the same ${name}${word}`;
    }),
  ];
};

const keyRule = ({ keys }: MapField, key: string): string | false => {
  if (keys)
    return !keys.includes(key) && `must be one of ${keys.join(", ")}${nearestHint(key, keys)}`;
  return (
    !within(countCharacters(key), keyLengths) &&
    `must have a key of ${bounds(keyLengths)} characters`
  );
};

const mapRules = (field: MapField, entries: JsonObject): Rules => [
  Object.hasOwn(entries, "") && "must not have an empty key",
  !within(Object.keys(entries).length, field) && `must have ${bounds(field)} entries`,
];

const broken = ({ path }: Place, rules: Rules): readonly Violation[] =>
  rules.flatMap((rule) => (typeof rule === "string" ? [{ path, rule }] : []));

const member = ({ path, ...rest }: Place, name: string): Place => ({
  ...rest,
  path: path ? `${path}.${name}` : name,
});

/** The places in the kind that have a property of this name, as a program would write them. */
const placesOf = (name: string, { fields }: Members): readonly string[] =>
  fieldsIn(fields).flatMap(({ path }) => (path.split(".").at(-1) === name ? [path] : []));

/** The probable intention behind an unknown property. */
const meantBy = (name: string, fields: Fields, { path, whole }: Place): string => {
  const elsewhere = placesOf(name, whole);
  if (elsewhere.length > 0)
    return `${path === "" ? "" : " here"}: it belongs in ${elsewhere.join(" or ")}`;
  return nearestHint(name, Object.keys(fields));
};

const meant: Readonly<Record<string, string>> = {
  String: "an output inside a string: write pulumi.interpolate`…` instead of `…`",
  JSON: "an output inside JSON text: write pulumi.jsonStringify(…) instead of JSON.stringify(…)",
};

/**
 * Returns the error for a string that contains an output converted to text (Pulumi replaces the
 * output with a sentence); undefined for any other string.
 */
export const outputAsText = (text: string): string | undefined => {
  const [, way = ""] = /Calling \[to(String|JSON)\] on an \[Output<T>\]/.exec(text) ?? [];
  const rule = meant[way];
  return rule && `contains ${rule}`;
};

/**
 * A run with --target knows no outputs of resources that it leaves out: no ID for a reference, and
 * no `Ownership`, from which an automatic name is derived.
 */
const leftOutHint = (field: Field): string => {
  if (field.type === "reference") return " (with --target, target its resource, too)";
  return isAutomatic(field) ? " (with --target, target the stack's Ownership, too)" : "";
};

/** The rules that a value breaks; none if the value is not known yet. */
const valueViolations = (field: Field, value: unknown, place: Place): readonly Violation[] => {
  if (value === unknownValue) return [];
  if (value === undefined) return broken(place, [`is required${leftOutHint(field)}`]);
  const output = typeof value === "string" ? outputAsText(value) : undefined;
  if (output !== undefined) return broken(place, [output]);
  switch (field.type) {
    case "text":
      return broken(place, textRules(field, value));
    case "number":
      return broken(place, numberRules(field, value));
    case "flag":
      return broken(place, [
        typeof value !== "boolean" && otherSort("must be true or false", value),
      ]);
    case "reference":
      return broken(place, referenceRules(field, value, place));
    case "object":
      return membersViolations(field, value, place);
    case "list":
      return listViolations(field, value, place);
    case "map":
      return mapViolations(field, value, place);
  }
};

const listViolations = (field: ListField, items: unknown, place: Place): readonly Violation[] => {
  if (!Array.isArray(items))
    return broken(place, [otherSort("must be a list", items) + takenOut(field.envelope, items)]);
  const inside = items.flatMap((item, number) =>
    valueViolations(field.of, item, { ...place, path: `${place.path}[${number}]` }),
  );
  return [...inside, ...broken(place, listRules(field, items))];
};

const mapViolations = (field: MapField, entries: unknown, place: Place): readonly Violation[] => {
  if (!isObject(entries))
    return broken(place, [otherSort("must be an object of key-value pairs", entries)]);
  const inside = Object.entries(entries).flatMap(([key, value]) => [
    ...(key === "" ? [] : broken(member(place, key), [keyRule(field, key)])),
    ...valueViolations(field.of, value, member(place, key)),
  ]);
  return [...inside, ...broken(place, mapRules(field, entries))];
};

/** A discriminator is derived from the member it names: if that is missing, the rule reports it. */
const isRequired = (rule: MemberRule | undefined, name: string, field: Field): boolean =>
  field.required === true && !(rule && "exactlyOne" in rule && rule.discriminator === name);

const membersViolations = (
  { fields, rule }: Members,
  values: unknown,
  place: Place,
): readonly Violation[] => {
  if (!isObject(values)) return broken(place, [otherSort("must be an object", values)]);
  const own = new Map(Object.entries(values));
  const inside = Object.entries(fields).flatMap(([name, field]) => {
    const value = own.get(name);
    const isLeftOut = value === undefined && !isRequired(rule, name, field);
    return isLeftOut ? [] : valueViolations(field, value, member(place, name));
  });
  const others = [...own.keys()].filter((name) => !Object.hasOwn(fields, name));
  const isNone = (name: string): string =>
    `is not a property of ${place.kind}${meantBy(name, fields, place)}`;
  return [
    ...inside,
    ...others.flatMap((name) => broken(member(place, name), [isNone(name)])),
    ...broken(place, [rule && ruleIssue(rule, values)]),
  ];
};

/**
 * Returns every rule that normalized inputs break. Values that are not known yet are accepted; all
 * others are checked.
 */
export const fieldViolations = (
  definition: Members & { readonly kind: string },
  inputs: JsonObject,
  holderOf: HolderOf = () => undefined,
): readonly Violation[] =>
  membersViolations(definition, inputs, {
    ...{ path: "", kind: definition.kind, whole: definition, holderOf },
  });

/** The rule on its members that a value breaks, in words; undefined if it certainly breaks none. */
const ruleIssue = (rule: MemberRule, values: unknown): string | undefined => {
  if ("atLeastOne" in rule) {
    const { atLeastOne, only } = rule;
    const { length } = atLeastOne.filter((name) => isObject(values) && values[name] !== undefined);
    if (length === 0) return `needs ${atLeastOne.join(" or ")}`;
    return only && length > 1 ? `needs only one of ${atLeastOne.join(", ")}` : undefined;
  }
  return isObject(values) ? choiceIssue(rule, values) : undefined;
};

type Choice = Extract<MemberRule, { readonly discriminator: string }>;

/** A member that is not known yet may turn out to be absent. */
const choiceIssue = (rule: Choice, values: JsonObject): string | undefined => {
  const members = Object.values(rule.exactlyOne);
  const there = members.filter((member) => values[member] !== undefined);
  const certain = there.filter((member) => values[member] !== unknownValue);
  if (there.length === 0 || certain.length > 1) {
    return `needs exactly one of ${members.join(" and ")}`;
  }
  const chosen = values[rule.discriminator];
  // Any other word is refused at its own place.
  if (typeof chosen !== "string" || !Object.hasOwn(rule.exactlyOne, chosen)) return undefined;
  const possible = certain.length > 0 ? certain : there;
  const fits = possible.some((member) => member === rule.exactlyOne[chosen]);
  return fits
    ? undefined
    : `has ${rule.discriminator} ${chosen}, which needs ${rule.exactlyOne[chosen]}, but gives ${possible.join(" and ")}`;
};
