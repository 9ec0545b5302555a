import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  MemberRule,
} from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Switches } from "../control/switches.js";
import { ValidationErrors } from "../http/validation-errors.js";
import { checkId, checkNumber, checkSize, checkText } from "./scalars.js";

/** What belongs to a body and is nobody's field. */
const serverSet = new Set(["id", "created", "modified"]);

interface Validation {
  readonly switches: Switches;
  readonly errors: ValidationErrors;
}

const below = (path: string, name: string): string => (path ? `${path}.${name}` : name);

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** What the switch leaves of the members that nobody knows. */
const unknownMembers = (
  values: JsonObject,
  isKnown: (name: string) => boolean,
  path: string,
  { switches, errors }: Validation,
): readonly (readonly [string, unknown])[] => {
  const unknown = Object.entries(values).filter(([name]) => !isKnown(name));
  if (switches.unknownFields === "refuse")
    for (const [name] of unknown)
      errors.invalid(below(path, name.slice(0, 100)), "is not an attribute");
  return switches.unknownFields === "keep" ? unknown : [];
};

/** The member that the discriminator asks for; undefined where it asks for none. */
const neededMember = (rule: MemberRule | undefined, values: JsonObject): string | undefined => {
  if (!rule || !("exactlyOne" in rule)) return undefined;
  const chosen = values[rule.discriminator];
  return typeof chosen === "string" && Object.hasOwn(rule.exactlyOne, chosen)
    ? rule.exactlyOne[chosen]
    : undefined;
};

/** Checks which members stand together; that the needed one is there is checked as for a required field. */
const checkRule = (
  rule: MemberRule,
  values: JsonObject,
  path: string,
  { errors }: Validation,
): void => {
  if ("atLeastOne" in rule) {
    if (rule.atLeastOne.every((member) => isMissing(values[member])))
      errors.missing(below(path, rule.atLeastOne.join(" or ")));
    return;
  }
  const needed = neededMember(rule, values);
  if (needed === undefined) return;
  const reason = `does not go with ${rule.discriminator} ${values[rule.discriminator]}`;
  for (const other of Object.values(rule.exactlyOne))
    if (other !== needed && !isMissing(values[other])) errors.invalid(below(path, other), reason);
};

/** The object with what the switch leaves of its unknown members, and the defaults filled in. */
const checkFields = (
  fields: Fields,
  rule: MemberRule | undefined,
  values: JsonObject,
  path: string,
  validation: Validation,
): JsonObject => {
  const known = fieldsByWireName(fields);
  const needed = neededMember(rule, values);
  const checked: [string, unknown][] = [...known].map(([name, [, field]]) => {
    const value = values[name];
    const isRequired = field.required || name === needed;
    if (value !== undefined && !(value === null && isRequired))
      return [name, checkField(field, value, below(path, name), validation)];
    if (isRequired) validation.errors.missing(below(path, name));
    return [name, "default" in field ? field.default : undefined];
  });
  const isKnown = (name: string): boolean =>
    known.has(name) || (path === "" && serverSet.has(name));
  const unknown = unknownMembers(values, isKnown, path, validation);
  if (rule) checkRule(rule, values, path, validation);
  return objectOf([...checked, ...unknown]);
};

const checkKeys = (
  key: string,
  items: readonly unknown[],
  path: string,
  { errors }: Validation,
): void => {
  const seen = new Set<unknown>();
  items.forEach((item, place) => {
    const value = isObject(item) ? item[key] : undefined;
    if (isMissing(value)) return;
    if (seen.has(value)) errors.invalid(`${path}[${place}].${key}`, "must be unique");
    seen.add(value);
  });
};

const checkList = (
  field: ListField,
  items: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { errors } = validation;
  if (!Array.isArray(items)) return errors.invalid(path, "must be an array");
  checkSize(items.length, field, "items", path, errors);
  const checked = items.map((item, place) =>
    checkField(field.of, item, `${path}[${place}]`, validation),
  );
  if (field.key) checkKeys(field.key, items, path, validation);
  return checked;
};

const checkEntry = (
  field: MapField,
  entry: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { errors } = validation;
  const { key, value: member } = membersOf(field);
  if (!isObject(entry)) return errors.invalid(path, "must be an object");
  const { [key]: name, [member]: value } = entry;
  if (isMissing(name)) errors.missing(below(path, key));
  else if (typeof name !== "string" || name === "")
    errors.invalid(below(path, key), "must be a string that is not empty");
  if (isMissing(value)) return errors.missing(below(path, member));
  const checked = checkField(field.of, value, below(path, member), validation);
  const isKnown = (other: string): boolean => other === key || other === member;
  const rest = unknownMembers(entry, isKnown, path, validation);
  return objectOf([[key, name], [member, checked], ...rest]);
};

const checkMap = (
  field: MapField,
  entries: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { errors } = validation;
  if (!Array.isArray(entries)) return errors.invalid(path, "must be an array");
  checkSize(entries.length, field, "items", path, errors);
  checkKeys(membersOf(field).key, entries, path, validation);
  return entries.map((entry, place) => checkEntry(field, entry, `${path}[${place}]`, validation));
};

/** A value without what it travels in. */
const checkValue = (
  field: Field,
  value: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { errors, switches } = validation;
  switch (field.type) {
    case "text":
      checkText(field, value, path, switches, errors);
      return value;
    case "number":
      checkNumber(field, value, path, errors);
      return value;
    case "flag":
      if (typeof value !== "boolean") errors.invalid(path, "must be true or false");
      return value;
    case "reference":
      checkId(field, value, path, errors);
      return value;
    case "object":
      if (isObject(value)) return checkFields(field.fields, field.rule, value, path, validation);
      return errors.invalid(path, "must be an object");
    case "list":
      return checkList(field, value, path, validation);
    case "map":
      return checkMap(field, value, path, validation);
  }
};

/** The one key of the object that a value travels in, such as `{ "id": … }`; undefined: in none. */
const wrapperKey = (field: Field): string | undefined => {
  if (field.type === "reference") return field.plainId ? undefined : "id";
  return field.type === "text" || field.type === "list" ? field.envelope : undefined;
};

const checkField = (
  field: Field,
  value: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { errors } = validation;
  const key = wrapperKey(field);
  if (!key) return checkValue(field, value, path, validation);
  if (!isObject(value)) return errors.invalid(path, "must be an object");
  const { [key]: inner } = value;
  const checked = isMissing(inner)
    ? errors.missing(below(path, key))
    : checkValue(field, inner, below(path, key), validation);
  const rest = unknownMembers(value, (name) => name === key, path, validation);
  return objectOf([[key, checked], ...rest]);
};

/**
 * A body as it is to be kept.
 *
 * @throws HttpError 400 that names every attribute that breaks a rule
 */
export const validate = (
  definition: Definition,
  body: JsonObject,
  switches: Switches,
): JsonObject => {
  const errors = new ValidationErrors();
  const checked = checkFields(definition.fields, definition.rule, body, "", { switches, errors });
  errors.assertNone();
  return checked;
};

/**
 * Whether an object could once have been stored. Words that a switch spells (`platformName`) and
 * unknown members are let pass: the switch may have been another then.
 */
export const hasShape = (
  definition: Definition,
  object: JsonObject,
  switches: Switches,
): boolean => {
  const errors = new ValidationErrors();
  const lenient = { switches: { ...switches, unknownFields: "keep" as const }, errors };
  checkFields(definition.fields, definition.rule, object, "", lenient);
  return !errors.hasBrokenShape;
};
