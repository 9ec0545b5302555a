import { readFileSync } from "node:fs";
import { isObject } from "../../provider/kernel/json.js";
import { jsonIn } from "../../provider/kernel/json-text.js";

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

/** Reads a project file, in YAML or in JSON, as far as its members are plain texts. */
export const projectDocument = (file: string): ProjectDocument => {
  const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
  const json = jsonIn(text);
  const of = (name: string): string | undefined => {
    if (!isObject(json)) return memberIn(text, name);
    return typeof json[name] === "string" ? json[name] : undefined;
  };
  const [name, main] = [of("name"), of("main")];
  return { ...(name ? { name } : {}), ...(main ? { main } : {}) };
};
