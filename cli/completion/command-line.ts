import type { Command, Option } from "commander";

/** An option, as a shell completes it. */
export interface CompletedOption {
  /** `--stack` */
  readonly long: string;
  /** `-h` */
  readonly short?: string;
  readonly description: string;
  /** What may follow: nothing, one of these words, a file, or any text. */
  readonly value: "none" | "file" | "text" | readonly string[];
}

/** A command, as a shell completes it. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
}

const isFile = ({ flags }: Option): boolean => /<(file|folder|dir|directory|path)\b/i.test(flags);

const whatFollows = (option: Option): CompletedOption["value"] => {
  if (option.argChoices) return option.argChoices;
  if (!option.required && !option.optional) return "none";
  return isFile(option) ? "file" : "text";
};

/** The first sentence on one line: shells show no more. */
const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text)
    .replace(/\s+/g, " ")
    .replace(/[.:]$/, "")
    .trim();

const completedOption = (option: Option): CompletedOption => ({
  long: option.long ?? option.flags,
  ...(option.short ? { short: option.short } : {}),
  description: firstSentence(option.description),
  value: whatFollows(option),
});

/** Every command of a program with its options, from the commands themselves. */
export const completedCommands = (program: Command): readonly CompletedCommand[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({
      name: command.name(),
      summary: firstSentence(command.summary() || command.description()),
      options: command.createHelp().visibleOptions(command).map(completedOption),
    }));
