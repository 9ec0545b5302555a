import { isObject, type JsonObject, objectOf } from "../kernel/json.js";
import { holdsUnknown, unknownValue } from "../kernel/stand-ins.js";
import type { Field, MemberRule, Members } from "./define.js";
import { changeInside } from "./walk.js";

const normaliseValue = (field: Field, value: unknown): unknown => {
  if (value === unknownValue) return value;
  if (field.type === "text") return field.json && isObject(value) ? jsonText(value) : value;
  return field.type === "object" && isObject(value)
    ? normaliseFields(field, value)
    : changeInside(field, value, normaliseValue);
};

const jsonText = (value: JsonObject): string =>
  holdsUnknown(value) ? unknownValue : JSON.stringify(value);

/** What the service takes where nothing is said; undefined where it takes nothing. */
export const defaultOf = (field: Field): unknown =>
  "default" in field ? field.default : undefined;

/**
 * Values in the one form that is checked, compared and stored: defaults filled in, what follows
 * from other members derived, objects given for JSON text turned into text, undefined left out.
 * Wrong values pass through untouched, for the check to name them.
 *
 * @param isFilled whether a member at the top takes its default where it is left out; every member if left out
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

/** The values, with the discriminator that follows from the one member that is there. */
export const discriminated = (rule: MemberRule | undefined, values: JsonObject): JsonObject => {
  if (!rule || !("exactlyOne" in rule) || values[rule.discriminator] !== undefined) return values;
  const there = Object.entries(rule.exactlyOne).filter(
    ([, member]) => values[member] !== undefined,
  );
  const [only] = there.length === 1 ? there : [];
  return only ? { ...values, [rule.discriminator]: only[0] } : values;
};
