import { command, flagOption, incompleteExit, textOption } from "../command.js";
import { profileOption, selectionHelp, selectionOptions, stackOption } from "./common-options.js";

export const exportCommand = command({
  name: "export",
  summary: "Write an account as a Pulumi project in TypeScript.",
  description:
    "Read an account with list calls only, and write a project that declares it: the program,\n" +
    "its configuration, a README with the next steps, and import.json for pulumi import. The\n" +
    "command changes nothing in the service, and writes only to a folder that is new or empty.",
  details: `${selectionHelp}

The program looks up objects that you omit but that others refer to (Channel.get). Names
stay the same whatever you omit.

The command omits, but lists, objects that carry a stack's mark, because they already have a
program.

No file contains a secret: the program reads each one from its stack's configuration, and
does not start without it. Members that exist only in the service might also be secrets, so
--json lists them without their values, and the program leaves them unchanged.`,
  options: {
    out: { ...textOption("<folder>", "Write the project to this folder."), isRequired: true },
    ...selectionOptions,
    prove: flagOption("Import and preview the project on an emulator with the same account."),
    profile: profileOption("Read this profile's account."),
    stack: stackOption("Use this stack's settings (default: the selected one)."),
  },
  json: async () => (await import("../export/run-export.js")).exportSchema,
  exits: {
    0: "written",
    1: "failed or refused",
    4: "written, but --prove shows that a run would change something",
    ...incompleteExit,
    130: "interrupted",
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
