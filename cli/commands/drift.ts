import { command, flagOption } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

export const driftCommand = command({
  name: "drift",
  summary: "Show unmanaged objects and changes made outside Pulumi.",
  description:
    "Compare a stack's state with the service, field by field and by meaning, and list\n" +
    "the account's other objects. The command only reads: lists, states, and the objects\n" +
    "that their lists lack or show otherwise. Run it in the Pulumi project folder.",
  details: `
What counts as drift:
  changed    a declared field has a different meaning in the service
  deleted    the object is gone
  unmanaged  no stack in the backend manages it (not with --managed-only)

The command lists other stacks' objects, but does not count them as drift. It neither
compares nor shows secrets.`,
  options: {
    markdown: flagOption("Print Markdown for a comment; its first line names the stack."),
    managedOnly: flagOption("Compare only what the stack's state contains."),
    profile: profileOption("Use this profile's settings for resources that do not name a profile."),
    stack: stackOption(),
  },
  excludes: { json: ["markdown"] },
  json: async () => (await import("../drift/drift.js")).driftSchema,
  exits: {
    0: "no drift",
    2: "drift",
    6: "no drift found, but something could not be read",
    130: "interrupted",
  },
  usageExitCode: 1,
  work: async ({ json: _, markdown, ...options }, session) => {
    const { runDrift } = await import("../drift/drift.js");
    const { driftMarkdown, driftReport } = await import("../drift/report.js");
    const { withStep } = await import("../terminal/progress.js");
    const result = await withStep(session, "Comparing the stack with its account", (step) =>
      runDrift({ ...options, ...step }),
    );
    return {
      value: result,
      text: markdown ? driftMarkdown(result, options) : driftReport(result, options),
      exitCode: result.drift ? 2 : 0,
      isIncomplete: result.unread.length > 0 || !result.consistent,
    };
  },
});
