import { createHash } from "node:crypto";

const longest = 255;

/**
 * The name at the service of a resource that a program gives none: the logical name and a suffix
 * that is the same in every run for this project, stack, kind and logical name.
 */
export const autoName = (project: string, stack: string, kind: string, name: string): string => {
  const suffix = createHash("sha256")
    .update([project, stack, kind, name].join("\n"))
    .digest("hex")
    .slice(0, 7);
  return `${name.slice(0, longest - suffix.length - 1)}-${suffix}`;
};
