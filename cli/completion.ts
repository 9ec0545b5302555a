import { type CommandSpec, type OptionSpec, optionName } from "./command.js";

export const shells = ["bash", "zsh", "fish"] as const;

/** An option, as a shell completes it. */
interface CompletedOption {
  /** `--stack` */
  readonly long: string;
  /** `-h` */
  readonly short?: string;
  readonly description: string;
  /** What may follow: nothing, one of these words, a file, or any text. */
  readonly value: "none" | "file" | "text" | readonly string[];
}

/** A command, as a shell completes it. */
interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
}

const whatFollows = ({ value, choices }: OptionSpec<unknown>): CompletedOption["value"] => {
  if (choices) return choices;
  if (value === undefined) return "none";
  return /<(file|folder)\b/.test(value) ? "file" : "text";
};

/** The first sentence on one line: shells show no more. */
const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text)
    .replace(/\s+/g, " ")
    .replace(/[.:]$/, "")
    .trim();

const completedOption = (key: string, spec: OptionSpec<unknown>): CompletedOption => ({
  long: optionName(key).replace("--", spec.isNegated ? "--no-" : "--"),
  ...(spec.short === undefined ? {} : { short: spec.short }),
  description: firstSentence(spec.doc),
  value: whatFollows(spec),
});

/** The options of every command. */
const common: readonly CompletedOption[] = [
  { long: "--json", description: "Print JSON", value: "none" },
  { long: "--help", short: "-h", description: "Show this help", value: "none" },
];

const completedCommand = ({ name, summary, options }: CommandSpec): CompletedCommand => ({
  name,
  summary: firstSentence(summary),
  options: [...Object.entries(options).map(([key, spec]) => completedOption(key, spec)), ...common],
});

const tool = "pulumi-conversation";

const HELP = "Show help for a command";

/** A text in single quotes: no shell interprets it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const flagsOf = ({ long, short }: CompletedOption): readonly string[] =>
  short ? [long, short] : [long];

const wordsOf = ({ options }: CompletedCommand): string => options.flatMap(flagsOf).join(" ");

const bashValue = ({ value }: CompletedOption): string => {
  // File names may contain spaces; bash quotes them if it knows that they are file names.
  if (value === "file")
    return `local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))`;
  if (typeof value === "string") return ":";
  return `COMPREPLY=($(compgen -W ${quoted(value.join(" "))} -- "$current"))`;
};

const bashValues = ({ name, options }: CompletedCommand): readonly string[] =>
  options
    .filter(({ value }) => value !== "none")
    .map(
      (option) =>
        `    ${flagsOf(option)
          .map((flag) => quoted(`${name} ${flag}`))
          .join("|")}) ${bashValue(option)}; return ;;`,
    );

const namesOf = (commands: readonly CompletedCommand[]): string =>
  commands.map(({ name }) => name).join(" ");

const bash = (commands: readonly CompletedCommand[]): string => `# ${tool} completion for bash
_pulumi_conversation() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" word
  COMPREPLY=()
  # For bash the sign in --option=value is a word of its own.
  if [ "$current" = "=" ]; then current=""
  elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      ${commands.map(({ name }) => name).join("|")}) command="$word"; break ;;
    esac
  done
  case "$command $before" in
${commands.flatMap(bashValues).join("\n")}
  esac
  case "$command" in
    '') COMPREPLY=($(compgen -W ${quoted(`${namesOf(commands)} help --help --version`)} -- "$current")) ;;
${commands
  .map(
    (command) =>
      `    ${command.name}) COMPREPLY=($(compgen -W ${quoted(wordsOf(command))} -- "$current")) ;;`,
  )
  .join("\n")}
  esac
}
complete -F _pulumi_conversation ${tool}
`;

/** Brackets and colons are special in zsh's list of arguments. */
const zshText = (text: string): string => text.replace(/[\\[\]:]/g, (each) => `\\${each}`);

const zshValue = ({ long, value }: CompletedOption): string => {
  if (value === "none") return "";
  const name = long.replace(/^-+/, "");
  if (value === "file") return `:${name}:_files`;
  return typeof value === "string" ? `:${name}:` : `:${name}:(${value.join(" ")})`;
};

const zshOption = (option: CompletedOption): readonly string[] =>
  flagsOf(option).map(
    (flag) => `          ${quoted(`${flag}[${zshText(option.description)}]${zshValue(option)}`)}`,
  );

const zsh = (commands: readonly CompletedCommand[]): string => `#compdef ${tool}
# ${tool} completion for zsh
_pulumi_conversation() {
  local -a commands
  local state
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${zshText(summary)}`)}`).join("\n")}
    ${quoted(`help:${HELP}`)}
  )
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe -t commands command commands ;;
    argument)
      case $words[1] in
${commands
  .map(
    ({ name, options }) =>
      `        ${name})\n          _arguments \\\n${options.flatMap(zshOption).join(" \\\n")} ;;`,
  )
  .join("\n")}
        help) _describe -t commands command commands ;;
      esac ;;
  esac
}
compdef _pulumi_conversation ${tool}
`;

const fishValue = ({ value }: CompletedOption): string => {
  if (value === "none") return "";
  if (value === "file") return " -r -F";
  return typeof value === "string" ? " -x" : ` -x -a ${quoted(value.join(" "))}`;
};

const fishOption = (command: string, option: CompletedOption): string => {
  const { long, short, description } = option;
  const flags = `-l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}`;
  return `complete -c ${tool} -n '__fish_seen_subcommand_from ${command}' ${flags}${fishValue(option)} -d ${fishText(description)}`;
};

/** In fish, a backslash is the only other special character between single quotes. */
const fishText = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const fish = (commands: readonly CompletedCommand[]): string =>
  [
    `# ${tool} completion for fish`,
    `complete -c ${tool} -f`,
    ...commands.map(
      ({ name, summary }) =>
        `complete -c ${tool} -n __fish_use_subcommand -a ${name} -d ${fishText(summary)}`,
    ),
    `complete -c ${tool} -n __fish_use_subcommand -a help -d ${fishText(HELP)}`,
    `complete -c ${tool} -n '__fish_seen_subcommand_from help' -a ${quoted(namesOf(commands))}`,
    ...commands.flatMap(({ name, options }) => options.map((option) => fishOption(name, option))),
    "",
  ].join("\n");

/** A script that makes a shell complete the commands, their options, and the options' words. */
export const completionScript = (
  shell: (typeof shells)[number],
  commands: readonly CommandSpec[],
): string => ({ bash, zsh, fish })[shell](commands.map(completedCommand));
