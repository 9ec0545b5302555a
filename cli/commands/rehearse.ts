import { command, flagOption } from "../command.js";
import { planOption, stackOption, switchesOption } from "./common-options.js";

export const rehearseCommand = command({
  name: "rehearse",
  summary: "Run the program on a copy of the account and the state, and report what happens.",
  description:
    "Read the account, load it into an emulator, copy the stack's state into a private\n" +
    "folder, and run pulumi up for your program there. The report shows what happens, any\n" +
    "refusals and the objects that cause them, and a forecast of the time. The command changes\n" +
    "nothing: it only reads lists from the service, and leaves the state and your files as\n" +
    "they are. Your program runs twice, first in a preview, then in an update: code that it\n" +
    "guards with pulumi.runtime.isDryRun() runs in the update, and so do its resource hooks. To\n" +
    "skip such code, let the program check the variable PULUMI_CONVERSATION_REHEARSAL.",
  options: {
    destroy: flagOption("Rehearse pulumi destroy."),
    plan: planOption,
    stack: stackOption("Rehearse this stack (default: the selected one)."),
    switch: switchesOption(
      "Set a switch for uncertain service behavior (see emulator --help; repeatable).",
    ),
  },
  json: async () => (await import("../rehearse/rehearsal-schema.js")).rehearsalSchema,
  exits: {
    0: "the run succeeds",
    3: "the service refuses the run",
    130: "interrupted",
  },
  work: async ({ json: _, destroy, switch: switches = {}, ...options }, session) => {
    const { withLines } = await import("../terminal/progress.js");
    return withLines(session, async (reporting) => {
      const { rehearse } = await import("../rehearse/rehearse.js");
      const { rehearsalReport } = await import("../rehearse/rehearsal-report.js");
      const operation = destroy ? "destroy" : "up";
      const rehearsal = await rehearse({ ...options, ...reporting, operation, switches });
      return {
        value: rehearsal,
        text: rehearsalReport(rehearsal),
        exitCode: rehearsal.outcome.passes ? 0 : 3,
      };
    });
  },
});
