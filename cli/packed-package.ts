import { existsSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../provider/kernel/columns.js";
import { packageName, packageRoot, packageVersion } from "../provider/kernel/package.js";

/** Where npm gets this package for a new project that is not to have it from the registry. */
export interface PackedPackage {
  /** What the project's package.json asks for. */
  readonly dependency: string;
  /** Arguments of npm that put the package into the folder of the project. */
  readonly pack: readonly string[];
  /** The same as a line for a shell. */
  readonly command: string;
}

/**
 * How a new project gets this very package where a checkout of it runs, which may be of a version
 * that the registry does not have; undefined if npm installed it: the registry has it then.
 *
 * A packed copy rather than a link to the checkout: through a link the program would load another
 * Pulumi SDK than the package does.
 *
 * @param root folder of this package
 */
export const packedPackage = (root: string = packageRoot()): PackedPackage | undefined => {
  // npm leaves the lock file out of what it installs.
  if (!existsSync(join(root, "package-lock.json"))) return undefined;
  const quietly = ["--ignore-scripts", "--loglevel=error"];
  return {
    dependency: `file:${packageName}-${packageVersion()}.tgz`,
    pack: ["pack", root, ...quietly],
    command: ["npm", "pack", shellWord(root), ...quietly].join(" "),
  };
};
