import { choiceOption, command, flagOption, textOption } from "../command.js";
import { pipelines } from "../init/template-project.js";

export const initCommand = command({
  name: "init",
  summary: "Create a Pulumi project with an account, a test, and a pipeline.",
  description:
    "Create a Pulumi project in TypeScript in an empty folder: an account with a bot and\n" +
    "agents, a test, and a pipeline if you choose one. It makes no calls to the service, and no\n" +
    "stack.\n" +
    "pulumi new makes the same project from node_modules/pulumi-conversation/examples/new-project,\n" +
    "and asks for the settings of a service.",
  words: [
    {
      value: "[folder]",
      doc: "The project folder, empty or new (default: .).",
    },
  ],
  options: {
    name: textOption("<name>", "The project name (default: the folder name)."),
    description: textOption("<text>", "The project description."),
    pipeline: choiceOption("<kind>", pipelines, "The pipeline to write (default: none)."),
    noInstall: flagOption("Do not run npm install."),
  },
  json: async () => (await import("../init/run-init.js")).newProjectSchema,
  exits: {
    0: 'created ("next" lists what is left to do)',
    1: "failed, or the folder is not empty",
    130: "interrupted",
  },
  work: async ({ json: _json, ...given }, session, [folder = "."]) => {
    const { runInit } = await import("../init/run-init.js");
    const { shellWord, wrapped } = await import("../terminal/columns.js");
    const { pipelineOf } = await import("../init/template-project.js");
    const { sessionProgress } = await import("../terminal/progress.js");
    const { untilSignal } = await import("../interruption.js");
    const progress = sessionProgress(session);
    const made = await untilSignal((signal) =>
      runInit({ ...given, folder, env: process.env, progress, signal }),
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
