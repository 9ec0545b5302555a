import { command, flagOption, incompleteExit } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

export const explainCommand = command({
  name: "explain",
  summary: "Show who gets which messages, and where messages are lost.",
  description:
    "For each account, show who gets which types of messages from whom and in which order, and\n" +
    "where a conversation reaches a dead end. The command reads the live account with list\n" +
    "calls only. It changes nothing, and shows no secrets.",
  details: `
The table has a row for each sender and group of message types, first while a bot has the
conversation, then while an agent has it. It shows who gets the messages, in call
order. If an orchestration lists several recipients, all active ones get each message
(assumed).`,
  options: {
    check: flagOption("Exit with code 3 if a conversation reaches a dead end."),
    profile: profileOption(),
    stack: stackOption(),
  },
  json: async () => (await import("../explain/explanation.js")).explanationSchema,
  exits: {
    0: "done",
    3: "with --check: a dead end",
    ...incompleteExit,
    130: "interrupted",
  },
  work: async ({ json: _, check, ...options }, session) => {
    const { explainSetUp, explanationText } = await import("../explain/explain.js");
    const { withProgress } = await import("../terminal/progress.js");
    const { explanation, isIncomplete } = await withProgress(session, (progress) =>
      explainSetUp({ ...options, ...progress }),
    );
    const isLost = explanation.accounts.some(({ deadEnds }) => deadEnds.length > 0);
    return {
      value: explanation,
      text: explanationText(explanation),
      exitCode: check && isLost ? 3 : 0,
      isIncomplete,
    };
  },
});
