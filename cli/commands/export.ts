import { InvalidArgumentError, Option } from "commander";
import type { CommandRun, RegisterCommand } from "../command.js";
import type { Split } from "../export/program-files.js";
import { selectionHelp, withSelection } from "./selection-options.js";

interface ExportFlags {
  readonly out: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly withDependencies?: true;
  readonly managed?: true;
  readonly split: Split;
  readonly project?: string;
  readonly toStack: string;
  readonly prove?: true;
  readonly profile?: string;
  readonly stack?: string;
  readonly json?: true;
}

/** What Pulumi takes as the name of a project or a stack. */
const pulumiName = (text: string): string => {
  if (/^[\w.-]{1,100}$/.test(text)) return text;
  throw new InvalidArgumentError('Allowed are 1 to 100 letters, digits, "_", "-" and ".".');
};

const details = `${selectionHelp}
What is left out but referred to is looked up (Channel.get); --with-dependencies
declares it, too. Names stay the same whatever is left out.

Objects that carry the mark of a stack are left out, and told: they have a program.
--managed declares them, too, under the names that they have there: to read, to compare,
or to move them to another stack. They are not in import.json: as long as their stack
has them, no other may.
Secrets are in no file: the program takes each from the configuration of its stack,
and does not start without it. Members that only the service knows may be secrets, too:
the README names them, without values; they stay as they are.

JSON: { folder, project, stack, files: [name], kept: [name],
        resources: [{ kind, id, name }], lookedUp: [{ kind, id, name }],
        managed: [{ kind, id, name, mark }], skipped: [{ kind, id, reason }],
        secrets: [{ key, kind, id, name, path }],
        undeclared: [{ kind, id, name, path }],
        possibleSecrets: [{ kind, id, name, path }], notes: [text],
        proof?: { ok, differences: [text] } }

Exit code: 0 written; 1 failed, or refused; 2 wrong command line;
4 written, but --prove found something that would change; 130 interrupted.`;

const run = async (flags: ExportFlags, session: CommandRun): Promise<void> => {
  const { exportCommand } = await import("../export/run-export.js");
  await exportCommand(flags, session);
};

/** `export`: an account as a Pulumi project. */
export const registerExport: RegisterCommand = (program, session) => {
  const command = program
    .command("export")
    .summary("Write an account as a Pulumi project in TypeScript.")
    .description(
      "Reads an account, by list calls alone, and writes a project that declares it: the\n" +
        "program, its configuration, a README of the next steps, and import.json for pulumi import.\n" +
        "Changes nothing at the service. Writes into a folder that is new, empty, or of a former export.",
    )
    .requiredOption("--out <folder>", "Write the project here.");
  withSelection(command)
    .option("--managed", "Declare also what a stack manages.")
    .addOption(
      new Option("--split <way>", "One file, or one for each kind.")
        .choices(["by-kind", "single"])
        .default("single"),
    )
    .addOption(
      new Option(
        "--project <name>",
        "Name of the project (default: that of the folder).",
      ).argParser(pulumiName),
    )
    .addOption(
      new Option("--to-stack <name>", "Stack that the configuration is written for.")
        .argParser(pulumiName)
        .default("prod"),
    )
    .option("--prove", "Import and preview it on an emulator with the same account.")
    .option("--profile <name>", "Read the account of this profile.")
    .option("--stack <name>", "Take the settings from this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action((flags: ExportFlags) => run(flags, session));
};
