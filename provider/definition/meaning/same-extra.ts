import { isObject, memberOf } from "../../kernel/json.js";
import { sameScalar } from "./text-forms.js";

/** Nothing, in the forms that JSON has for it. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.values(value).every(isNothing));

/** Places of secrets; one place for all items of a list. */
export type IsSecret = (path: string) => boolean;

const noSecrets: IsSecret = () => false;

/**
 * Whether the service holds what `extra` says: null is as good as absent, text is compared in its
 * composed form, and members that the service adds inside objects do not count.
 */
export const sameExtra = (
  live: unknown,
  prior: unknown,
  path = "",
  isSecret: IsSecret = noSecrets,
): boolean => {
  if (isSecret(path) || (isNothing(live) && isNothing(prior))) return true;
  if (Array.isArray(live) && Array.isArray(prior)) {
    const item = `${path}[]`;
    return (
      live.length === prior.length &&
      prior.every((value, place) => sameExtra(live[place], value, item, isSecret))
    );
  }
  if (!isObject(live) || !isObject(prior)) return sameScalar(live, prior);
  return Object.entries(prior).every(([name, value]) =>
    sameExtra(memberOf(live, name), value, below(path, name), isSecret),
  );
};

/** The place of a member. */
export const below = (path: string, name: string): string => (path ? `${path}.${name}` : name);

/** Each item as the service has it where it means the same, with what the service keeps beside. */
export const asThere = (
  live: readonly unknown[],
  desired: readonly unknown[],
): readonly unknown[] => {
  const free = new Set(live.keys());
  return desired.map((item, at) => {
    const fits = (place: number): boolean => free.has(place) && sameExtra(live[place], item);
    const place = fits(at) ? at : [...free].find(fits);
    if (place === undefined) return item;
    free.delete(place);
    return live[place];
  });
};
