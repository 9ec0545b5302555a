import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "./json.js";
import { parseJson } from "./json-text.js";

export const packageName = "pulumi-conversation";

/** The package.json of this package in a folder; undefined where there is none. */
const manifestIn = (folder: string): JsonObject | undefined => {
  try {
    const content = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(content) && content.name === packageName ? content : undefined;
  } catch {
    return undefined;
  }
};

/** The same source runs from its own folder and from `dist`, so the file is looked for upwards. */
const rootAbove = (folder: string): string | undefined => {
  if (manifestIn(folder)) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : rootAbove(parent);
};

/** The folder of this package, whether it runs compiled or from source. */
export const packageRoot = (): string => {
  const root = rootAbove(__dirname);
  if (root === undefined) throw new Error(`No package.json of ${packageName} above ${__dirname}.`);
  return root;
};

let known: string | undefined;

/** Version of this package as its package.json says, `0.0.0` where that file is not to be found. */
export const packageVersion = (): string => {
  if (known !== undefined) return known;
  const root = rootAbove(__dirname);
  const version = root === undefined ? undefined : manifestIn(root)?.version;
  known = typeof version === "string" ? version : "0.0.0";
  return known;
};
