import type { NumberField, ReferenceField, TextField } from "../../provider/definition/define.js";
import type { ValidationErrors } from "../http/validation-errors.js";

/** Says that a size is out of its bounds, and whether it is within them. */
export const checkSize = (
  size: number,
  { min, max }: { readonly min?: number; readonly max?: number },
  unit: string,
  errors: ValidationErrors,
): boolean => {
  const isSmall = min !== undefined && size < min;
  const isLarge = max !== undefined && size > max;
  if (isSmall) errors.invalid(`must have at least ${min} ${unit}`);
  else if (isLarge) errors.invalid(`must have at most ${max} ${unit}`);
  return !isSmall && !isLarge;
};

const isUrl = (text: string): boolean =>
  /^https?:\/\/[^/\s]/i.test(text) && !/\s/.test(text) && URL.canParse(text);

const isEmail = (text: string): boolean => {
  const [local, domain, ...more] = text.split("@");
  return Boolean(local) && Boolean(domain) && more.length === 0 && !/\s/.test(text);
};

/** With padding or without: one digit alone holds no byte, and padding fills up to four. */
const isBase64 = (text: string): boolean => {
  const digits = text.replace(/={1,2}$/, "");
  if (/[^A-Za-z0-9+/]/.test(digits)) return false;
  return digits === text ? text.length % 4 !== 1 : text.length % 4 === 0;
};

const formats = {
  url: { fits: isUrl, rule: "must be an absolute http or https address" },
  email: { fits: isEmail, rule: "must be an e-mail address" },
  base64: { fits: isBase64, rule: "must be base64 text" },
} as const;

/** @param words the values allowed, as the vendor spells them */
export const checkText = (
  field: TextField,
  value: unknown,
  words: readonly string[] | undefined,
  errors: ValidationErrors,
) => {
  if (typeof value !== "string") return errors.invalid("must be a string");
  if (words) return words.includes(value) ? undefined : errors.notAllowed(words);
  if (!checkSize(value.length, field, "characters", errors) || !field.format) return;
  const { fits, rule } = formats[field.format];
  if (!fits(value)) errors.invalid(rule);
};

export const checkNumber = (field: NumberField, value: unknown, errors: ValidationErrors) => {
  // JSON can hold numbers that are too large for any number here.
  if (typeof value !== "number" || !Number.isFinite(value))
    return errors.invalid("must be a number");
  if (field.integer && !Number.isInteger(value)) return errors.invalid("must be a whole number");
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
  if (value < min || value > max)
    errors.invalid(`must be ${value < min ? `at least ${min}` : `at most ${max}`}`);
};

/** The id of another object: text of a stated length, or a sensible one. */
export const checkId = ({ length }: ReferenceField, value: unknown, errors: ValidationErrors) => {
  if (typeof value !== "string") return errors.invalid("must be a string");
  if (length !== undefined && value.length !== length)
    return errors.invalid(`must have exactly ${length} characters`);
  checkSize(value.length, { min: 1, max: 255 }, "characters", errors);
};
