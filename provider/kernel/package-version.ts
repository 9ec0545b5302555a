import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, parseJson } from "./json.js";

export const packageName = "pulumi-conversation";

let known: string | undefined;

/** Version of this package as its package.json says, `0.0.0` where that file is not to be found. */
export const packageVersion = (): string => {
  known ??= versionAbove(__dirname) ?? "0.0.0";
  return known;
};

/** The same source runs from its own folder and from `dist`, so the file is looked for upwards. */
const versionAbove = (folder: string): string | undefined => {
  const found = versionIn(folder);
  if (found !== undefined) return found;
  const parent = dirname(folder);
  return parent === folder ? undefined : versionAbove(parent);
};

const versionIn = (folder: string): string | undefined => {
  try {
    const content = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
    if (!isObject(content) || content.name !== packageName) return undefined;
    return typeof content.version === "string" ? content.version : undefined;
  } catch {
    return undefined;
  }
};
