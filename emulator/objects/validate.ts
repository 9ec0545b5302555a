import {
  type Definition,
  type Field,
  type Fields,
  identityOf,
  idLength,
  keyLengths,
  type ListField,
  type MapField,
  type MemberRule,
  type NumberField,
  type TextField,
} from "../../provider/definition/define.js";
import { membersOf } from "../../provider/definition/fields.js";
import { countCharacters } from "../../provider/definition/violations.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { HttpError } from "../http/exchange.js";
import type { Switches } from "../service/switches.js";

const neutral = "platform_";

/**
 * An identifier on the wire, with the vendor's word instead of `platform`. Deliberately independent
 * of the provider and the client, so that the emulator does not accept their mistakes.
 */
export const vendorWord = (
  word: string,
  { platformName }: Pick<Switches, "platformName">,
): string => (word.startsWith(neutral) ? `${platformName}_${word.slice(neutral.length)}` : word);

/** What can be wrong with a value: the vendor's code, and the rule in words where it is always the same. */
const errorKinds = {
  missing: ["400-143", "a required attribute is missing"],
  /** A value that is not allowed. */
  invalid: ["400-196", "is not allowed"],
  /** A text or a list. */
  tooLong: ["400-358", "is too long"],
  /** Within the body. */
  duplicate: ["400-138", "must be unique"],
  /** A member that the schema does not have. */
  unknown: ["400-420", "is not a known attribute"],
  /** A message type that this sender may not send. */
  notForSender: ["400-199", "is not for this sender"],
} as const;

type ErrorKind = keyof typeof errorKinds;

/** The errors found in a body, in order. New errors are recorded at `path`. */
export class ValidationErrors {
  constructor(
    readonly path = "",
    private readonly found: {
      readonly path: string;
      readonly kind: ErrorKind;
      readonly rule: string;
    }[] = [],
  ) {}

  /** Returns a view of the same errors. The view records each new error under the given member. */
  at(member: string): ValidationErrors {
    return new ValidationErrors(this.path ? `${this.path}.${member}` : member, this.found);
  }

  /** Returns a view of the same errors. The view records each new error under the given item. */
  item(index: number): ValidationErrors {
    return new ValidationErrors(`${this.path}[${index}]`, this.found);
  }

  report(kind: ErrorKind, rule: string = errorKinds[kind][1]): void {
    this.found.push({ path: this.path, kind, rule });
  }

  /** @throws HttpError for the first error, with all errors as details */
  assertNone(): void {
    const [first] = this.found;
    if (!first) return;
    const details = this.found.map(({ path, rule }) => ({ key: path, value: rule }));
    throw new HttpError(400, errorKinds[first.kind][0], `${first.path}: ${first.rule}.`, details);
  }
}

/** The rule for a value that must be one of some words. */
export const oneOf = (words: readonly string[]): string => `must be one of ${words.join(", ")}`;

/** Reports a size that is out of bounds; returns whether it is within them. */
const checkSize = (
  size: number,
  { min, max }: { readonly min?: number; readonly max?: number },
  unit: string,
  errors: ValidationErrors,
): boolean => {
  const isSmall = min !== undefined && size < min;
  const isLarge = max !== undefined && size > max;
  const count = (limit = 0): string => `${limit} ${unit}${limit === 1 ? "" : "s"}`;
  if (isSmall) errors.report("invalid", `must have at least ${count(min)}`);
  else if (isLarge) errors.report("tooLong", `must have at most ${count(max)}`);
  return !isSmall && !isLarge;
};

const isUrl = (text: string): boolean =>
  /^https?:\/\/[^/\s]/i.test(text) && !/\s/.test(text) && URL.canParse(text);

const isEmail = (text: string): boolean => {
  const [local, domain, ...more] = text.split("@");
  return Boolean(local) && Boolean(domain) && more.length === 0 && !/\s/.test(text);
};

/** With or without padding: a single digit holds no byte, and padding fills up to four. */
const isBase64 = (text: string): boolean => {
  const digits = text.replace(/={1,2}$/, "");
  if (/[^A-Za-z0-9+/]/.test(digits)) return false;
  return digits === text ? text.length % 4 !== 1 : text.length % 4 === 0;
};

/** Whether a value is an ISO 8601 date-time, the format of `created` and `modified` (vendor). */
export const isDateTime = (value: unknown): value is string =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(value) &&
  !Number.isNaN(Date.parse(value));

