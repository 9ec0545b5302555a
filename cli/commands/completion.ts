import { type CommandSpec, command } from "../command.js";
import { completionScript, shells } from "../completion.js";

/** `completion`: makes a shell complete the commands. */
export const completionCommand = (commands: () => readonly CommandSpec[]): CommandSpec =>
  command({
    name: "completion",
    summary: "Print a shell script for command completion.",
    description:
      "Print a shell script that completes commands, options, and their values.\n" +
      "The command changes nothing; see below for where to put the script.",
    details: `
bash  echo 'source <(pulumi-conversation completion bash)' >> ~/.bashrc
zsh   echo 'source <(pulumi-conversation completion zsh)' >> ~/.zshrc   (after compinit)
fish  pulumi-conversation completion fish > ~/.config/fish/completions/pulumi-conversation.fish

Completion works only if pulumi-conversation is on PATH, so add node_modules/.bin to PATH.`,
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
