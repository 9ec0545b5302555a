import { jsonSchemas } from "../../cli/generate/command-reference.js";

/**
 * Where a command line asks for JSON: what it printed is of the documented shape, no member more.
 *
 * @throws Error that says what is not
 */
export const assertPrinted = ([command = "", ...args]: readonly string[], output: string): void => {
  if (!args.includes("--json") || args.includes("--help") || output === "") return;
  const schema = jsonSchemas[command];
  if (!schema) throw new Error(`${command} has no schema for what it prints with --json`);
  schema.parse(JSON.parse(output));
};
