import { command, flagOption, incompleteExit } from "../command.js";
import { profileOption, selectionHelp, selectionOptions, stackOption } from "./common-options.js";

export const importCommand = command({
  name: "import",
  summary: "Import objects from the account into a stack's state.",
  description:
    "Show which objects Pulumi would import. With --apply, import them. Run the command in the\n" +
    "Pulumi project folder. It reads the account with list calls, and never writes to it.",
  details: `${selectionHelp}

With --apply, the command runs pulumi import --file <file> --generate-code=false
--protect=false --yes. No secret is in the file: the first value that the program sets for
one counts as the imported value. Each object gets the same name as in an export. The
command omits, but lists, objects that are already in a state, and objects with another
stack's mark.`,
  options: {
    apply: flagOption("Import the objects into the stack's state."),
    ...selectionOptions,
    profile: profileOption("Read this profile's account."),
    stack: stackOption("Import into this stack (default: the selected one)."),
  },
  json: async () => (await import("../import/run-import.js")).importSchema,
  exits: {
    0: "done or shown",
    1: "failed, refused, or a run is in progress on the stack",
    ...incompleteExit,
    130: "interrupted",
  },
  work: async ({ json: _, ...options }, session) => {
    const { importJson, importReport, runImport } = await import("../import/run-import.js");
    const { withProgress } = await import("../terminal/progress.js");
    const result = await withProgress(session, (progress) =>
      runImport({ ...options, ...progress }),
    );
    return {
      value: importJson(result),
      text: importReport(result, options),
      isIncomplete: result.notes.length > 0,
    };
  },
});
