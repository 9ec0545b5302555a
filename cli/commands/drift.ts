import { command, flagOption } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

/** `drift`: shows what differs between a stack and the service. */
export const driftCommand = command({
  name: "drift",
  summary: "Show what was changed outside, deleted outside, or is in no stack.",
  description:
    "Compares the state of a stack with the service, field by field and by meaning, and lists\n" +
    "what else is in the account. Reads lists and states only; changes nothing.\n" +
    "Run it in the folder of the Pulumi project.",
  details: `
What counts as drift:
  changed    a field that the program declares means something else live
  deleted    an object is gone
  unmanaged  an object that no stack of the backend has; not with --managed-only
Objects of other stacks are listed and are no drift. Secrets are never shown;
those that the service hides, or that an import did not read, cannot be checked, and are
said to be so.`,
  options: {
    markdown: flagOption("Print Markdown for a comment; its first line names the stack."),
    preview: flagOption("Make a preview, too, and name who still uses what it deletes."),
    managedOnly: flagOption("Look only at what the state of the stack holds."),
    profile: profileOption("Use the settings of this profile if a resource names none."),
    stack: stackOption(),
  },
  excludes: { json: ["markdown"] },
  uses: {
    usual: {
      json: async () => (await import("../compare/schemas.js")).driftSchema,
      exits: {
        0: "no drift",
        1: "failed, wrong command line, or no drift as far as the service let itself be read",
        2: "drift",
        4: "the preview holds a deletion that will be refused",
        130: "interrupted",
      },
    },
  },
  usageExitCode: 1,
  work: async ({ json: _, markdown, ...options }, session) => {
    const { runDrift } = await import("../compare/drift.js");
    const { driftMarkdown, driftReport } = await import("../compare/reports.js");
    const { withStep } = await import("../terminal/progress.js");
    const result = await withStep(session, "Comparing the stack with its account", (step) =>
      runDrift({ ...options, ...step }),
    );
    const isBlocked = (result.deletions?.blocked.length ?? 0) > 0;
    return {
      value: result,
      text: markdown ? driftMarkdown(result) : driftReport(result),
      exitCode: isBlocked ? 4 : result.drift ? 2 : result.unread.length > 0 ? 1 : 0,
    };
  },
});
