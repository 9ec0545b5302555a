import { hash } from "node:crypto";

/** Longest name that the service takes, in UTF-16 characters. */
const longest = 255;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const lengthOf = (parts: Iterable<string>, most: number): number => {
  let length = 0;
  for (const part of parts) {
    if (length + part.length > most) break;
    length += part.length;
  }
  return length;
};

/**
 * The start of a text, limited in UTF-16 characters, never cut within what a reader sees as one
 * character.
 */
const start = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  // One character with hundreds of accents leaves nothing else to keep than some of them.
  return text.slice(0, lengthOf(characters, most) || lengthOf(text, most));
};

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
 * shortened if necessary, and a suffix. The suffix is the same in every run for a given project,
 * stack, kind, parents, and logical name.
 */
export const autoName = ({ project, stack, kind, parents, name }: NamedBy): string => {
  const parts = [project, stack, kind, ...(parents ? [parents] : []), name].join("\n");
  const suffix = hash("sha256", parts).slice(0, 7);
  return `${start(name, longest - suffix.length - 1)}-${suffix}`;
};
