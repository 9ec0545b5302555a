import {
  command,
  flagOption,
  incompleteExit,
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
    throw new Error('Use 1 to 100 letters, digits, "_", "-", or ".".');
  });

/** `export`: writes an account as a Pulumi project. */
export const exportCommand = command({
  name: "export",
  summary: "Write an account as a Pulumi project in TypeScript.",
  description:
    "Read an account with list calls only, and write a project that declares it: the program,\n" +
    "its configuration, a README with the next steps, and import.json for pulumi import. The\n" +
    "command changes nothing in the service, and writes only to a folder that is new or empty.",
  details: `${selectionHelp}

The program looks up objects that you omit but that others refer to (Channel.get);
--with-dependencies declares them instead. Names stay the same whatever you omit.

The command omits, but lists, objects that carry a stack's mark, because they already have a
program. --managed declares them too, under the same names, so that you can read, compare,
or move them. They are not in import.json, because no other stack can manage them.

No file contains a secret: the program reads each one from its stack's configuration, and
does not start without it. Members that exist only in the service might also be secrets, so
the README lists them without their values, and the program leaves them unchanged.`,
  options: {
    out: { ...textOption("<folder>", "Write the project to this folder."), isRequired: true },
    ...selectionOptions,
    managed: flagOption("Also declare objects that a stack manages."),
    project: pulumiName("The project name (default: the folder name)."),
    toStack: withDefault(pulumiName("The stack to write the configuration for."), "prod"),
    prove: flagOption("Import and preview the project on an emulator with the same account."),
    profile: profileOption("Read this profile's account."),
    stack: stackOption("Use this stack's settings (default: the selected one)."),
  },
  uses: {
    usual: {
      json: async () => (await import("../export/run-export.js")).exportSchema,
      exits: {
        0: "written",
        1: "failed or refused",
        4: "written, but --prove shows that a run would change something",
        ...incompleteExit,
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
      isIncomplete: result.notes.length > 0,
    };
  },
});
