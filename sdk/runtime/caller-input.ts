import { z } from "zod";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";

const mostNamed = 5;

/** `list.sections[0].title`: where something stands in what was given. */
export const placeOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");

/** `content.list.sections[0].title: must be text`, each rule that is broken, at most five. */
export const brokenRules = (issues: readonly z.core.$ZodIssue[]): string => {
  const named = issues.slice(0, mostNamed).map(({ path, message }) => {
    const where = placeOf(path);
    return where === "" ? message : `${where}: ${message}`;
  });
  return named.join("; ");
};

/** What the caller gave breaks a rule; nothing was sent. */
export const inputInvalid = (doing: string, rule: string, cause?: unknown): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not ${doing}: ${rule}. Nothing was sent.`,
    {},
    "none",
    cause === undefined ? undefined : { cause },
  );

/** What getting a call ready failed with: the caller's to mend, such as a member that throws when it is read. */
export const inputFailure = (doing: string, error: unknown): ConversationError =>
  isConversationError(error)
    ? error
    : inputInvalid(doing, "what was given cannot be read, see the cause", error);

/**
 * Gets a call ready.
 *
 * @throws ConversationError `INPUT_INVALID` with the cause, where what the caller gave cannot be read
 */
export const prepared = <T>(doing: string, prepare: () => T): T => {
  try {
    return prepare();
  } catch (error) {
    throw inputFailure(doing, error);
  }
};

/**
 * What the caller gave, checked.
 *
 * @param name how the value is called, where the value itself breaks a rule
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
    throw inputInvalid(doing, brokenRules(issues));
  });

/** Any function, as it is. */
export const anyFunction = z.custom<(...values: never) => unknown>(
  (value) => typeof value === "function",
  { message: "must be a function" },
);

const signal = z.custom<AbortSignal>((value) => value instanceof AbortSignal, {
  message: "must be an AbortSignal",
});

/** Longest time that a timer can wait: about 24 days. */
const longestMs = 2 ** 31 - 1;

/** A time limit in milliseconds. */
export const timeLimit = z
  .int({ message: "must be a whole number of milliseconds" })
  .positive("must be above 0")
  .max(longestMs, `must be at most ${longestMs}`);

/** Text that can stand in an address: no half of a pair of UTF-16 units. */
export const addressText = z
  .string({ message: "must be text" })
  .refine((text) => text.isWellFormed(), { message: "holds half of a character" });

/** Options that every call takes. */
export const callOptions = z.looseObject(
  { signal: signal.optional() },
  { message: "must be an object" },
);

/** Members without those that are left out, for types that tell the two apart. */
export const givenOnly = <T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
