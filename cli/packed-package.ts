import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { textAt } from "../provider/kernel/json.js";
import {
  manifestOf,
  packageName,
  packageRoot,
  packageVersion,
} from "../provider/kernel/package.js";
import { shellWord } from "./terminal/columns.js";

/** Where npm gets this package for a new project that must not take it from the registry. */
export interface PackedPackage {
  /** The dependency in the project's package.json. */
  readonly dependency: string;
  /** Arguments of npm that put the package into the folder of the project. */
  readonly pack: readonly string[];
  /** The same as a line for a shell. */
  readonly command: string;
}

/** The package file that the project around an installed package depends on, if it is one. */
const installedFile = (root: string): string | undefined => {
  const project = dirname(dirname(root));
  if (basename(dirname(root)) !== "node_modules") return undefined;
  const manifest = manifestOf(project);
  const given =
    textAt(manifest, "dependencies", packageName) ??
    textAt(manifest, "devDependencies", packageName);
  const packed = given?.match(/^file:(.*\.tgz)$/)?.[1];
  const path = packed === undefined ? undefined : resolve(project, packed);
  return path !== undefined && existsSync(path) ? path : undefined;
};

/**
 * How a new project gets this very package, whose version the registry may not have, from a running
 * checkout or from the package file that the current project depends on; undefined if npm installed
 * the package from the registry.
 *
 * A packed copy rather than a link to the checkout: through a link the program would load another
 * Pulumi SDK than the package does.
 *
 * @param root folder of this package
 */
export const packedPackage = (root: string = packageRoot()): PackedPackage | undefined => {
  // Packages that npm installs have no lock file.
  const source = existsSync(join(root, "package-lock.json")) ? root : installedFile(root);
  if (source === undefined) return undefined;
  const quietly = ["--ignore-scripts", "--loglevel=error"];
  return {
    dependency: `file:${packageName}-${packageVersion()}.tgz`,
    pack: ["pack", source, ...quietly],
    command: ["npm", "pack", shellWord(source), ...quietly].join(" "),
  };
};
