import { Argument } from "commander";
import type { RegisterCommand } from "../command.js";

interface CompletionFlags {
  readonly json?: true;
}

/** The shells, as the argument takes them; the scripts are loaded when they are printed. */
const choices = ["bash", "zsh", "fish"] as const;

const details = `
bash  echo 'source <(pulumi-conversation completion bash)' >> ~/.bashrc
zsh   echo 'source <(pulumi-conversation completion zsh)' >> ~/.zshrc   (after compinit)
fish  pulumi-conversation completion fish > ~/.config/fish/completions/pulumi-conversation.fish

It works for the command pulumi-conversation, so have that on PATH: node_modules/.bin.

JSON: { shell, script }

Exit code: 0 done; 2 wrong command line.`;

/** `completion`: makes a shell complete the commands. */
export const registerCompletion: RegisterCommand = (program, session) => {
  program
    .command("completion")
    .summary("Print a script that makes a shell complete the commands.")
    .description(
      "Prints a script for a shell that completes commands, options and the words that these\n" +
        "take. Changes nothing; where to put it is below.",
    )
    .addArgument(new Argument("<shell>", "The shell.").choices(choices))
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async (shell: (typeof choices)[number], { json }: CompletionFlags) => {
      const { completionScript } = await import("../completion/completion-script.js");
      const { completedCommands } = await import("../completion/command-line.js");
      const script = completionScript(shell, completedCommands(program));
      session.out(json ? `${JSON.stringify({ shell, script }, null, 2)}\n` : script);
    });
};