export const dateTimeRule = "must be an ISO 8601 date-time";

const formats = {
  url: { fits: isUrl, rule: "must be an absolute http or https URL" },
  email: { fits: isEmail, rule: "must be an email address" },
  base64: { fits: isBase64, rule: "must be base64 text" },
  time: { fits: isDateTime, rule: dateTimeRule },
} as const;

/** @param words the allowed values, as the vendor spells them */
const checkText = (
  field: TextField,
  value: unknown,
  words: readonly string[] | undefined,
  errors: ValidationErrors,
) => {
  if (typeof value !== "string") return errors.report("invalid", "must be a string");
  if (words) return words.includes(value) ? undefined : errors.report("invalid", oneOf(words));
  if (!checkSize(countCharacters(value), field, "character", errors) || !field.format) return;
  const { fits, rule } = formats[field.format];
  if (!fits(value)) errors.report("invalid", rule);
};

const checkNumber = (field: NumberField, value: unknown, errors: ValidationErrors) => {
  // JSON can hold numbers that are too large for any number here.
  if (typeof value !== "number" || !Number.isFinite(value))
    return errors.report("invalid", "must be a number");
  if (field.integer && !Number.isInteger(value))
    return errors.report("invalid", "must be a whole number");
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
  if (value < min || value > max)
    errors.report("invalid", `must be ${value < min ? `at least ${min}` : `at most ${max}`}`);
};

/** The ID of another object. */
const checkId = (value: unknown, errors: ValidationErrors) => {
  if (typeof value !== "string") return errors.report("invalid", "must be a string");
  checkSize(value.length, { min: idLength, max: idLength }, "character", errors);
};

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** The member that the discriminator requires; undefined if none. */
const neededMember = (rule: MemberRule | undefined, values: JsonObject): string | undefined => {
  if (!rule || !("exactlyOne" in rule)) return undefined;
  const chosen = values[rule.discriminator];
  return typeof chosen === "string" && Object.hasOwn(rule.exactlyOne, chosen)
    ? rule.exactlyOne[chosen]
    : undefined;
};

/**
 * Checks which members may occur together; the presence of the required one is checked like that of
 * a required field.
 */
const checkRule = (rule: MemberRule, values: JsonObject, errors: ValidationErrors): void => {
  if ("atLeastOne" in rule) {
    const { atLeastOne, only } = rule;
    const [first, ...others] = atLeastOne.filter((member) => !isMissing(values[member]));
    if (first === undefined) errors.at(atLeastOne.join(" or ")).report("missing");
    // What belongs to another form is none of its members.
    if (only) for (const other of others) errors.at(other).report("unknown");
    return;
  }
  const needed = neededMember(rule, values);
  if (needed === undefined) return;
  const reason = `is not an attribute of ${rule.discriminator} ${values[rule.discriminator]}`;
  for (const other of Object.values(rule.exactlyOne))
    if (other !== needed && !isMissing(values[other])) errors.at(other).report("unknown", reason);
};

const checkUnique = (key: string, items: readonly unknown[], errors: ValidationErrors): void => {
  const seen = new Set<unknown>();
  items.forEach((item, place) => {
    const value = isObject(item) ? item[key] : undefined;
    if (isMissing(value)) return;
    if (seen.has(value)) errors.item(place).at(key).report("duplicate");
    seen.add(value);
  });
};

/** The key of the object that wraps a value, such as `{ "id": … }`; undefined if there is none. */
const envelopeOf = (field: Field): string | undefined => {
  if (field.type === "reference") return field.plainId ? undefined : "id";
  return field.type === "text" || field.type === "list" ? field.envelope : undefined;
};

/** Refuses every member other than these. */
const checkNames = (
  values: JsonObject,
  isKnown: (name: string) => boolean,
  errors: ValidationErrors,
): void => {
  for (const name of Object.keys(values))
    if (!isKnown(name)) errors.at(name.slice(0, 100)).report("unknown");
};

/** Returns fields by their names in the service's JSON. */
export const fieldsInJson = (fields: Fields): ReadonlyMap<string, Field> =>
  new Map(Object.entries(fields).map(([name, field]) => [field.wire ?? name, field]));

/** Checks values, each against its field, and returns them in the form to store. */
class Validator {
  constructor(private readonly switches: Switches) {}

