import { command, flagOption, incompleteExit, sameStackCommand } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

export const repairCommand = command({
  name: "repair",
  summary: "Repair a stack after a killed run.",
  description:
    "Find what a killed run left behind: pending operations, and objects\n" +
    "that exist twice. The command shows the steps that repair the stack. With\n" +
    "--apply, it carries them out: it writes created objects into the state, and deletes\n" +
    "duplicates. Run it in the Pulumi project folder.",
  details: `
Steps:
  record  add an existing object to the state
  forget  remove a pending operation that is no longer under way
  delete  delete one of a resource's two objects

Without --apply, the command changes nothing. It stops if the stack is locked, or if it
cannot determine whether it is. It finds objects by their marks, and never deletes a copy
that a person made.`,
  options: {
    apply: flagOption("Carry out the steps."),
    ignoreLock: flagOption("Continue even if the command cannot read the stack's lock."),
    profile: profileOption("Use this profile's settings for resources that do not name a profile."),
    stack: stackOption(),
  },
  json: async () => (await import("../repair/repair-plan.js")).repairSchema,
  exits: {
    0: "done, or only shown",
    1: "failed, refused, or something is left for you to do",
    ...incompleteExit,
    130: "interrupted",
  },
  work: async ({ json: _, ...options }, session) => {
    const { repairReport, runRepair } = await import("../repair/repair.js");
    const { isRepaired } = await import("../repair/repair-plan.js");
    const { withLines } = await import("../terminal/progress.js");
    const { result, isEnded } = await withLines(
      session,
      async (means) => ({
        result: await runRepair({ ...options, ...means }),
        isEnded: means.signal.aborted,
      }),
      `To see what is left to do, run: ${sameStackCommand("repair", options)}`,
    );
    return {
      value: result,
      text: repairReport(result, options),
      exitCode: isRepaired(result) ? 0 : isEnded ? 130 : 1,
      isIncomplete: result.unread.length > 0 || !result.consistent,
    };
  },
});
