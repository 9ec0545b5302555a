import { z } from "zod";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { unknownValue } from "../kernel/unknown.js";
import type {
  Definition,
  Field,
  ListField,
  MapField,
  MemberRule,
  Members,
  ReferenceField,
  TextField,
} from "./define.js";
import { ruleIssue } from "./member-rule.js";
import { withArticle } from "./references.js";

const isHttpUrl = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const formats = {
  url: { rule: "must be an absolute http or https address", accepts: isHttpUrl },
  email: {
    rule: "must be an e-mail address",
    accepts: (value: string) => /^[^\s@]+@[^\s@]+$/.test(value),
  },
  base64: {
    rule: "must be base64 text, without a data: prefix",
    // Padding may be left out, but not be wrong.
    accepts: (value: string) =>
      /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(value),
  },
} as const;

const bounds = ({ min, max }: Sized): string => {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
};

const within = (size: number, { min = 0, max = Number.POSITIVE_INFINITY }: Sized): boolean =>
  size >= min && size <= max;

interface Sized {
  readonly min?: number;
  readonly max?: number;
}

const textSchema = (field: TextField): z.ZodType => {
  if (field.values) {
    return z.enum(field.values, { error: `must be one of ${field.values.join(", ")}` });
  }
  const { format } = field;
  const sized = z
    .string({ error: field.json ? "must be text or an object" : "must be text" })
    .refine((value) => within(value.length, field), {
      error: `must have ${bounds(field)} characters`,
      abort: true,
    });
  return format
    ? sized.refine((value) => formats[format].accepts(value), { error: formats[format].rule })
    : sized;
};

const keysAreUnique = (field: ListField) => (items: unknown) => {
  const { key } = field;
  if (!key || !Array.isArray(items)) return true;
  const keys = items.map((item) => (isObject(item) ? item[key] : undefined));
  const known = keys.filter((value) => value !== undefined && value !== unknownValue);
  return new Set(known).size === known.length;
};

const listSchema = (field: ListField): z.ZodType =>
  z
    .array(fieldSchema(field.of), { error: "must be a list" })
    .refine((items) => within(items.length, field), {
      error: `must have ${bounds(field)} items`,
      when: ({ value }) => Array.isArray(value),
    })
    .refine(keysAreUnique(field), {
      error: `must not hold two items with the same ${field.key}`,
      when: ({ value }) => Array.isArray(value),
    });

const mapSchema = (field: MapField): z.ZodType =>
  z
    .record(z.string(), fieldSchema(field.of), { error: "must be an object of keys and values" })
    .refine((entries) => !Object.hasOwn(entries, ""), {
      error: "must not have an empty key",
      when: ({ value }) => isObject(value),
    })
    .refine((entries) => within(Object.keys(entries).length, field), {
      error: `must have ${bounds(field)} entries`,
      when: ({ value }) => isObject(value),
    });

/** What was given, shortened: an id is no secret. */
const shown = (given: unknown): string => {
  if (typeof given === "object") return Array.isArray(given) ? "a list" : "an object";
  const text = [...String(given)];
  if (typeof given !== "string") return text.join("");
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39).join("")}…` : given);
};

const referenceSchema = ({ length, to }: ReferenceField): z.ZodType => {
  const signs = length ? `${length} letters, digits and hyphens` : `letters, digits, "_" and "-"`;
  const isRight = (id: string): boolean => isId(id) && (!length || id.length === length);
  return z
    .string({ error: ({ input }) => `must be a resource or its id, not ${shown(input)}` })
    .refine(isRight, {
      error: ({ input }) =>
        `must be the id of ${withArticle(to.noun)}: ${signs}; not ${shown(input)}`,
    });
};

const fieldSchema = (field: Field): z.ZodType => {
  switch (field.type) {
    case "text":
      return textSchema(field);
    case "number": {
      const numbers = field.integer
        ? z.int({ error: "must be a whole number" })
        : z.number({ error: "must be a number" });
      return numbers.refine((value) => within(value, field), { error: `must be ${bounds(field)}` });
    }
    case "flag":
      return z.boolean({ error: "must be true or false" });
    case "reference":
      return referenceSchema(field);
    case "object":
      return objectSchema(field);
    case "list":
      return listSchema(field);
    case "map":
      return mapSchema(field);
  }
};

/** A discriminator follows from the member it names: where it is missing, the rule says what is. */
const isRequired = (rule: MemberRule | undefined, name: string, field: Field): boolean =>
  field.required === true && !(rule && "exactlyOne" in rule && rule.discriminator === name);

const objectSchema = ({ fields, rule }: Members): z.ZodType => {
  const members = Object.entries(fields).map(
    ([name, field]) =>
      [
        name,
        isRequired(rule, name, field) ? fieldSchema(field) : fieldSchema(field).optional(),
      ] as const,
  );
  const schema = z.strictObject(Object.fromEntries(members), { error: objectError });
  return rule
    ? schema.refine((values) => ruleIssue(rule, values) === undefined, {
        error: ({ input }) => ruleIssue(rule, input) ?? "",
        when: ({ value }) => isObject(value),
      })
    : schema;
};

const objectError = (issue: { readonly code?: string }): string | undefined =>
  issue.code === "invalid_type" ? "must be an object" : undefined;

const schemas = new WeakMap<Definition, z.ZodType>();

/** The zod schema of a kind's inputs as a program gives them, made on first use. */
export const inputSchema = (definition: Definition): z.ZodType => {
  const known = schemas.get(definition);
  if (known) return known;
  const schema = objectSchema(definition);
  schemas.set(definition, schema);
  return schema;
};

/** A rule that a value breaks: the path as a person would write it, and the rule in words. */
export interface Violation {
  readonly path: string;
  readonly rule: string;
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === "number"
        ? `${text}[${part}]`
        : text
          ? `${text}.${String(part)}`
          : String(part),
    "",
  );

const isUnknownAt = (values: unknown, path: readonly PropertyKey[]): boolean => {
  let value = values;
  for (const part of path) {
    if (value === unknownValue) return true;
    value = Array.isArray(value)
      ? value[Number(part)]
      : isObject(value)
        ? value[String(part)]
        : undefined;
  }
  return value === unknownValue;
};

/** Every rule that normalised inputs break. Values not known yet are forgiven, and nothing else. */
export const schemaViolations = (
  definition: Definition,
  inputs: JsonObject,
): readonly Violation[] => {
  const result = inputSchema(definition).safeParse(inputs, { reportInput: true });
  if (result.success) return [];
  return result.error.issues
    .filter((issue) => !isUnknownAt(inputs, issue.path))
    .flatMap((issue): Violation[] => {
      if (issue.code === "unrecognized_keys") {
        return issue.keys.map((key) => ({
          path: pathText([...issue.path, key]),
          rule: `is not a property of ${definition.kind}; fields that only the service knows go into "extra"`,
        }));
      }
      const missing = issue.code !== "custom" && issue.input === undefined && issue.path.length > 0;
      return [{ path: pathText(issue.path), rule: missing ? "is required" : issue.message }];
    });
};
