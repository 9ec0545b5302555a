import type { RegisterCommand } from "../command.js";
import { type ImportFlags, withImport } from "./import-options.js";
import { selectionHelp } from "./selection-options.js";

const details = `${selectionHelp}

Runs: pulumi import --from conversation --generate-code=false --protect=false
--yes, in such a way that no file is written.
An object has the name that export gives it. Refused are objects that a state has
already, objects with the mark of another stack, and a Pulumi older than 3.255.
A secret is taken to be what the program gives first, unless --with-secrets.

JSON: { project, stack, applied, objects: [{ kind, id, name }],
        left: [{ kind, id, name, reason }], notes: [text] }

Exit code: 0 done or shown; 1 failed, refused, or a run is at work on the stack;
2 wrong command line; 130 interrupted.`;

/** `import`: takes objects of the account into the state of a stack. */
export const registerImport: RegisterCommand = (program, session) => {
  const command = program
    .command("import")
    .summary("Take objects of the account into the state of a stack.")
    .description(
      "Shows which objects Pulumi would take over, and with --apply lets it. Reads the account by\n" +
        "list calls alone, and never writes to the service. Run it in the folder of the Pulumi project.",
    )
    .option("--apply", "Import them into the state of the stack.")
    .option("--yes", "The same as --apply.");
  withImport(command)
    .option("--stack <name>", "Import into this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(
      async ({
        json,
        yes,
        apply = yes,
        ...flags
      }: ImportFlags & { json?: true; yes?: true; apply?: true; stack?: string }) => {
        const { importCommand } = await import("../import/import-command.js");
        await importCommand({ ...flags, ...(apply ? { apply } : {}) }, json === true, session);
      },
    );
};
