import { isObject } from "../../provider/kernel/json.js";

/** What is found in a JSON value by going down these members and places; undefined where a step leads nowhere. */
export const valueOnPath = (value: unknown, ...steps: readonly (string | number)[]): unknown => {
  let here = value;
  for (const step of steps) {
    if (typeof step === "number") here = Array.isArray(here) ? here[step] : undefined;
    else here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
};

/** The text found there; undefined for anything else, and for an empty one. */
export const textOnPath = (
  value: unknown,
  ...steps: readonly (string | number)[]
): string | undefined => {
  const found = valueOnPath(value, ...steps);
  return typeof found === "string" && found !== "" ? found : undefined;
};

/** The list found there; an empty one for anything else. */
export const listAt = (
  value: unknown,
  ...steps: readonly (string | number)[]
): readonly unknown[] => {
  const found = valueOnPath(value, ...steps);
  return Array.isArray(found) ? found : [];
};

/**
 * The steps of a simple JSONPath, such as `$.data.accessToken` or `$.tokens[0]`; undefined for one
 * that is not simple.
 */
export const stepsOf = (path: string): readonly (string | number)[] | undefined => {
  if (!/^\$((\.[\w-]+)|(\[\d{1,4}\]))+$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map(([, name, place]) =>
    name === undefined ? Number(place) : name,
  );
};
