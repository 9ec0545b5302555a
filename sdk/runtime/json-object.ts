import { z } from "zod";
import type { JsonObject } from "../../provider/kernel/json.js";
import { inputInvalid, placeOf, prepared } from "./caller-input.js";

export type { JsonObject } from "../../provider/kernel/json.js";

/** No body of the service comes near either. */
const mostDepth = 128;
const mostValues = 1_000_000;

/** So many steps of a path are enough to find a place. */
const mostShown = 12;

/** A value inside another one. */
interface Place {
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** What JSON.stringify would write by itself, or leave out. */
const isWritable = (value: unknown): boolean => typeof value !== "bigint";

/** What JSON can hold, and gives back as it was. */
const isJson = (value: unknown): boolean =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "object" && (Array.isArray(value) || isPlain(value)));

const membersOf = ({ value, path }: Place): readonly Place[] => {
  if (Array.isArray(value)) {
    return Array.from(value, (inner, index) => ({ value: inner, path: [...path, index] }));
  }
  if (typeof value !== "object" || value === null) return [];
  // What writes itself is not looked into.
  if (typeof Reflect.get(value, "toJSON") === "function") return [];
  return Object.entries(value).map(([name, inner]) => ({ value: inner, path: [...path, name] }));
};

const at = (path: readonly PropertyKey[]): string => placeOf(path.slice(0, mostShown));

/** What is wrong inside a value, the first thing found; never descends without an end. */
const problemIn = (whole: unknown, allows: (value: unknown) => boolean): string | undefined => {
  const open: Place[] = [{ value: whole, path: [] }];
  for (let seen = 0; ; seen++) {
    const place = open.pop();
    if (!place) return undefined;
    if (!allows(place.value)) return `${at(place.path)} is no JSON value`.trim();
    if (place.path.length > mostDepth) {
      return `${at(place.path)}… is nested deeper than ${mostDepth} levels, or holds itself`;
    }
    if (seen >= mostValues) return `there are more than ${mostValues} values in it`;
    open.push(...membersOf(place));
  }
};

/** Any JSON object: for what no document shows. */
export const jsonObject = z.custom<JsonObject>().superRefine((value, context) => {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const problem = isObject ? problemIn(value, isJson) : "";
  if (problem === undefined) return;
  const message = `must be a JSON object${problem === "" ? "" : `: ${problem}`}`;
  context.addIssue({ code: "custom", message });
});

/**
 * Makes sure that a value can be sent as JSON, as JSON.stringify writes it.
 *
 * @throws ConversationError `INPUT_INVALID` naming what cannot be written
 */
export const assertJson = (doing: string, name: string, value: unknown): void =>
  prepared(doing, () => {
    const problem = problemIn(value, isWritable);
    if (problem !== undefined)
      throw inputInvalid(doing, `${name} cannot be written as JSON: ${problem}`);
    try {
      JSON.stringify(value);
    } catch (error) {
      throw inputInvalid(doing, `${name} cannot be written as JSON, see the cause`, error);
    }
  });
