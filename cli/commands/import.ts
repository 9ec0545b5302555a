import { CommandFailure, command, flagOption, textOption } from "../command.js";
import { importOptions, selectionHelp, stackOption } from "./common-options.js";

/** `KIND NAME ID KIND NAME ID …` in threes. */
const inThrees = (words: readonly string[]) => {
  const wrong = new CommandFailure(
    "Specify the kind, name, and ID of each object, for example: import --print Channel web 4711",
    2,
  );
  if (words.length === 0 || words.length % 3 !== 0) throw wrong;
  const threes = Map.groupBy(words, (_, place) => Math.floor(place / 3));
  return [...threes.values()].map(([kind = "", name = "", id = ""]) => ({ kind, name, id }));
};

/** Options for objects that nobody has named. */
const unnamed = ["include", "exclude", "withDependencies", "withSecrets"];

/** `import`: takes objects of the account into the state of a stack. */
export const importCommand = command({
  name: "import",
  summary: "Import objects from the account into a stack's state.",
  description:
    "Show which objects Pulumi would import. With --apply, import them. Run the command in the\n" +
    "Pulumi project folder. It reads the account with list calls, and never writes to it.\n" +
    "With --print, it instead prints a file for pulumi import --file, with the objects that\n" +
    "you specify. It then makes one call per object (with --by-name, list calls), and does\n" +
    "not change the state.",
  details: `${selectionHelp}

With --apply, the command runs pulumi import --from conversation --generate-code=false
--protect=false --yes, and keeps Pulumi from writing a file.
Each object gets the same name as in an export. The command refuses objects that are
already in a state, objects with another stack's mark, and Pulumi versions before 3.255.
Without --with-secrets, the first value that the program sets for a secret counts as the
imported one.

After --print, run: pulumi import --file <file> --generate-code=false --protect=false --yes

The file contains no secrets, and needs Pulumi 3.254 or later. If the stack's state has no
Ownership yet, the file includes one.

--file accepts an import file from pulumi preview --import-file: the resources that the
program would create, without their IDs. The command looks up each object by the name that
the program gives it or, if several match, by its mark. An ID that you write into the file
takes precedence. The command omits objects that are not in the account, so that up
creates them, and refuses ambiguous ones. Resources from other packages stay in the file
unchanged, but --apply omits them.`,
  words: [
    {
      value: "[object...]",
      doc: "With --print: the kind, the logical name in the program, and the ID of each object.",
    },
  ],
  options: {
    apply: flagOption("Import the objects into the stack's state."),
    yes: flagOption("Same as --apply."),
    print: flagOption("For pipelines: print an import file for these objects instead."),
    byName: flagOption("With --print: treat each ID as the object's name in the service."),
    file: textOption("<file>", "Import the resources in this file from pulumi preview."),
    out: textOption("<file>", "With --print or --file: write the import file to this path."),
    ...importOptions,
    stack: stackOption("Import into this stack (default: the selected one)."),
  },
  excludes: {
    print: [...unnamed, "apply", "yes", "skipManaged", "file"],
    file: unnamed,
    out: ["apply", "yes"],
  },
  uses: {
    usual: {
      json: async () => (await import("../import/import-schema.js")).importSchema,
      exits: {
        0: "done or shown",
        1: "failed, refused, or a run is in progress on the stack",
        130: "interrupted",
      },
    },
    print: {
      json: async () => (await import("../import/import-schema.js")).importFileSchema,
      exits: { 0: "printed or written", 1: "failed or refused", 130: "interrupted" },
    },
  },
  work: async (given, session, words) => {
    const { json: _, apply, yes, print, byName, out, ...options } = given;
    if (print) {
      const objects = inThrees(words).map((each) => ({ ...each, isByName: byName === true }));
      const { profile, stack } = options;
      const { runImportFile } = await import("../import/run-import.js");
      const { withStep } = await import("../terminal/progress.js");
      const file = await withStep(session, "Reading the objects and the states", (step) =>
        runImportFile(objects, { ...step, profile, stack }),
      );
      if (out === undefined) {
        session.out(file);
        return undefined;
      }
      const { writeFileSync } = await import("node:fs");
      writeFileSync(out, file);
      session.err(`Wrote ${out}.\n`);
      return undefined;
    }
    if (words.length > 0 || byName || (out !== undefined && options.file === undefined))
      throw new CommandFailure(
        "Individual objects and --by-name require --print; --out requires --print or --file. To choose what to import, use --include.",
        2,
      );
    const { importJson, importReport, runImport } = await import("../import/run-import.js");
    const { withProgress } = await import("../terminal/progress.js");
    const result = await withProgress(session, (progress) =>
      runImport({ ...options, ...(apply || yes ? { apply: true } : {}), ...progress }),
    );
    if (out !== undefined) {
      const { writeFileSync } = await import("node:fs");
      writeFileSync(out, `${JSON.stringify(result.filled, null, 2)}\n`);
      session.err(
        `Wrote ${out}. To import it, run: pulumi import --file ${out} --generate-code=false --protect=false --yes\n`,
      );
    }
    return { value: importJson(result), text: importReport(result) };
  },
});
