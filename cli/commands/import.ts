import { CommandFailure, command, flagOption, textOption } from "../command.js";
import { importOptions, selectionHelp, stackOption } from "./common-options.js";

/** `KIND NAME ID KIND NAME ID …` in threes. */
const inThrees = (words: readonly string[]) => {
  const wrong = new CommandFailure(
    "Give the kind, name and id of each object, such as: import --print Channel web 4711",
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
  summary: "Take objects of the account into the state of a stack.",
  description:
    "Shows which objects Pulumi would take over, and with --apply lets it. Reads the account by\n" +
    "list calls alone, and never writes to the service. Run it in the folder of the Pulumi project.\n" +
    "With --print it prints objects that you name as pulumi import --file reads them: one look at\n" +
    "the service for each, one at the states, and nothing is changed.",
  details: `${selectionHelp}

Runs: pulumi import --from conversation --generate-code=false --protect=false
--yes, in such a way that no file is written.
An object has the name that export gives it. Refused are objects that a state has
already, objects with the mark of another stack, and a Pulumi older than 3.255.
A secret is taken to be what the program gives first, unless --with-secrets.

After --print: pulumi import --file <file> --generate-code=false --protect=false --yes

The file holds no secret. A Pulumi from 3.254 on reads it. The stack's Ownership is in it
if its state has none yet.

--file takes what pulumi preview --import-file <file> has written: the resources that the
program would create, their ids missing. Each object is looked up by the name that the
program gives it, among several by its mark; an id that you write into the file counts.
What the account does not have is left out, for up to create. What is not clear is refused. Resources of other packages stay as they are, and --apply
leaves them out.`,
  words: [
    {
      value: "[object...]",
      doc: "With --print: kind, logical name in the program, and id of each object.",
    },
  ],
  options: {
    apply: flagOption("Import them into the state of the stack."),
    yes: flagOption("The same as --apply."),
    print: flagOption("Print the import file of these objects instead, for pipelines."),
    byName: flagOption("With --print: each id is the name of the object at the service."),
    file: textOption("<file>", "Import what this file of pulumi preview --import-file names."),
    out: textOption("<file>", "With --print or --file: write the import file here."),
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
        1: "failed, refused, or a run is at work on the stack",
        130: "interrupted",
      },
    },
    print: {
      json: async () => (await import("../import/import-schema.js")).importFileSchema,
      exits: { 0: "printed or written", 1: "failed, or refused", 130: "interrupted" },
    },
  },
  work: async (given, session, words) => {
    const { json: _, apply, yes, print, byName, out, ...options } = given;
    if (print) {
      const objects = inThrees(words).map((each) => ({ ...each, isByName: byName === true }));
      const { profile, stack } = options;
      const { runImportFile } = await import("../import/run-import.js");
      const { withStep } = await import("../terminal/progress.js");
      const file = await withStep(session, "Looking at the objects and at the states", (step) =>
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
        "Objects named one by one, --by-name and --out go with --print, --out also with --file; --include chooses what is imported.",
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
        `Wrote ${out}. Import it: pulumi import --file ${out} --generate-code=false --protect=false --yes\n`,
      );
    }
    return { value: importJson(result), text: importReport(result) };
  },
});
