import { Option } from "commander";
import { CommandFailure, type RegisterCommand } from "../command.js";

interface ExplainFlags {
  readonly state?: true;
  readonly snapshot?: string;
  readonly account?: string;
  readonly format: "table" | "mermaid" | "plain";
  readonly check?: true;
  readonly stack?: string;
  readonly profile?: string;
  readonly json?: true;
}

const details = `
The table has a row for each sender and group of message types, while a bot has the
conversation and while an agent has it: who gets them, in the order of the calls.
Where an orchestration names several, all who are active get them (assumed).

JSON: { source, accounts: [{ id, name, address, channel, inUse, begins, routes: [{
        phase, from, types, to: [{ side, application?, participant?, role?, callback?,
        unreached? }], leadsTo? }], refused, deadEnds }], notes }

Exit code: 0 done; 1 failed; 2 wrong command line; 3 with --check: a conversation
ends up nowhere.`;

/** `explain`: who gets which message from whom. */
export const registerExplain: RegisterCommand = (program, session) => {
  program
    .command("explain")
    .summary("Say who gets which message from whom, and where one is lost.")
    .description(
      "Says for each account who gets which type of message from whom, in which order, and\n" +
        "where a conversation ends up nowhere. Reads the live account by lists alone, the\n" +
        "state of a stack, or a file. Changes nothing, and shows no secret.",
    )
    .option("--state", "Read the state of the stack in place of the live account.")
    .option("--snapshot <file>", "Read a saved account, or the snapshot of an emulator.")
    .option("--account <name>", "Only the account with this name, address or id.")
    .addOption(
      new Option("--format <format>", "A table, or a diagram as Mermaid or as plain text.")
        .choices(["table", "mermaid", "plain"])
        .default("table"),
    )
    .option("--check", "Exit with 3 where a conversation ends up nowhere.")
    .option("--profile <name>", "Use the settings of this profile.")
    .option("--stack <name>", "Use this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async ({ json, format, check, ...options }: ExplainFlags) => {
      if (options.state && options.snapshot !== undefined)
        throw new CommandFailure("Give either --state or --snapshot, not both.", 2);
      const { explainSetUp, explanationText, mermaidDiagram, plainDiagram } = await import(
        "../explain/explain-command.js"
      );
      const shown = { table: explanationText, mermaid: mermaidDiagram, plain: plainDiagram };
      const { withProgress } = await import("../terminal/progress.js");
      const explanation = await withProgress(session, (work) =>
        explainSetUp({ ...options, ...work }),
      );
      session.out(json ? `${JSON.stringify(explanation, null, 2)}\n` : shown[format](explanation));
      const isLost = explanation.accounts.some(({ deadEnds }) => deadEnds.length > 0);
      session.exitCode = check && isLost ? 3 : 0;
    });
};
