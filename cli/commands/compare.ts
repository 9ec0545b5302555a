import { shellWord } from "../../provider/kernel/columns.js";
import { CommandFailure, command, textOption } from "../command.js";
import { stackOption } from "./common-options.js";

const oneSide = (a: string): string => {
  const compared = `pulumi-conversation compare ${shellWord(a)}`;
  const other = a === "live" ? "stack:dev" : "live";
  return `Give two accounts, such as: ${compared} ${other}. To save one: ${compared} --save account.json`;
};

/** `compare`: shows what differs between two accounts. */
export const compareCommand = command({
  name: "compare",
  summary: "Show what differs between two accounts, stacks or snapshots.",
  description:
    "Compares two accounts field by field and by meaning: live, of a stack, saved or exported.\n" +
    "Reads lists and states only; changes nothing.",
  details: `
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
are not compared and not shown.`,
  words: [
    { value: "<a>", doc: "One side; see below." },
    { value: "[b]", doc: "The other side." },
  ],
  options: {
    save: textOption("<file>", "Save the one side, a live account, without secrets."),
    stack: stackOption("Take the settings of this stack (default: the selected one)."),
  },
  uses: {
    usual: {
      json: async () => (await import("../compare/schemas.js")).comparisonSchema,
      exits: {
        0: "the same",
        1: "failed, wrong command line, or the same as far as both sides could be read",
        2: "different",
        130: "interrupted",
      },
    },
    save: {
      json: async () => (await import("../compare/schemas.js")).savedSchema,
      exits: { 0: "saved", 130: "interrupted" },
    },
  },
  usageExitCode: 1,
  work: async ({ json: _, save: file, ...options }, session, [a = "", b]) => {
    if (file !== undefined && b !== undefined)
      throw new CommandFailure("--save takes one side, which is saved.");
    const { isDifferent, runCompare, saveAccount } = await import("../compare/comparison.js");
    const { compareReport } = await import("../compare/reports.js");
    const { withProgress } = await import("../terminal/progress.js");
    return withProgress(session, async (progress) => {
      if (file !== undefined) {
        const objects = await saveAccount(a, file, { ...options, ...progress });
        return {
          value: { file, objects },
          text: `${objects} objects saved, without secrets: ${file}\n`,
        };
      }
      if (b === undefined) throw new CommandFailure(oneSide(a));
      const result = await runCompare(a, b, { ...options, ...progress });
      return {
        value: result,
        text: compareReport(result),
        exitCode: isDifferent(result) ? 2 : result.same ? 0 : 1,
      };
    });
  },
});
