import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, jsonIn } from "../../../provider/kernel/json.js";

/** Its version stands for it. */
const thisPackage = "pulumi-conversation";

const dependencyLists = ["dependencies", "devDependencies", "optionalDependencies"];

const dependenciesOf = (folder: string): readonly string[] => {
  const file = join(folder, "package.json");
  const json = existsSync(file) ? jsonIn(readFileSync(file, "utf8")) : undefined;
  if (!isObject(json)) return [];
  return dependencyLists.flatMap((list) => {
    const named = json[list];
    return isObject(named) ? Object.keys(named) : [];
  });
};

/** Where a package is found from a folder: there, or in a folder above. */
const installedAt = (folder: string, name: string): string | undefined => {
  const path = join(folder, "node_modules", name);
  if (lstatSync(path, { throwIfNoEntry: false })) return path;
  const parent = dirname(folder);
  return parent === folder ? undefined : installedAt(parent, name);
};

const linkedFolder = (folder: string, name: string): string | undefined => {
  const path = name === thisPackage ? undefined : installedAt(folder, name);
  if (path === undefined || !existsSync(path)) return undefined;
  const real = realpathSync(path);
  // Package managers link what they have installed, too: that is below a folder of this name.
  return /[/\\]node_modules[/\\]/.test(real) ? undefined : real;
};

/**
 * Folders of the packages on which a program depends and that are links to sources: those of the same
 * workspace, and those of `file:` and `link:`. No lock file tells of what is in them.
 */
export const linkedPackages = (folders: readonly string[]): readonly string[] => {
  const waiting = [...folders];
  const found = new Set<string>();
  for (const folder of waiting)
    for (const name of dependenciesOf(folder)) {
      const linked = linkedFolder(folder, name);
      if (linked === undefined || found.has(linked) || folders.includes(linked)) continue;
      found.add(linked);
      waiting.push(linked);
    }
  return [...found];
};
