import { CommandFailure, command, flagOption, textsOption } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

interface Purpose {
  readonly delete?: true;
  readonly release?: true;
  readonly id?: readonly string[];
  readonly ignoreLock?: true;
}

/** Rejects options that only make sense together. */
const assertSensible = ({ delete: remove, release, id, ignoreLock }: Purpose): void => {
  const wrong = (problem: string): CommandFailure => new CommandFailure(problem, 2);
  if (release && !id) throw wrong("Name what --release is to release, with --id.");
  if (id && !remove && !release)
    throw wrong("--id says what to delete or to release: add --delete or --release.");
  if (ignoreLock && !remove && !release)
    throw wrong("--ignore-lock is for --delete and --release; looking never waits for a lock.");
};

/** `orphans`: finds what interrupted runs and former states left behind. */
export const orphansCommand = command({
  name: "orphans",
  summary: "Find what is in no state any more; delete or release it on demand.",
  description:
    "Lists the objects at the service that carry this stack's mark or name and that its state\n" +
    "does not hold: left-overs of interrupted runs, objects kept on purpose, copies made by hand.\n" +
    "Run it in the folder of the Pulumi project. Changes nothing without --delete or --release.",
  details: `
How an object stands:
  left-over  this stack made it, and it is in no state
  held       another state has it, or a program looks it up: never touched
  copy       a person made it from one of ours, with its mark: never deleted
  former     has the stack's name, but is of a destroyed, lost or foreign state

--delete refuses while the stack is locked, and where the lock or a state cannot
be seen.
An object that was kept on purpose (retainOnDelete, pulumi state delete) is a
left-over too.`,
  options: {
    delete: flagOption("Delete the left-overs, users before what they use."),
    release: flagOption("Take the mark off the objects of --id, so that adopt can take them over."),
    id: textsOption(
      "<id>",
      "Only this object; may be repeated. With it --delete takes former ones too.",
    ),
    ignoreLock: flagOption("Go on if the lock of the stack cannot be seen."),
    profile: profileOption(),
    stack: stackOption(),
  },
  excludes: { delete: ["release"] },
  jsonDoc: "Print one JSON array; its shape is below.",
  uses: {
    usual: {
      json: async () => (await import("../repair/schemas.js")).orphansSchema,
      exits: {
        0: "done",
        1: "failed, refused, or something could not be deleted or released",
        130: "interrupted; what was done is shown",
      },
    },
  },
  work: async ({ json: _, ...given }, session) => {
    assertSensible(given);
    const { id: ids, ...options } = given;
    const { orphansReport, runOrphans } = await import("../repair/orphans.js");
    const { withStep } = await import("../terminal/progress.js");
    const { done, isEnded } = await withStep(
      session,
      "Looking at the account and at the states",
      async ({ say, signal }) => {
        const result = await runOrphans({ ...options, ...(ids ? { ids } : {}), say, signal });
        return { done: result, isEnded: signal.aborted };
      },
      "What is left over now: pulumi-conversation orphans",
    );
    for (const note of done.notes) session.err(`note: ${note}\n`);
    const isDone = done.found.every(({ reason }) => reason === undefined);
    return {
      value: done.found,
      text: orphansReport(done),
      exitCode: isDone ? 0 : isEnded ? 130 : 1,
    };
  },
});
