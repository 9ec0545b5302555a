import type { RegisterCommand } from "../command.js";

interface CheckRecordFlags {
  readonly stack?: string;
  readonly json?: true;
}

const details = `
JSON: { holds, changed: ["program" | "settings" | "state" | "account" | "outcome"],
        differences: { program: [text], settings: [text] }, unread: [{ kind, profile? }],
        passes, madeAt, operation, project, stack, args }

Exit code: 0 it holds; 1 failed; 2 wrong command line, or no change record of this stack;
3 something has changed since, or the rehearsal did not go through: do not run it.`;

/** `check-record`: says whether a rehearsal still holds. */
export const registerCheckRecord: RegisterCommand = (program, session) => {
  program
    .command("check-record")
    .summary("Say whether a change record of rehearse still holds.")
    .description(
      "Looks whether program, settings, state, account and record are as they were when\n" +
        "rehearse --record wrote the file, so that a pipeline runs only what was rehearsed.\n" +
        "Run it in the folder of the Pulumi project. Changes nothing: the service gets lists only.",
    )
    .argument("<file>", "The change record.")
    .option("--stack <name>", "Use this stack (default: the one of the record).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async (file: string, { stack, json }: CheckRecordFlags) => {
      const { checkedRecordText, runCheckRecord } = await import(
        "../rehearse/record/run-check-record.js"
      );
      const { untilSignal } = await import("../process/until-signal.js");
      const say = (text: string): void => session.err(`${text}\n`);
      const checked = await untilSignal((signal) =>
        runCheckRecord({ file, say, signal, ...(stack === undefined ? {} : { stack }) }),
      );
      session.out(json ? `${JSON.stringify(checked, null, 2)}\n` : checkedRecordText(checked));
      session.exitCode = checked.holds ? 0 : 3;
    });
};
