import { ownCommand } from "../../provider/kernel/package.js";
import { command, textOption, UsageFailure } from "../command.js";
import { shellWord, withCount } from "../terminal/columns.js";
import { stackOption } from "./common-options.js";

const oneSide = (a: string): string => {
  const compared = ownCommand(`compare ${shellWord(a)}`);
  const other = a === "live" ? "stack:dev" : "live";
  return `Specify two accounts, for example: ${compared} ${other}. To save one, run: ${compared} --save account.json`;
};

/** `compare`: shows what differs between two accounts. */
export const compareCommand = command({
  name: "compare",
  summary: "Show what differs between two accounts, stacks, or snapshots.",
  description:
    "Compare two accounts field by field and by meaning. Each side is a live account, a stack,\n" +
    "a saved account, or an export. The command reads only lists and states, and changes\n" +
    "nothing.",
  details: `
What a side can be:
  a file or folder   a saved account, an emulator snapshot, the output of
                     pulumi stack export, import.json, or a folder that
                     export wrote
  stack:NAME         a stack's state
  profile:NAME       the live account of a profile
  live               the live account, without a profile; next to a stack, every
                     account that contains the stack's objects
  any other word     a stack of this project, or else a profile

The command matches objects by name, then by logical name, by automatic name without the
suffix, or by what they refer to, but never by ID. It neither compares nor shows secrets.`,
  words: [
    { value: "<a>", doc: "The first side; see below." },
    { value: "[b]", doc: "The second side." },
  ],
  options: {
    save: textOption("<file>", "Save the first side (a live account) without secrets."),
    stack: stackOption("Use this stack's settings (default: the selected one)."),
  },
  uses: {
    usual: {
      json: async () => (await import("../compare/comparison.js")).comparisonSchema,
      exits: {
        0: "the same",
        2: "different",
        6: "no difference found, but something could not be read",
        130: "interrupted",
      },
    },
    save: {
      json: async () => (await import("../compare/comparison.js")).savedSchema,
      exits: {
        0: "saved",
        6: "saved to a new file without what could not be read; an existing file stays as it is",
        130: "interrupted",
      },
    },
  },
  usageExitCode: 1,
  work: async ({ json: _, save: file, ...options }, session, [a = "", b]) => {
    if (file !== undefined && b !== undefined)
      throw new UsageFailure("--save accepts one side: the account to save.");
    const { compareReport, isDifferent, runCompare, saveAccount } = await import(
      "../compare/comparison.js"
    );
    const { withProgress } = await import("../terminal/progress.js");
    const { notReadLines, textReport } = await import("../terminal/report.js");
    return withProgress(session, async (progress) => {
      if (file !== undefined) {
        const { objects, notes } = await saveAccount(a, file, { ...options, ...progress });
        const saved = `Saved ${withCount(objects, "object")}, without secrets: ${file}`;
        return {
          value: { file, objects, notes },
          text: textReport([...notReadLines(notes), saved]),
          isIncomplete: notes.length > 0,
        };
      }
      if (b === undefined) throw new UsageFailure(oneSide(a));
      const result = await runCompare(a, b, { ...options, ...progress });
      return {
        value: result,
        text: compareReport(result),
        exitCode: isDifferent(result) ? 2 : 0,
        isIncomplete: !result.same,
      };
    });
  },
});
