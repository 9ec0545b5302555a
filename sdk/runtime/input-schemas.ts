import { z } from "zod";
import { guardInput, inputInvalid } from "./caller-input.js";

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
export const checkInput = <T>(
  doing: string,
  name: string,
  schema: z.ZodType<T>,
  value: unknown,
): T =>
  guardInput(doing, () => {
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
export const checkOptions = <O extends object>(doing: string, schema: z.ZodType, options: O): O => {
  const copy = guardInput(doing, () => ({ ...options }));
  checkInput(doing, "options", schema, copy);
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

/** Schema for a value that JSON can hold. */
export const jsonValue: z.ZodType<unknown> = z.lazy(() =>
  z.union(
    [z.string(), z.number(), z.boolean(), z.null(), z.array(jsonValue), jsonObject],
    "is not a JSON value",
  ),
);

/** Schema for what no document describes: an object that JSON can hold. */
export const jsonObject = z.record(z.string(), jsonValue, "must be a JSON object");
