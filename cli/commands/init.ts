import { Option } from "commander";
import { plans } from "../../provider/service/setting-table.js";
import type { RegisterCommand } from "../command.js";
import type { InitFlags } from "../init/init-answers.js";
import { pipelines } from "../init/template-project.js";

interface Flags extends InitFlags {
  readonly install: boolean;
  readonly yes?: true;
  readonly json?: true;
}

const details = `
Secrets: CONVERSATION_CLIENT_SECRET of the environment, else it is asked for without being
shown. It is stored encrypted in the stack's configuration; a secret for your callbacks is
made up. Neither is ever an argument of a command.

JSON: { folder, name, stack, files: [path], stackMade, next: [command] }

Exit code: 0 made, next holds what is left to do; 1 failed, or the folder is not empty;
2 wrong command line; 130 stopped.`;

/** `init`: a new project with an account, a test and a pipeline. */
export const registerInit: RegisterCommand = (program, run) => {
  program
    .command("init")
    .summary("Make a new Pulumi project with an account, a test and a pipeline.")
    .description(
      "Makes a Pulumi project in TypeScript in an empty folder: an account with a bot and agents, a\n" +
        "test of it, a stack with encrypted secrets, and pipelines. Asks for what the options leave\n" +
        "open, if there is a terminal. Makes no call to the service.",
    )
    .argument("[folder]", "Where the project goes: an empty folder, or a new one.", ".")
    .option("--name <name>", "Name of the project (default: that of the folder).")
    .option("--description <text>", "What the project is for.")
    .option("--stack <name>", "First stack (default: dev).")
    .option("--emulator", "Use the emulator: nothing about a service is asked.")
    .option("--base-url <address>", "Base address of the service, ending with v3.")
    .option("--token-url <address>", "Token address.")
    .option("--client-id <id>", "Client that calls the service.")
    .option("--plan <plan>", `Plan of the tenant: ${plans.join(", ")}.`)
    .addOption(new Option("--pipeline <kind>", "Pipeline to write.").choices(pipelines))
    .option("--no-install", "Do not run npm install.")
    .option("-y, --yes", "Ask nothing; what is left open gets its default.")
    .option("--json", "Ask nothing, and print one JSON object.")
    .addHelpText("after", details)
    .action(async (folder: string, { json, yes, ...flags }: Flags) => {
      const { runInit } = await import("../init/run-init.js");
      const { shellWord } = await import("../terminal/columns.js");
      const { progressOn } = await import("../terminal/progress.js");
      const { askPerson } = await import("../init/init-answers.js");
      const asks = !json && !yes && process.stdin.isTTY === true && process.stderr.isTTY === true;
      const made = await runInit({
        ...flags,
        folder,
        env: process.env,
        progress: progressOn({
          isTTY: process.stderr.isTTY === true,
          columns: process.stderr.columns,
          write: run.err,
        }),
        ask: asks ? askPerson() : undefined,
      });
      if (json) return run.out(`${JSON.stringify(made, null, 2)}\n`);
      const commands = [...(folder === "." ? [] : [`cd ${shellWord(folder)}`]), ...made.next];
      run.out(["", "Next:", ...commands.map((command) => `  ${command}`), ""].join("\n"));
    });
};
