import { plans } from "../../provider/service/plans.js";
import { choiceOption, command, flagOption, negatedOption, textOption } from "../command.js";
import { pipelines } from "../init/template-project.js";

/** `init`: makes a new project with an account, a test and a pipeline. */
export const initCommand = command({
  name: "init",
  summary: "Make a new Pulumi project with an account, a test and a pipeline.",
  description:
    "Makes a Pulumi project in TypeScript in an empty folder: an account with a bot and agents, a\n" +
    "test of it, a stack with encrypted secrets, and pipelines. Asks for what the options leave\n" +
    "open, if there is a terminal. Makes no call to the service.",
  details: `
Secrets: CONVERSATION_CLIENT_SECRET of the environment, else it is asked for without being
shown. It is stored encrypted in the stack's configuration; a secret for your callbacks is
made up. Neither is ever an argument of a command.`,
  words: [
    {
      value: "[folder]",
      doc: "Where the project goes: an empty folder, or a new one (default: .).",
    },
  ],
  options: {
    name: textOption("<name>", "Name of the project (default: that of the folder)."),
    description: textOption("<text>", "What the project is for."),
    stack: textOption("<name>", "First stack (default: dev)."),
    emulator: flagOption("Use the emulator: nothing about a service is asked."),
    baseUrl: textOption("<address>", "Base address of the service, ending with v3."),
    tokenUrl: textOption("<address>", "Token address."),
    clientId: textOption("<id>", "Client that calls the service."),
    plan: textOption("<plan>", `Plan of the tenant: ${plans.join(", ")}.`),
    pipeline: choiceOption("<kind>", pipelines, "Pipeline to write."),
    install: negatedOption("Do not run npm install."),
    yes: { ...flagOption("Ask nothing; what is left open gets its default."), short: "-y" },
  },
  jsonDoc: "Ask nothing, and print one JSON object.",
  uses: {
    usual: {
      json: async () => (await import("../init/run-init.js")).newProjectSchema,
      exits: {
        0: "made; next holds what is left to do",
        1: "failed, or the folder is not empty",
        130: "stopped",
      },
    },
  },
  work: async ({ json, yes, ...given }, session, [folder = "."]) => {
    const { runInit } = await import("../init/run-init.js");
    const { shellWord } = await import("../../provider/kernel/columns.js");
    const { sessionProgress } = await import("../terminal/progress.js");
    const { askPerson } = await import("../init/init-answers.js");
    const asks = !json && !yes && process.stdin.isTTY === true && process.stderr.isTTY === true;
    const made = await runInit({
      ...given,
      folder,
      env: process.env,
      progress: sessionProgress(session),
      ask: asks ? askPerson() : undefined,
    });
    const next = [...(folder === "." ? [] : [`cd ${shellWord(folder)}`]), ...made.next];
    return {
      value: made,
      text: ["", "Next:", ...next.map((each) => `  ${each}`), ""].join("\n"),
    };
  },
});
