import { z } from "zod";
import { isObject, type JsonObject, mostLevels } from "../../provider/kernel/json.js";
import { inputInvalid, prepared } from "./caller-input.js";

const mostNamed = 5;

/** `list.sections[0].title`: the path of a value in the input. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");

/** Returns up to five broken rules, such as `content.list.sections[0].title: must be a string`. */
export const violations = (issues: readonly z.core.$ZodIssue[]): string =>
  issues
    .slice(0, mostNamed)
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`))
    .join("; ");

/**
 * Returns the caller's input if it is valid.
 *
 * @param name the name of the value, in case the value itself breaks a rule
 * @throws ConversationError `INPUT_INVALID` naming each member that breaks a rule
 */
export const checkedInput = <T>(
  doing: string,
  name: string,
  schema: z.ZodType<T>,
  value: unknown,
): T =>
  prepared(doing, () => {
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    const issues = error.issues.map((issue) =>
      issue.path.length === 0 ? { ...issue, path: [name] } : issue,
    );
    throw inputInvalid(doing, violations(issues));
  });

/**
 * Returns a validated copy of the options, unaffected by later changes to the caller's object.
 *
 * @throws ConversationError `INPUT_INVALID` naming each invalid option
 */
export const checkedOptions = <O extends object>(
  doing: string,
  schema: z.ZodType,
  options: O,
): O => {
  const copy = prepared(doing, () => ({ ...options }));
  checkedInput(doing, "options", schema, copy);
  return copy;
};

/** Schema that accepts any function, unchanged. */
export const anyFunction = z.custom<(...values: never) => unknown>(
  (value) => typeof value === "function",
  { message: "must be a function" },
);

const signal = z.custom<AbortSignal>((value) => value instanceof AbortSignal, {
  message: "must be an AbortSignal",
});

/** Longest time that a timer can wait: about 24 days. */
const longestMs = 2 ** 31 - 1;

/** Schema for a time limit in milliseconds. */
export const timeLimit = z
  .int({ message: "must be a whole number of milliseconds" })
  .positive("must be greater than 0")
  .max(longestMs, `must be at most ${longestMs}`);

/** Schema for a string in a URL. Rejects unpaired surrogates. */
export const addressText = z
  .string({ message: "must be a string" })
  .refine((text) => text.isWellFormed(), { message: "contains an unpaired surrogate" });

/** Options for a call. */
export interface CallOptions {
  /**
   * Signal that cancels the call while it is waiting for its turn. A write that has already been
   * sent still completes.
   */
  readonly signal?: AbortSignal;
}

/** Schema for the options that every call accepts. */
export const callOptions = z.looseObject(
  { signal: signal.optional() },
  { message: "must be an object" },
);

/** No body of the service comes near it. */
const mostValues = 1_000_000;

/** So many steps of a path are enough to find a value. */
const mostShown = 12;

/** A value inside another one. */
interface InnerValue {
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** What JSON.stringify would write by itself, or leave out. */
const isWritable = (value: unknown): boolean => typeof value !== "bigint";

/** Whether JSON can hold a value and return it unchanged. */
const isJson = (value: unknown): boolean =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "object" && (Array.isArray(value) || isPlain(value)));

const membersOf = ({ value, path }: InnerValue): readonly InnerValue[] => {
  if (Array.isArray(value)) {
    return Array.from(value, (inner, index) => ({ value: inner, path: [...path, index] }));
  }
  if (typeof value !== "object" || value === null) return [];
  // A value with its own `toJSON` is not examined.
  if (typeof Reflect.get(value, "toJSON") === "function") return [];
  return Object.entries(value).map(([name, inner]) => ({ value: inner, path: [...path, name] }));
};

/** The first error found inside a value; the depth of the search is limited. */
const problemIn = (whole: unknown, allows: (value: unknown) => boolean): string | undefined => {
  const open: InnerValue[] = [{ value: whole, path: [] }];
  for (let seen = 0; ; seen++) {
    const next = open.pop();
    if (!next) return undefined;
    const at = () => pathText(next.path.slice(0, mostShown));
    if (!allows(next.value)) return `${at()} is not a JSON value`.trim();
    if (next.path.length > mostLevels) {
      return `${at()}… is nested more than ${mostLevels} levels deep, or contains itself`;
    }
    if (seen >= mostValues) return `it contains more than ${mostValues} values`;
    open.push(...membersOf(next));
  }
};

/** Schema for undocumented members: any JSON object. */
export const jsonObject = z.custom<JsonObject>().superRefine((value, context) => {
  const problem = isObject(value) ? problemIn(value, isJson) : "";
  if (problem === undefined) return;
  const message = `must be a JSON object${problem === "" ? "" : `: ${problem}`}`;
  context.addIssue({ code: "custom", message });
});

/**
 * Checks that JSON.stringify can serialize a value.
 *
 * @throws ConversationError `INPUT_INVALID` naming the member that cannot be written
 */
export const assertJson = (doing: string, name: string, value: unknown): void =>
  prepared(doing, () => {
    const problem = problemIn(value, isWritable);
    if (problem !== undefined)
      throw inputInvalid(doing, `${name} cannot be written as JSON: ${problem}`);
    try {
      JSON.stringify(value);
    } catch (error) {
      throw inputInvalid(doing, `${name} cannot be written as JSON; see the cause`, error);
    }
  });
