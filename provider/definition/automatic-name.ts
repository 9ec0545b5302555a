import { hash } from "node:crypto";

/** Longest name that the service takes. */
const longest = 255;

/** The values from which an automatic name is derived. */
export interface NamedBy {
  readonly kind: string;
  /** The resource's owner, which no resource of another stack has, whatever the stacks are called. */
  readonly owner: string;
  /** The logical name. */
  readonly name: string;
}

/**
 * Returns the automatic name of a resource, for programs that do not set one: the logical name,
 * shortened if necessary, and a suffix. Only letters, digits, `-`, and `_` are sure to be accepted
 * by the service, so `-` replaces every other character. The suffix is the same in every run for a
 * given kind and owner.
 */
export const autoName = ({ kind, owner, name }: NamedBy): string => {
  const suffix = hash("sha256", `${kind} ${owner}`).slice(0, 7);
  const start = name.replaceAll(/[^\w-]/gu, "-").slice(0, longest - suffix.length - 1);
  return `${start}-${suffix}`;
};

/**
 * Returns an automatic name without its suffix, which is another one in each stack; undefined for
 * any other name.
 */
export const nameStem = (name: unknown): string | undefined =>
  typeof name === "string" ? /^(.+)-[0-9a-f]{7}$/.exec(name)?.[1] : undefined;
