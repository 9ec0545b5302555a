import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const isRoot = (folder: string): boolean => {
  const path = join(folder, "package.json");
  return existsSync(path) && describe(path).name === "pulumi-conversation";
};

const describe = (path: string): { name?: unknown; version?: unknown } =>
  JSON.parse(readFileSync(path, "utf8"));

/** The folder of this package, whether it runs compiled or from source. */
export const packageRoot = (): string => {
  let folder = __dirname;
  while (!isRoot(folder)) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new Error(`No package.json of pulumi-conversation above ${__dirname}.`);
    folder = parent;
  }
  return folder;
};

/** Version of this package, such as `0.1.0`. */
export const packageVersion = (): string =>
  String(describe(join(packageRoot(), "package.json")).version);
