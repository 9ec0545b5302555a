import { type CommandSpec, command } from "../command.js";
import { completionScript, shells } from "../completion.js";

/** `completion`: makes a shell complete the commands. */
export const completionCommand = (commands: () => readonly CommandSpec[]): CommandSpec =>
  command({
    name: "completion",
    isHidden: true,
    summary: "Print a script that makes a shell complete the commands.",
    description:
      "Prints a script for a shell that completes commands, options and the words that these\n" +
      "take. Changes nothing; where to put it is below.",
    details: `
bash  echo 'source <(pulumi-conversation completion bash)' >> ~/.bashrc
zsh   echo 'source <(pulumi-conversation completion zsh)' >> ~/.zshrc   (after compinit)
fish  pulumi-conversation completion fish > ~/.config/fish/completions/pulumi-conversation.fish

It works for the command pulumi-conversation, so have that on PATH: node_modules/.bin.`,
    words: [{ value: "<shell>", doc: "The shell.", choices: shells }],
    options: {},
    uses: {
      usual: {
        json: async () => {
          const { z } = await import("zod");
          return z.strictObject({ shell: z.enum(shells), script: z.string() });
        },
        exits: { 0: "done" },
      },
    },
    work: async (_, __, [given]) => {
      const shell = shells.find((each) => each === given) ?? "bash";
      const script = completionScript(shell, commands());
      return { value: { shell, script }, text: script };
    },
  });