  /** The object with the defaults filled in. */
  fields(
    { fields, rule }: { readonly fields: Fields; readonly rule?: MemberRule | undefined },
    values: JsonObject,
    errors: ValidationErrors,
  ): JsonObject {
    const known = fieldsInJson(fields);
    const needed = neededMember(rule, values);
    const checked: [string, unknown][] = [...known].map(([name, field]) => {
      const value = values[name];
      const isRequired = field.required || name === needed;
      if (value !== undefined && !(value === null && isRequired))
        return [name, this.#field(field, value, errors.at(name))];
      if (isRequired) errors.at(name).report("missing");
      const usual = "default" in field ? field.default : undefined;
      return [name, usual ?? field.serviceDefault];
    });
    checkNames(values, (name) => known.has(name), errors);
    if (rule) checkRule(rule, values, errors);
    return objectOf(checked);
  }

  #field(field: Field, value: unknown, errors: ValidationErrors): unknown {
    const key = envelopeOf(field);
    if (!key) return this.#value(field, value, errors);
    if (!isObject(value)) return errors.report("invalid", "must be an object");
    const { [key]: inner } = value;
    const checked = isMissing(inner)
      ? errors.at(key).report("missing")
      : this.#value(field, inner, errors.at(key));
    checkNames(value, (name) => name === key, errors);
    return { [key]: checked };
  }

  /** A value without its envelope. */
  #value(field: Field, value: unknown, errors: ValidationErrors): unknown {
    switch (field.type) {
      case "text": {
        const words = field.values?.map((word) => vendorWord(word, this.switches));
        checkText(field, value, words, errors);
        return value;
      }
      case "number":
        checkNumber(field, value, errors);
        return value;
      case "flag":
        if (typeof value !== "boolean") errors.report("invalid", "must be true or false");
        return value;
      case "reference":
        checkId(value, errors);
        return value;
      case "object":
        if (isObject(value)) return this.fields(field, value, errors);
        return errors.report("invalid", "must be an object");
      case "list":
        return this.#list(field, value, errors);
      case "map":
        return this.#map(field, value, errors);
    }
  }

  #list(field: ListField, items: unknown, errors: ValidationErrors): unknown {
    if (!Array.isArray(items)) return errors.report("invalid", "must be an array");
    checkSize(items.length, field, "item", errors);
    const checked = items.map((item, place) => this.#field(field.of, item, errors.item(place)));
    for (const name of field.unique ? identityOf(field) : []) checkUnique(name, items, errors);
    return checked;
  }

  #map(field: MapField, entries: unknown, errors: ValidationErrors): unknown {
    if (!Array.isArray(entries)) return errors.report("invalid", "must be an array");
    checkSize(entries.length, field, "item", errors);
    checkUnique(membersOf(field).key, entries, errors);
    return entries.map((entry, place) => this.#entry(field, entry, errors.item(place)));
  }

  #entry(field: MapField, entry: unknown, errors: ValidationErrors): unknown {
    if (!isObject(entry)) return errors.report("invalid", "must be an object");
    const { key, value: member } = membersOf(field);
    const { [key]: name, [member]: value } = entry;
    if (isMissing(name)) errors.at(key).report("missing");
    else if (typeof name !== "string") errors.at(key).report("invalid", "must be a string");
    else if (field.keys?.includes(name) === false)
      errors.at(key).report("invalid", oneOf(field.keys));
    else checkSize(countCharacters(name), keyLengths, "character", errors.at(key));
    if (isMissing(value)) return errors.at(member).report("missing");
    const checked = this.#field(field.of, value, errors.at(member));
    checkNames(entry, (other) => other === key || other === member, errors);
    return { [key]: name, [member]: checked };
  }
}

/**
 * Validates a body and returns it in the form to store.
 *
 * @throws HttpError 400 that names every attribute that breaks a rule
 */
export const validate = (definition: Definition, body: JsonObject, switches: Switches) => {
  const errors = new ValidationErrors();
  const checked = new Validator(switches).fields(definition, body, errors);
  errors.assertNone();
  return checked;
};

/** Records what in a body breaks the rules of these fields, including every unknown member. */
export const checkFields = (
  fields: Fields,
  body: JsonObject,
  errors: ValidationErrors,
  switches: Switches,
): void => {
  new Validator(switches).fields({ fields }, body, errors);
};
