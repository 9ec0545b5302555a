import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readPlainFile } from "../../provider/kernel/files.js";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { CommandFailure } from "../command.js";

/** What commands need to know of a project file. */
export interface ProjectDocument {
  readonly name?: string;
  /** Where the program is, from the folder of the file. */
  readonly main?: string;
}

/** A text of YAML: in quotes or not, up to a comment. */
const value = String.raw`(?:"([^"\n]*)"|'([^'\n]*)'|([^"'#\n,}][^#\n,}]*?))\s*(?=[,}#\n]|$)`;

/** A member of the document itself, not of what is in it; undefined where it is no text. */
const memberIn = (text: string, name: string): string | undefined => {
  const isFlow = /^\s*\{/.test(text);
  const [, indent = ""] = /^( *)["'\w]+["']? *:/m.exec(text) ?? [];
  const start = isFlow ? String.raw`[{,]\s*` : `^${indent}`;
  const found = new RegExp(`${start}["']?${name}["']?\\s*:[ \\t]*${value}`, "m").exec(text);
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.trim();
};

/** Reads the members of a file, in YAML or in JSON, that are plain texts. @throws CommandFailure where it is no plain file */
const membersOfFile = (file: string): ((name: string) => string | undefined) => {
  // The folders above the current one, where it is looked for too, may be anybody's.
  const text = readPlainFile(file)?.replace(/^\ufeff/, "");
  if (text === undefined) throw new CommandFailure(`${file} cannot be read as a plain file.`);
  const json = jsonIn(text);
  return (name) => {
    if (!isObject(json)) return memberIn(text, name);
    return typeof json[name] === "string" ? json[name] : undefined;
  };
};

/** Reads a project file, in YAML or in JSON, as far as its members are plain texts. */
export const projectDocument = (file: string): ProjectDocument => {
  const of = membersOfFile(file);
  const [name, main] = [of("name"), of("main")];
  return { ...(name ? { name } : {}), ...(main ? { main } : {}) };
};

/**
 * The file with the configuration of a stack, where there is one.
 *
 * @param file the project file
 */
export const stackFile = (file: string, stack: string): string | undefined => {
  const folder = join(dirname(file), membersOfFile(file)("stackConfigDir") ?? ".");
  const files = ["yaml", "yml", "json"].map((form) => join(folder, `Pulumi.${stack}.${form}`));
  return files.find((path) => existsSync(path));
};

/**
 * The salt that the file of a stack keeps of its passphrase; undefined where it has another way to
 * encrypt, or none yet.
 *
 * @param file the project file
 */
export const saltOfStack = (file: string, stack: string): string | undefined => {
  const found = stackFile(file, stack);
  return found && membersOfFile(found)("encryptionsalt");
};
