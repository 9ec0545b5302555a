import { command } from "../command.js";
import { stackOption } from "./common-options.js";

export const compareCommand = command({
  name: "compare",
  summary: "Show what differs between two accounts or stacks.",
  description:
    "Compare two accounts field by field and by meaning. Each side is a live account or a\n" +
    "stack's state. The command reads only lists and states, and changes nothing.",
  details: `
What a side can be:
  live          the live account, without a profile
  profile:NAME  the live account of a profile
  stack:NAME    a stack's state
  a file        a state that pulumi stack export printed

The command matches objects by name, and then by logical name, but never by ID. It neither
compares nor shows secrets.`,
  words: [
    { value: "<a>", doc: "The first side; see below." },
    { value: "<b>", doc: "The second side." },
  ],
  options: {
    stack: stackOption("Use this stack's settings (default: the compared or selected one)."),
  },
  json: async () => (await import("../compare/comparison.js")).comparisonSchema,
  exits: {
    0: "the same",
    2: "different",
    6: "no difference found, but something could not be read",
    130: "interrupted",
  },
  usageExitCode: 1,
  work: async ({ json: _, ...options }, session, [a = "", b = ""]) => {
    const { compareReport, isDifferent, runCompare } = await import("../compare/comparison.js");
    const { withProgress } = await import("../terminal/progress.js");
    const result = await withProgress(session, (progress) =>
      runCompare(a, b, { ...options, ...progress }),
    );
    return {
      value: result,
      text: compareReport(result),
      exitCode: isDifferent(result) ? 2 : 0,
      isIncomplete: !result.same,
    };
  },
});
