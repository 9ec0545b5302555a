import {
  choiceOption,
  command,
  flagOption,
  incompleteExit,
  textOption,
  withDefault,
} from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

/** `explain`: says who gets which message from whom. */
export const explainCommand = command({
  name: "explain",
  summary: "Show who gets which messages, and where messages are lost.",
  description:
    "For each account, show who gets which types of messages from whom and in which order, and\n" +
    "where a conversation reaches a dead end. The command reads the live account (with\n" +
    "list calls only), a stack's state, or a file. It changes nothing, and shows no secrets.",
  details: `
The table has a row for each sender and group of message types, first while a bot has the
conversation, then while an agent has it. It shows who gets the messages, in call
order. If an orchestration lists several recipients, all active ones get each message
(assumed).`,
  options: {
    state: flagOption("Read the stack's state instead of the live account."),
    snapshot: textOption("<file>", "Read a file, such as a saved account or an emulator snapshot."),
    account: textOption("<name>", "Show only the account with this name, address, or ID."),
    format: withDefault(
      choiceOption("<format>", ["table", "mermaid"], "Print a table, or a Mermaid diagram."),
      "table",
    ),
    check: flagOption("Exit with code 3 if a conversation reaches a dead end."),
    profile: profileOption(),
    stack: stackOption(),
  },
  excludes: { state: ["snapshot"] },
  uses: {
    usual: {
      json: async () => (await import("../explain/explanation.js")).explanationSchema,
      exits: {
        0: "done",
        3: "with --check: a dead end",
        ...incompleteExit,
        130: "interrupted",
      },
    },
  },
  work: async ({ json: _, format, check, ...options }, session) => {
    const { explainSetUp, explanationText, mermaidDiagram } = await import(
      "../explain/explain-command.js"
    );
    const { withProgress } = await import("../terminal/progress.js");
    const { explanation, isIncomplete } = await withProgress(session, (progress) =>
      explainSetUp({ ...options, ...progress }),
    );
    const shown = { table: explanationText, mermaid: mermaidDiagram };
    const isLost = explanation.accounts.some(({ deadEnds }) => deadEnds.length > 0);
    return {
      value: explanation,
      text: shown[format](explanation),
      exitCode: check && isLost ? 3 : 0,
      isIncomplete,
    };
  },
});
