import { commands } from "../../cli/program.js";
import { catalogSchema, failureSchema } from "../../cli/terminal/command-catalog.js";

/**
 * Where a command line asks for JSON: what it printed is of the documented shape, no member more.
 *
 * @throws Error that says what is not
 */
export const assertPrinted = async (
  [name, ...args]: readonly string[],
  output: string,
): Promise<void> => {
  if (!args.includes("--json") || args.includes("--help") || output === "") return;
  const printed: unknown = JSON.parse(output);
  // A command that fails says why in one shape; what else it prints is of its own.
  if (failureSchema.safeParse(printed).success) return;
  if (name === "help") return void catalogSchema.parse(printed);
  const command = commands.find((each) => each.name === name);
  if (!command) throw new Error(`${name} has no schema for what it prints with --json`);
  (await command.json()).parse(printed);
};
