import {
  CommandFailure,
  command,
  flagOption,
  incompleteExit,
  sameStackCommand,
  textsOption,
} from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

export const orphansCommand = command({
  name: "orphans",
  summary: "Find, delete, or release objects that are no longer in a state.",
  description:
    "List the objects in the service that carry this stack's mark or name but are not in its\n" +
    "state. These can be leftovers from interrupted runs, objects that you keep on purpose, or\n" +
    "copies made by hand.\n" +
    "Run the command in the Pulumi project folder. It changes nothing without --delete\n" +
    "or --release.",
  details: `
An object's standing:
  leftover   this stack created it, but it is in no state
  held       it is in another state, or a program looks it up; never changed
  copy       a person copied this stack's object with its mark; never deleted
  former     it has the stack's name, but is of a lost or foreign state

--delete and --release refuse to run while the stack is locked or, without --ignore-lock, if
the command cannot read the lock. Without --id, --delete also refuses if it cannot read a
state. An object that you keep on purpose (retainOnDelete, pulumi state delete) is also a
leftover.`,
  options: {
    delete: flagOption("Delete each leftover before the objects that it uses."),
    release: flagOption("Remove the mark from the --id objects so that you can adopt them."),
    id: textsOption(
      "<id>",
      "Act only on this object (repeatable). With this option, --delete also deletes former objects.",
    ),
    ignoreLock: flagOption("Continue even if the command cannot read the stack's lock."),
    profile: profileOption(
      "Search only this profile's account (default: all of the stack's accounts).",
    ),
    stack: stackOption(),
  },
  excludes: { delete: ["release"] },
  jsonDoc: "Print one JSON array; help <command> --json shows its schema.",
  json: async () => (await import("../orphans/orphans.js")).orphansSchema,
  exits: {
    0: "done",
    1: "failed, refused, or an object could not be deleted or released",
    ...incompleteExit,
    130: "interrupted (the output shows what was done)",
  },
  work: async ({ json: _, id: ids, ...options }, session) => {
    const isListing = !options.delete && !options.release;
    const wrong = (problem: string): CommandFailure => new CommandFailure(problem, 2);
    if (options.release && !ids)
      throw wrong("--release requires --id. Specify the objects to release.");
    if (ids && isListing) throw wrong("--id requires --delete or --release.");
    if (options.ignoreLock && isListing)
      throw wrong(
        "--ignore-lock requires --delete or --release. Listing objects never waits for the lock.",
      );
    const { orphansReport, runOrphans } = await import("../orphans/orphans.js");
    const { withStep } = await import("../terminal/progress.js");
    const { done, isEnded } = await withStep(
      session,
      "Reading the account and the states",
      async ({ say, signal }) => {
        const result = await runOrphans({ ...options, ...(ids ? { ids } : {}), say, signal });
        return { done: result, isEnded: signal.aborted };
      },
      `To see what is left, run: ${sameStackCommand("orphans", options)}`,
    );
    for (const note of done.notes) session.err(`note: ${note}\n`);
    const isDone = done.found.every(({ reason }) => reason === undefined);
    return {
      value: done.found,
      text: orphansReport(done, options),
      exitCode: isDone ? 0 : isEnded ? 130 : 1,
      isIncomplete: done.isIncomplete,
    };
  },
});
