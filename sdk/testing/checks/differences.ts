import { inspect } from "node:util";
import { isObject, memberOf } from "../../../provider/kernel/json.js";
import { abbreviated } from "../../../provider/kernel/quoted.js";

/** What a value may be expected to be: the same, or for a text to match a pattern; objects in part. */
export type Expected = unknown;

/** How a value differs from what is expected. */
export interface Difference {
  /** Such as `roles[0].callback`; empty for the value itself. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

const inList = (expected: readonly unknown[], actual: unknown, path: string): Difference[] => {
  if (!Array.isArray(actual) || actual.length !== expected.length)
    return [{ path, expected, actual }];
  return expected.flatMap((each, place) => differences(each, actual[place], `${path}[${place}]`));
};

/** The matchers of vitest and jest, such as `expect.any(String)`, tell by themselves. */
const matcherOf = (expected: unknown): ((actual: unknown) => boolean) | undefined => {
  if (!isObject(expected)) return undefined;
  const { asymmetricMatch } = expected;
  return typeof asymmetricMatch === "function"
    ? (actual) => asymmetricMatch.call(expected, actual) === true
    : undefined;
};

/**
 * Where a value is not what is expected. Of objects only the expected members count, of lists all
 * items; undefined expects that a member is missing.
 */
export const differences = (expected: Expected, actual: unknown, path = ""): Difference[] => {
  if (expected instanceof RegExp)
    return typeof actual === "string" && new RegExp(expected).test(actual)
      ? []
      : [{ path, expected, actual }];
  const matches = matcherOf(expected);
  if (matches) return matches(actual) ? [] : [{ path, expected, actual }];
  if (Array.isArray(expected)) return inList(expected, actual, path);
  if (!isObject(expected)) return Object.is(expected, actual) ? [] : [{ path, expected, actual }];
  if (!isObject(actual)) return [{ path, expected, actual }];
  return Object.entries(expected).flatMap(([name, each]) =>
    differences(each, memberOf(actual, name), path === "" ? name : `${path}.${name}`),
  );
};

const longestShown = 200;

/** A value in one line, not too long. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  const text = inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  return abbreviated(text, longestShown);
};

/** A line for people. `show` hides what must not be seen. */
export const differenceLine = (
  { path, expected, actual }: Difference,
  show: (value: unknown) => string = shown,
): string => `${path === "" ? "it" : path}: expected ${shown(expected)}, is ${show(actual)}`;
