import { command, flagOption } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

/** `repair`: puts a stack in order after a run was killed. */
export const repairCommand = command({
  name: "repair",
  summary: "Bring a stack in order after a run that was killed.",
  description:
    "Finds what a killed run has left: its lock, its processes, creations that are noted\n" +
    "as under way, objects that are there twice. Shows the steps that bring it in order.\n" +
    "Run it in the folder of the Pulumi project. With --apply it does them: it writes\n" +
    "what was made into the state and deletes what was made twice.",
  details: `
What it finds:
  remove-cut-off-files  files of a file:// backend that a kill left empty
  restore-state         a state of a file:// backend that was cut off: its copy
  end-process           a provider of the killed run that still waits
  cancel                the lock of the killed run
  record                an object that was made and is not in the state
  refresh               an object whose update was cut off
  forget                a note of something under way that is not
  delete                an object that is there twice; the other one stays

Without --apply nothing is changed. It refuses while a run is at work, and where
that cannot be seen. Objects are found by their marks; a copy that a person made
is never deleted.`,
  options: {
    apply: flagOption("Do the steps."),
    ignoreLock: flagOption(
      "Go on if it cannot be seen whether the run that holds the lock is still alive.",
    ),
    profile: profileOption("Use the settings of this profile if a resource names none."),
    stack: stackOption(),
  },
  uses: {
    usual: {
      json: async () => (await import("../repair/schemas.js")).repairSchema,
      exits: {
        0: "done, or only shown",
        1: "failed, refused, or something is left that needs a person",
        130: "interrupted",
      },
    },
  },
  work: async ({ json: _, ...options }, session) => {
    const { repairReport, runRepair } = await import("../repair/repair.js");
    const { isRepaired } = await import("../repair/schemas.js");
    const { withLines } = await import("../terminal/progress.js");
    const { result, isEnded } = await withLines(
      session,
      async (means) => ({
        result: await runRepair({ ...options, ...means }),
        isEnded: means.signal.aborted,
      }),
      "What is left to do now: pulumi-conversation repair",
    );
    return {
      value: result,
      text: repairReport(result),
      exitCode: isRepaired(result) ? 0 : isEnded ? 130 : 1,
    };
  },
});
