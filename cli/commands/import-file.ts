import { CommandFailure, type RegisterCommand } from "../command.js";

interface ImportFileFlags {
  readonly byName?: string | true;
  readonly out?: string;
  readonly profile?: string;
  readonly stack?: string;
}

const details = `
Then: pulumi import --file <file> --generate-code=false --protect=false --yes
The file holds no secret: one is taken to be what the program gives first. Refused are
an object that a state has already, one with the mark of another stack, and a Pulumi
older than 3.254. The stack's Ownership is in the file where its state has none yet.

JSON: { resources: [{ type, name, id, inputs, outputs }] }

Exit code: 0 printed or written; 1 failed, or refused; 2 wrong command line.`;

const assertOneWay = (id: string | undefined, { byName }: ImportFileFlags): void => {
  if ((id === undefined) === (byName === undefined))
    throw new CommandFailure("Give either the id of the object, or --by-name.", 2);
};

/** `import-file`: one object as a file for `pulumi import`. */
export const registerImportFile: RegisterCommand = (program, session) => {
  program
    .command("import-file")
    .summary("Print the file with which pulumi import takes one object over.")
    .description(
      "Prints an object as `pulumi import --file` reads it. Makes one look at the service and one at\n" +
        "the states, and changes nothing. Run it in the folder of the Pulumi project.",
    )
    .argument("<kind>", "Kind of the object, such as Channel.")
    .argument("<name>", "Logical name of the resource in the program.")
    .argument("[id]", "Id of the object at the service.")
    .option("--by-name [name]", "Find the object by its name (default: the logical name).")
    .option("--out <file>", "Write the file here (default: print it).")
    .option("--profile <name>", "Take the object from the account of this profile.")
    .option("--stack <name>", "For the state of this stack (default: the selected one).")
    .option("--json", "Print JSON, as without it.")
    .addHelpText("after", details)
    .action(async (kind: string, name: string, id: string | undefined, flags: ImportFileFlags) => {
      assertOneWay(id, flags);
      const { byName, out, ...rest } = flags;
      const { runImportFile } = await import("../import/run-import-file.js");
      const { withStep } = await import("../terminal/progress.js");
      const text = await withStep(session, "Looking at the object and at the states", (step) =>
        runImportFile({
          ...{ kind, name, ...rest, ...step },
          ...(id === undefined ? {} : { id }),
          ...(typeof byName === "string" ? { byName } : {}),
        }),
      );
      if (out === undefined) return session.out(text);
      const { writeFileSync } = await import("node:fs");
      writeFileSync(out, text);
      session.err(`Wrote ${out}.\n`);
    });
};
