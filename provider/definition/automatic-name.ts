import { hash } from "node:crypto";

/** Longest name that the service takes. */
const longest = 255;

/** The values from which an automatic name is derived. */
export interface NamedBy {
  readonly project: string;
  readonly stack: string;
  readonly kind: string;
  /**
   * Types of the parents, outermost first, each followed by `$`; empty if the resource is directly
   * in the stack.
   */
  readonly parents: string;
  /** The logical name. */
  readonly name: string;
}

/**
 * Returns the automatic name of a resource, for programs that do not set one: the logical name,
 * shortened if necessary, and a suffix. Only letters, digits, `-`, and `_` are sure to be accepted
 * by the service, so `-` replaces every other character. The suffix is the same in every run for a
 * given project, stack, kind, parents, and logical name.
 */
export const autoName = ({ project, stack, kind, parents, name }: NamedBy): string => {
  const parts = [project, stack, kind, ...(parents ? [parents] : []), name].join("\n");
  const suffix = hash("sha256", parts).slice(0, 7);
  const start = name.replaceAll(/[^\w-]/gu, "-").slice(0, longest - suffix.length - 1);
  return `${start}-${suffix}`;
};
