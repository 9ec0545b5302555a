import { existsSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../provider/kernel/columns.js";
import { packageName, packageRoot, packageVersion } from "../provider/kernel/package.js";

/** Where npm gets this package for a new project that must not take it from the registry. */
export interface PackedPackage {
  /** The dependency in the project's package.json. */
  readonly dependency: string;
  /** Arguments of npm that put the package into the folder of the project. */
  readonly pack: readonly string[];
  /** The same as a line for a shell. */
  readonly command: string;
}

/**
 * How a new project gets this very package from a running checkout, whose version the registry may
 * not have; undefined if npm installed the package: then the registry has it.
 *
 * A packed copy rather than a link to the checkout: through a link the program would load another
 * Pulumi SDK than the package does.
 *
 * @param root folder of this package
 */
export const packedPackage = (root: string = packageRoot()): PackedPackage | undefined => {
  // Packages that npm installs have no lock file.
  if (!existsSync(join(root, "package-lock.json"))) return undefined;
  const quietly = ["--ignore-scripts", "--loglevel=error"];
  return {
    dependency: `file:${packageName}-${packageVersion()}.tgz`,
    pack: ["pack", root, ...quietly],
    command: ["npm", "pack", shellWord(root), ...quietly].join(" "),
  };
};
