import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
  MemberRule,
} from "../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { Findings } from "../control/findings.js";
import type { Switches } from "../control/switches.js";
import { checkRule, neededMember } from "./member-rule.js";
import { checkId, checkNumber, checkSize, checkText } from "./scalars.js";
import { fieldsByWire } from "./wire-fields.js";

/** What belongs to a body and is nobody's field. */
const serverSet = new Set(["id", "created", "modified"]);

interface Validation {
  readonly switches: Switches;
  readonly findings: Findings;
}

const below = (path: string, name: string): string => (path ? `${path}.${name}` : name);

/** What the switch leaves of the members that nobody knows. */
const unknownMembers = (
  values: JsonObject,
  isKnown: (name: string) => boolean,
  path: string,
  { switches, findings }: Validation,
): readonly (readonly [string, unknown])[] => {
  const unknown = Object.entries(values).filter(([name]) => !isKnown(name));
  if (switches.unknownFields === "refuse") {
    for (const [name] of unknown)
      findings.invalid(below(path, name.slice(0, 100)), "is not an attribute");
  }
  return switches.unknownFields === "keep" ? unknown : [];
};

/** The object with what the switch leaves of its unknown members, and the defaults filled in. */
const checkFields = (
  fields: Fields,
  rule: MemberRule | undefined,
  values: JsonObject,
  path: string,
  validation: Validation,
): JsonObject => {
  const { findings } = validation;
  const known = fieldsByWire(fields);
  const needed = neededMember(rule, values);
  const checked: [string, unknown][] = [...known].map(([name, field]) => {
    const value = values[name];
    const isRequired = field.required || name === needed;
    const isMissing = value === undefined || (value === null && isRequired);
    if (!isMissing) return [name, checkField(field, value, below(path, name), validation)];
    if (isRequired) findings.missing(below(path, name));
    return [name, "default" in field ? field.default : undefined];
  });
  const isKnown = (name: string): boolean =>
    known.has(name) || (path === "" && serverSet.has(name));
  const unknown = unknownMembers(values, isKnown, path, validation);
  if (rule) checkRule(rule, values, (member) => below(path, member), findings);
  return objectOf([...checked, ...unknown]);
};

const checkList = (
  field: ListField,
  value: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { findings } = validation;
  const inner = field.envelope ? below(path, field.envelope) : path;
  if (field.envelope && !isObject(value)) return findings.invalid(path, "must be an object");
  const items = field.envelope && isObject(value) ? value[field.envelope] : value;
  if (items === undefined || (items === null && field.envelope)) return findings.missing(inner);
  if (!Array.isArray(items)) return findings.invalid(inner, "must be an array");
  checkSize(items.length, field, "items", inner, findings);
  const checked = items.map((item, place) =>
    checkField(field.of, item, `${inner}[${place}]`, validation),
  );
  checkKeys(field.key, items, inner, findings);
  if (!field.envelope || !isObject(value)) return checked;
  const rest = unknownMembers(value, (name) => name === field.envelope, path, validation);
  return objectOf([[field.envelope, checked], ...rest]);
};

const checkKeys = (
  key: string | undefined,
  items: readonly unknown[],
  path: string,
  findings: Findings,
): void => {
  if (!key) return;
  const seen = new Set<unknown>();
  items.forEach((item, place) => {
    const value = isObject(item) ? item[key] : undefined;
    if (value === undefined || value === null) return;
    if (seen.has(value)) findings.invalid(`${path}[${place}].${key}`, "must be unique");
    seen.add(value);
  });
};

const checkMap = (
  field: MapField,
  value: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { findings } = validation;
  const { key, value: member } = field.members ?? { key: "name", value: "value" };
  if (!Array.isArray(value)) return findings.invalid(path, "must be an array");
  checkSize(value.length, field, "items", path, findings);
  checkKeys(key, value, path, findings);
  return value.map((entry, place) => {
    const here = `${path}[${place}]`;
    if (!isObject(entry)) return findings.invalid(here, "must be an object");
    const name = entry[key];
    if (name === undefined || name === null) findings.missing(below(here, key));
    else if (typeof name !== "string" || name === "")
      findings.invalid(below(here, key), "must be a string that is not empty");
    if (entry[member] === undefined || entry[member] === null) {
      findings.missing(below(here, member));
      return entry;
    }
    const checked = checkField(field.of, entry[member], below(here, member), validation);
    const isKnown = (other: string): boolean => other === key || other === member;
    const rest = unknownMembers(entry, isKnown, here, validation);
    return objectOf([[key, name], [member, checked], ...rest]);
  });
};

/** The text inside an object with one key, such as `{ "id": … }`. */
const checkBoxed = (
  key: string,
  value: unknown,
  path: string,
  validation: Validation,
  check: (inner: unknown, path: string) => void,
): unknown => {
  const { findings } = validation;
  if (!isObject(value)) return findings.invalid(path, "must be an object");
  if (value[key] === undefined || value[key] === null) findings.missing(below(path, key));
  else check(value[key], below(path, key));
  const rest = unknownMembers(value, (name) => name === key, path, validation);
  return objectOf([[key, value[key]], ...rest]);
};

const checkField = (
  field: Field,
  value: unknown,
  path: string,
  validation: Validation,
): unknown => {
  const { findings, switches } = validation;
  switch (field.type) {
    case "text": {
      const check = (text: unknown, where: string) =>
        checkText(field, text, where, switches.platformName, findings);
      if (field.envelope) return checkBoxed(field.envelope, value, path, validation, check);
      check(value, path);
      return value;
    }
    case "number":
      checkNumber(field, value, path, findings);
      return value;
    case "flag":
      if (typeof value !== "boolean") findings.invalid(path, "must be true or false");
      return value;
    case "reference": {
      const check = (id: unknown, where: string) => checkId(field, id, where, findings);
      if (!field.plainId) return checkBoxed("id", value, path, validation, check);
      check(value, path);
      return value;
    }
    case "object":
      if (isObject(value)) return checkFields(field.fields, field.rule, value, path, validation);
      return findings.invalid(path, "must be an object");
    case "list":
      return checkList(field, value, path, validation);
    case "map":
      return checkMap(field, value, path, validation);
  }
};

/**
 * A body as it is to be kept.
 *
 * @throws Refusal 400 that names every attribute that breaks a rule
 */
export const validate = (
  definition: Definition,
  body: JsonObject,
  switches: Switches,
): JsonObject => {
  const findings = new Findings();
  const checked = checkFields(definition.fields, definition.rule, body, "", { switches, findings });
  findings.assertNone();
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
  const findings = new Findings();
  const lenient = { switches: { ...switches, unknownFields: "keep" as const }, findings };
  checkFields(definition.fields, definition.rule, object, "", lenient);
  return !findings.hasBrokenShape;
};
