import { hash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";

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

/** The start of a text, at most so many UTF-16 characters, not cut inside what a reader sees as one. */
const start = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  // One character with hundreds of accents leaves nothing else to keep than some of them.
  return text.slice(0, lengthOf(characters, most) || lengthOf(text, most));
};

/** What tells an automatic name apart from all others. */
export interface NamedBy {
  readonly project: string;
  readonly stack: string;
  readonly kind: string;
  /** Types of the parents, outermost first, each followed by `$`; empty directly in the stack. */
  readonly parents: string;
  /** The logical name. */
  readonly name: string;
}

/**
 * The name at the service of a resource that a program gives none: the logical name and a suffix
 * that is the same in every run for this project, stack, kind, parents and logical name.
 */
export const autoName = ({ project, stack, kind, parents, name }: NamedBy): string => {
  const parts = [project, stack, kind, ...(parents ? [parents] : []), name].join("\n");
  const suffix = hash("sha256", parts).slice(0, 7);
  return `${start(name, longest - suffix.length - 1)}-${suffix}`;
};

/**
 * A URN without a dependency on the parent: a component stands for all of its children, so those
 * that refer to each other would wait for one another for ever.
 */
const urnOf = (token: string, name: string, parent: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => {
    pulumi.createUrn(name, token, parent).apply(resolve);
  });

/**
 * Types of the parents of a resource, outermost first, each followed by `$`; a plain empty text
 * directly in the stack. Known in previews, since a URN is.
 */
export const parentTypes = (
  token: string,
  name: string,
  parent: pulumi.Resource | undefined,
): string | pulumi.Output<string> => {
  if (!parent) return "";
  return pulumi.output(urnOf(token, name, parent)).apply((urn) => {
    const qualified = urn.split("::")[2] ?? token;
    return qualified.slice(0, -token.length).replace("pulumi:pulumi:Stack$", "");
  });
};
