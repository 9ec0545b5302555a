import { choiceOption, command, flagOption, textOption, withDefault } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

/** `explain`: says who gets which message from whom. */
export const explainCommand = command({
  name: "explain",
  summary: "Say who gets which message from whom, and where one is lost.",
  description:
    "Says for each account who gets which type of message from whom, in which order, and\n" +
    "where a conversation ends up nowhere. Reads the live account by lists alone, the\n" +
    "state of a stack, or a file. Changes nothing, and shows no secret.",
  details: `
The table has a row for each sender and group of message types, while a bot has the
conversation and while an agent has it: who gets them, in the order of the calls.
Where an orchestration names several, all who are active get them (assumed).`,
  options: {
    state: flagOption("Read the state of the stack in place of the live account."),
    snapshot: textOption("<file>", "Read a saved account, or the snapshot of an emulator."),
    account: textOption("<name>", "Only the account with this name, address or id."),
    format: withDefault(
      choiceOption(
        "<format>",
        ["table", "mermaid", "plain"],
        "A table, or a diagram as Mermaid or as plain text.",
      ),
      "table",
    ),
    check: flagOption("Exit with 3 if a conversation ends up nowhere."),
    profile: profileOption(),
    stack: stackOption(),
  },
  excludes: { state: ["snapshot"] },
  uses: {
    usual: {
      json: async () => (await import("../explain/explanation.js")).explanationSchema,
      exits: { 0: "done", 3: "with --check: a conversation ends up nowhere", 130: "interrupted" },
    },
  },
  work: async ({ json: _, format, check, ...options }, session) => {
    const { explainSetUp, explanationText, mermaidDiagram, plainDiagram } = await import(
      "../explain/explain-command.js"
    );
    const { withProgress } = await import("../terminal/progress.js");
    const explanation = await withProgress(session, (progress) =>
      explainSetUp({ ...options, ...progress }),
    );
    const shown = { table: explanationText, mermaid: mermaidDiagram, plain: plainDiagram };
    const isLost = explanation.accounts.some(({ deadEnds }) => deadEnds.length > 0);
    return {
      value: explanation,
      text: shown[format](explanation),
      exitCode: check && isLost ? 3 : 0,
    };
  },
});
