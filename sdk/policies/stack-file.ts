import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The name and text of a stack's configuration file. */
export interface StackFile {
  readonly name: string;
  readonly text: string;
}

const projectFolder = (folder: string): string | undefined => {
  if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((name) => existsSync(join(folder, name))))
    return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : projectFolder(parent);
};

/** Where the project says that the files of its stacks are. */
const stackFolder = (folder: string): string => {
  const project = readdirSync(folder).find((name) => /^Pulumi\.(ya?ml|json)$/.test(name));
  const text = project ? readFileSync(join(folder, project), "utf8") : "";
  const line = text.split("\n").find((each) => /^\s*"?stackConfigDir"?\s*:/.test(each)) ?? "";
  const value = line.slice(line.indexOf(":") + 1).trim();
  const named = value.replace(/,$/, "").replaceAll(/["']/g, "").trim();
  return named ? join(folder, named) : folder;
};

/**
 * Returns a stack's configuration file from the project in a folder or the nearest folder above it;
 * undefined if there is none.
 */
export const stackFileIn = (folder: string, stack: string): StackFile | undefined => {
  const project = projectFolder(folder);
  if (project === undefined) return undefined;
  const names = ["yaml", "yml", "json"].map((type) => `Pulumi.${stack}.${type}`);
  const name = names.find((one) => existsSync(join(stackFolder(project), one)));
  if (name === undefined) return undefined;
  return { name, text: readFileSync(join(stackFolder(project), name), "utf8") };
};
