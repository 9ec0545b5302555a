import { CommandFailure, type RegisterCommand } from "../../command.js";
import type { DriftOptions } from "../../drift/run-drift.js";

interface DriftFlags extends DriftOptions {
  readonly json?: true;
  readonly markdown?: true;
}

const details = `
What counts as drift:
  changed    a field that the program declares means something else live
  deleted    an object is gone
  unmanaged  an object that no stack of the backend has; not with --managed-only
Objects of other stacks are listed and are no drift. Secrets are never shown;
those that the service hides, or that an import did not read, cannot be checked, and are
said to be so.

JSON: { project, stack, readAt, consistent, drift,
        changed: [{ kind, name, id, urn, changes: [{ path, state?, live? }],
                    modified?, who }],
        deleted: [{ kind, name, id, urn, who, sameName? }],
        unmanaged: [{ kind, name, id, standing, created?, modified?, label? }],
        otherStacks: [{ kind, name, id, stack }],
        uncheckable: [{ kind, name, id, urn, paths, changedSince? }],
        unread: [{ kind, problem }], compared, notes: [text],
        deletions?: { deletions,
                      blocked: [{ kind, name, id, urn,
                        users: [{ kind, name, id, path, managed, stack? }] }],
                      order: [{ action, kind, name, id }], unread?: [kind] } }

Exit code: 0 no drift; 2 drift; 1 failed, wrong command line, or no drift as far
as the service let itself be read; 4 the preview holds a deletion that will be
refused; 130 interrupted.`;

/** `drift`: what differs between a stack and the service. */
export const registerDrift: RegisterCommand = (program, session) => {
  program
    .command("drift")
    .summary("Show what was changed outside, deleted outside, or is in no stack.")
    .description(
      "Compares the state of a stack with the service, field by field and by meaning, and lists\n" +
        "what else is in the account. Reads lists and states only; changes nothing.\n" +
        "Run it in the folder of the Pulumi project.",
    )
    .option("--markdown", "Print Markdown for a comment; its first line tells the stack.")
    .option("--preview", "Make a preview, too, and name who still uses what it deletes.")
    .option("--managed-only", "Look only at what the state of the stack holds.")
    .option("--profile <name>", "Use the settings of this profile where a resource names none.")
    .option("--stack <name>", "Use this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .exitOverride((error) => {
      session.wrongLineCode = 1;
      throw error;
    })
    .action(async ({ json, markdown, ...flags }: DriftFlags) => {
      if (json && markdown) throw new CommandFailure("Give either --json or --markdown, not both.");
      const { runDrift } = await import("../../drift/run-drift.js");
      const { driftReport } = await import("../../drift/drift-report.js");
      const { driftMarkdown } = await import("../../drift/drift-markdown.js");
      const { withStep } = await import("../../terminal/progress.js");
      const result = await withStep(session, "Comparing the stack with its account", (step) =>
        runDrift({ ...flags, ...step }),
      );
      const text = markdown ? driftMarkdown(result) : driftReport(result);
      session.out(json ? `${JSON.stringify(result, null, 2)}\n` : text);
      const isBlocked = (result.deletions?.blocked.length ?? 0) > 0;
      session.exitCode = isBlocked ? 4 : result.drift ? 2 : result.unread.length > 0 ? 1 : 0;
    });
};
