import { CommandFailure, type CommandRun, type RegisterCommand } from "../../command.js";
import type { StackOptions } from "../../stack/open-stack.js";
import { shellWord } from "../../terminal/columns.js";
import type { CommandWork } from "../../terminal/progress.js";

interface CompareFlags extends StackOptions {
  readonly save?: string;
  readonly json?: true;
}

const details = `
What a side is:
  a file or folder   a saved account, a snapshot of an emulator, what
                     pulumi stack export prints, import.json, or a folder of
                     export
  stack:NAME         what the state of a stack holds
  profile:NAME       the live account of a profile
  live               the live account of the settings without a profile
  another word       a stack of this project, else a profile

Objects are the same by their names, else by their logical names, by automatic
names without the suffix, or by what they refer to; never by their ids. Secrets
are not compared and not shown.

JSON: { a, b, same, matched,
        different: [{ kind, name, idA, idB, matchedBy,
                      differences: [{ path, a?, b? }] }],
        onlyInA: [{ kind, name, id }], onlyInB: [{ kind, name, id }],
        unread: [{ side, kind }], notes: [text] }
JSON of --save: { file, objects }

Exit code: 0 the same, or saved; 2 different; 1 failed, wrong command line, or the same
as far as both sides could be read.`;

const oneSide = (a: string): string => {
  const compare = `pulumi-conversation compare ${shellWord(a)}`;
  const other = a === "live" ? "stack:dev" : "live";
  return `Name two sides, such as: ${compare} ${other}. To save one: ${compare} --save account.json`;
};

interface Sides {
  readonly a: string;
  readonly b?: string | undefined;
}

const compare = async (
  { a, b }: Sides,
  { json, save: file, ...options }: CompareFlags & CommandWork,
  session: CommandRun,
) => {
  const { runCompare, saveAccount } = await import("../../compare/run-compare.js");
  const { isDifferent } = await import("../../compare/comparison.js");
  const { compareReport } = await import("../../compare/compare-report.js");
  const print = (value: unknown, text: string) =>
    session.out(json ? `${JSON.stringify(value, null, 2)}\n` : text);
  if (file !== undefined) {
    if (b !== undefined) throw new CommandFailure("--save takes one side, which is saved.");
    const objects = await saveAccount(a, file, options);
    print({ file, objects }, `${objects} objects saved, without secrets: ${file}\n`);
    return;
  }
  if (b === undefined) throw new CommandFailure(oneSide(a));
  const result = await runCompare(a, b, options);
  print(result, compareReport(result));
  session.exitCode = isDifferent(result) ? 2 : result.same ? 0 : 1;
};

/** `compare`: what differs between two accounts. */
export const registerCompare: RegisterCommand = (program, session) => {
  program
    .command("compare")
    .summary("Show what differs between two accounts, stacks or snapshots.")
    .description(
      "Compares two accounts field by field and by meaning: live, of a stack, saved or exported.\n" +
        "Reads lists and states only; changes nothing.",
    )
    .argument("<a>", "One side; see below.")
    .argument("[b]", "The other side.")
    .option("--save <file>", "Save the one side, a live account, without secrets.")
    .option("--stack <name>", "Take the settings of this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .exitOverride((error) => {
      session.wrongLineCode = 1;
      throw error;
    })
    .action(async (a: string, b: string | undefined, flags: CompareFlags) => {
      const { withProgress } = await import("../../terminal/progress.js");
      await withProgress(session, (work) => compare({ a, b }, { ...flags, ...work }, session));
    });
};
