import {
  choiceOption,
  command,
  flagOption,
  type OptionSpec,
  parsedOption,
  textOption,
  withDefault,
} from "../command.js";
import { profileOption, selectionHelp, selectionOptions, stackOption } from "./common-options.js";

/** An option with a name that Pulumi accepts for a project or a stack. */
const pulumiName = (doc: string): OptionSpec<string> =>
  parsedOption("<name>", doc, (given) => {
    if (/^[\w.-]{1,100}$/.test(given)) return given;
    throw new Error('Allowed are 1 to 100 letters, digits, "_", "-" and ".".');
  });

/** `export`: writes an account as a Pulumi project. */
export const exportCommand = command({
  name: "export",
  summary: "Write an account as a Pulumi project in TypeScript.",
  description:
    "Reads an account, by list calls alone, and writes a project that declares it: the\n" +
    "program, its configuration, a README of the next steps, and import.json for pulumi import.\n" +
    "Changes nothing at the service. Writes into a folder that is new, empty, or of a former export.",
  details: `${selectionHelp}
What is left out but referred to is looked up (Channel.get); --with-dependencies
declares it, too. Names stay the same whatever is left out.

Objects that carry the mark of a stack are left out, and named: they have a program.
--managed declares them, too, under the names that they have there: to read, to compare,
or to move them to another stack. They are not in import.json: as long as their stack
has them, no other may.
Secrets are in no file: the program takes each from the configuration of its stack,
and does not start without it. Members that only the service knows may be secrets, too:
the README names them, without values; they stay as they are.`,
  options: {
    out: { ...textOption("<folder>", "Write the project here."), isRequired: true },
    ...selectionOptions,
    managed: flagOption("Declare also what a stack manages."),
    split: withDefault(
      choiceOption("<way>", ["by-kind", "single"], "One file, or one for each kind."),
      "single",
    ),
    project: pulumiName("Name of the project (default: that of the folder)."),
    toStack: withDefault(pulumiName("Stack that the configuration is written for."), "prod"),
    prove: flagOption("Import and preview it on an emulator with the same account."),
    profile: profileOption("Read the account of this profile."),
    stack: stackOption("Take the settings from this stack (default: the selected one)."),
  },
  uses: {
    usual: {
      json: async () => (await import("../export/run-export.js")).exportSchema,
      exits: {
        0: "written",
        1: "failed, or refused",
        4: "written, but --prove found something that would change",
        130: "interrupted",
      },
    },
  },
  work: async ({ json: _, ...options }, session) => {
    const { exportAndProve, exportJson, exportReport } = await import("../export/run-export.js");
    const { withProgress } = await import("../terminal/progress.js");
    const { result, proof } = await withProgress(session, (progress) =>
      exportAndProve({ ...options, ...progress }),
    );
    return {
      value: exportJson(result, proof),
      text: exportReport(result, proof),
      exitCode: proof && !proof.ok ? 4 : 0,
    };
  },
});
