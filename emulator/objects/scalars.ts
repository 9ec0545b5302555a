import type { NumberField, ReferenceField, TextField } from "../../provider/definition/define.js";
import { type Switches, vendorWord } from "../control/switches.js";
import type { ValidationErrors } from "../http/validation-errors.js";

interface Sized {
  readonly min?: number;
  readonly max?: number;
}

/** Says that a size is out of its bounds. */
export const checkSize = (
  size: number,
  { min, max }: Sized,
  unit: string,
  path: string,
  errors: ValidationErrors,
): boolean => {
  if (min !== undefined && size < min) {
    errors.invalid(path, `must have at least ${min} ${unit}`);
    return false;
  }
  if (max !== undefined && size > max) {
    errors.invalid(path, `must have at most ${max} ${unit}`);
    return false;
  }
  return true;
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

export const checkText = (
  field: TextField,
  value: unknown,
  path: string,
  switches: Switches,
  errors: ValidationErrors,
) => {
  if (typeof value !== "string") return errors.invalid(path, "must be a string");
  if (field.values) {
    const values = field.values.map((word) => vendorWord(word, switches));
    return values.includes(value) ? undefined : errors.notAllowed(path, values);
  }
  if (!checkSize(value.length, field, "characters", path, errors) || !field.format) return;
  const { fits, rule } = formats[field.format];
  if (!fits(value)) errors.invalid(path, rule);
};

export const checkNumber = (
  field: NumberField,
  value: unknown,
  path: string,
  errors: ValidationErrors,
) => {
  // JSON can hold numbers that are too large for any number here.
  if (typeof value !== "number" || !Number.isFinite(value))
    return errors.invalid(path, "must be a number");
  if (field.integer && !Number.isInteger(value))
    return errors.invalid(path, "must be a whole number");
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
  if (value < min || value > max)
    errors.invalid(path, `must be ${value < min ? `at least ${min}` : `at most ${max}`}`);
};

/** The id of another object: text of a stated length, or a sensible one. */
export const checkId = (
  field: ReferenceField,
  value: unknown,
  path: string,
  errors: ValidationErrors,
) => {
  if (typeof value !== "string") return errors.invalid(path, "must be a string");
  const { length } = field;
  if (length !== undefined && value.length !== length) {
    return errors.invalid(path, `must have exactly ${length} characters`);
  }
  checkSize(value.length, { min: 1, max: 255 }, "characters", path, errors);
};
