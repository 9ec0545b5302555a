import { plans } from "../../provider/service/plans.js";
import { choiceOption, command, flagOption, negatedOption, textOption } from "../command.js";
import { pipelines } from "../init/template-project.js";

/** `init`: makes a new project with an account, a test, and a pipeline. */
export const initCommand = command({
  name: "init",
  summary: "Create a Pulumi project with an account, a test, and a pipeline.",
  description:
    "Create a Pulumi project in TypeScript in an empty folder: an account with a bot and\n" +
    "agents, a test, a stack with encrypted secrets, and pipelines. In a terminal, the command\n" +
    "asks for anything that the options do not specify. It makes no calls to the service.",
  details: `
Secrets: the command reads the client secret from CONVERSATION_CLIENT_SECRET, or asks for it
without showing it. It stores the secret encrypted in the stack's configuration, and generates
a secret for your callbacks. Neither is ever passed as a command argument.`,
  words: [
    {
      value: "[folder]",
      doc: "The project folder, empty or new (default: .).",
    },
  ],
  options: {
    name: textOption("<name>", "The project name (default: the folder name)."),
    description: textOption("<text>", "The project description."),
    stack: textOption("<name>", "The first stack (default: dev)."),
    emulator: flagOption("Use the emulator; do not ask about a service."),
    baseUrl: textOption("<url>", "The service's base URL, which ends with v3."),
    tokenUrl: textOption("<url>", "The service's token URL."),
    clientId: textOption("<id>", "The ID of the client that calls the service."),
    scope: textOption("<scope>", "The scope of a commercial tenant (default: from its URLs)."),
    plan: textOption("<plan>", `The tenant's plan: ${plans.join(", ")}.`),
    pipeline: choiceOption("<kind>", pipelines, "The pipeline to write."),
    install: negatedOption("Do not run npm install."),
    yes: { ...flagOption("Ask no questions; use the defaults for missing options."), short: "-y" },
  },
  jsonDoc: "Ask no questions and print one JSON object.",
  uses: {
    usual: {
      json: async () => (await import("../init/run-init.js")).newProjectSchema,
      exits: {
        0: 'created ("next" lists what is left to do)',
        1: "failed, or the folder is not empty",
        130: "interrupted",
      },
    },
  },
  work: async ({ json, yes, ...given }, session, [folder = "."]) => {
    const { runInit } = await import("../init/run-init.js");
    const { shellWord, wrapped } = await import("../terminal/columns.js");
    const { pipelineOf } = await import("../init/template-project.js");
    const { sessionProgress } = await import("../terminal/progress.js");
    const { askPerson } = await import("../init/init-answers.js");
    const asks = !json && !yes && process.stdin.isTTY === true && process.stderr.isTTY === true;
    const { untilSignal } = await import("../interruption.js");
    const made = await untilSignal((signal) =>
      runInit({
        ...given,
        folder,
        env: process.env,
        progress: sessionProgress(session),
        ask: asks ? askPerson(process.stdin, process.stderr, signal) : undefined,
        signal,
      }),
    );
    const next = [...(folder === "." ? [] : [`cd ${shellWord(folder)}`]), ...made.next];
    const lines = ["", "Next:", ...next.map((each) => `  ${each}`), ""];
    const pipeline = made.files.find((file) => pipelineOf(file) !== undefined);
    const toSet = pipeline
      ? `For the pipeline, set the variables and secrets listed at the top of ${pipeline}.`
      : undefined;
    return {
      value: made,
      text: [...lines, ...(toSet ? [...wrapped(toSet, 80), ""] : [])].join("\n"),
    };
  },
});
