import { CommandFailure, type RegisterCommand } from "../../command.js";
import type { OrphansOptions } from "../../orphans/run-orphans.js";

interface OrphansFlags extends Omit<OrphansOptions, "folder" | "env" | "say" | "clock"> {
  readonly json?: true;
}

/** Options that only make sense together, or not together. */
const assertSensible = ({ delete: remove, release, ids, ignoreLock }: OrphansFlags): void => {
  const wrong = (text: string): CommandFailure => new CommandFailure(text, 2);
  if (remove && release) throw wrong("Give either --delete or --release, not both.");
  if (release && !ids) throw wrong("Name what --release is to release, with --id.");
  if (ids && !remove && !release)
    throw wrong("--id says what to delete or to release: add --delete or --release.");
  if (ignoreLock && !remove && !release)
    throw wrong("--ignore-lock is for --delete and --release; looking never waits for a lock.");
};

const gather = (id: string, before: readonly string[] = []): readonly string[] => [...before, id];

const details = `
How an object stands:
  left-over  this stack made it, and it is in no state
  held       another state has it, or a program looks it up: never touched
  copy       a person made it from one of ours, with its mark: never deleted
  former     has the stack's name, but is of a destroyed, lost or foreign state

--delete refuses while the stack is locked, and where the lock or a state cannot
be seen.
An object that was kept on purpose (retainOnDelete, pulumi state delete) is a
left-over too.

JSON: [{ kind, name, id, label, standing, pending?, heldBy?: [{ stack, urn }],
         deleted?, released?, reason? }]

Exit code: 0 done; 1 failed, refused, or something could not be deleted or
released; 2 wrong command line; 130 interrupted, what was done is shown.`;

/** `orphans`: what interrupted runs and former states left behind. */
export const registerOrphans: RegisterCommand = (program, session) => {
  program
    .command("orphans")
    .summary("Find what is in no state any more; delete or release it on demand.")
    .description(
      "Lists the objects at the service that carry this stack's mark or name and that its state\n" +
        "does not hold: left-overs of interrupted runs, objects kept on purpose, copies made by hand.\n" +
        "Run it in the folder of the Pulumi project. Changes nothing without --delete or --release.",
    )
    .option("--delete", "Delete the left-overs, users before what they use.")
    .option("--release", "Take the mark off the objects of --id, so that adopt can take them over.")
    .option(
      "--id <id>",
      "Only this object; may be repeated. With it --delete takes former ones too.",
      gather,
    )
    .option("--ignore-lock", "Go on where the lock of the stack cannot be seen.")
    .option("--profile <name>", "Use the settings of this profile.")
    .option("--stack <name>", "Use this stack (default: the selected one).")
    .option("--json", "Print one JSON array; its shape is below.")
    .addHelpText("after", details)
    .action(async ({ json, id, ...flags }: OrphansFlags & { readonly id?: readonly string[] }) => {
      const options = { ...flags, ...(id ? { ids: id } : {}) };
      assertSensible(options);
      const { runOrphans } = await import("../../orphans/run-orphans.js");
      const { orphansReport } = await import("../../orphans/orphans-report.js");
      const { withStep } = await import("../../terminal/progress.js");
      const { done, isEnded } = await withStep(
        session,
        "Looking at the account and at the states",
        async ({ say, signal }) => {
          const result = await runOrphans({ ...options, say, signal });
          return { done: result, isEnded: signal.aborted };
        },
        "What is left over now: pulumi-conversation orphans",
      );
      for (const note of done.notes) session.err(`note: ${note}\n`);
      session.out(json ? `${JSON.stringify(done.found, null, 2)}\n` : orphansReport(done));
      const isDone = done.found.every(({ reason }) => reason === undefined);
      session.exitCode = isDone ? 0 : isEnded ? 130 : 1;
    });
};
