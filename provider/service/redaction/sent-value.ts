import { isId } from "../../definition/object-id.js";
import { isObject } from "../../kernel/json.js";

const longestPath = 200;
const shortestOpaque = 16;

const at = (value: unknown, step: string): unknown => {
  const place = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  return place.find(([name]) => name === step)?.[1];
};

/** `bots[0].participant.id`, `/bots/0/participant/id` and `$.bots[0].participant.id` are the same path. */
const stepsOf = (path: string): readonly string[] =>
  path.split(/[.[\]/]+/).filter((step) => step !== "" && step !== "$");

const isIdLike = (name: string, value: unknown): value is string =>
  isId(value) && (/id$/i.test(name) || (value.length >= shortestOpaque && /\d/.test(value)));

/**
 * The id that a body holds at a path which the service names; undefined where there is no id, or
 * where the value is a secret.
 */
export const sentId = (
  body: unknown,
  path: string,
  secrets: readonly string[],
): string | undefined => {
  if (path.length > longestPath) return undefined;
  const steps = stepsOf(path);
  const value = steps.reduce(at, body);
  if (!isIdLike(steps.at(-1) ?? "", value)) return undefined;
  return secrets.some((secret) => secret.includes(value)) ? undefined : value;
};
