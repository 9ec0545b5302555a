import type { CompletedCommand, CompletedOption } from "./command-line.js";

export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

const tool = "pulumi-conversation";

/** A text in single quotes: no shell reads anything into it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const flagsOf = ({ long, short }: CompletedOption): readonly string[] =>
  short ? [long, short] : [long];

const wordsOf = ({ options }: CompletedCommand): string => options.flatMap(flagsOf).join(" ");

const bashValue = ({ value }: CompletedOption): string => {
  if (value === "file") return 'compgen -f -- "$current"';
  return typeof value === "string" ? ":" : `compgen -W ${quoted(value.join(" "))} -- "$current"`;
};

const bashValues = ({ name, options }: CompletedCommand): readonly string[] =>
  options
    .filter(({ value }) => value !== "none")
    .map(
      (option) =>
        `    ${flagsOf(option)
          .map((flag) => quoted(`${name} ${flag}`))
          .join("|")}) COMPREPLY=($(${bashValue(option)})); return ;;`,
    );

const bash = (commands: readonly CompletedCommand[]): string => `# ${tool} completion for bash
_pulumi_conversation() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      ${commands.map(({ name }) => name).join("|")}) command="$word"; break ;;
    esac
  done
  case "$command $before" in
${commands.flatMap(bashValues).join("\n")}
  esac
  case "$command" in
    '') COMPREPLY=($(compgen -W ${quoted(`${commands.map(({ name }) => name).join(" ")} --help --version`)} -- "$current")) ;;
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

/** In zsh's list of arguments brackets and colons have a meaning. */
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

/** In fish a backslash is the only other sign with a meaning between single quotes. */
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
    ...commands.flatMap(({ name, options }) => options.map((option) => fishOption(name, option))),
    "",
  ].join("\n");

/** A script that makes a shell complete the commands, their options and the words that these take. */
export const completionScript = (shell: Shell, commands: readonly CompletedCommand[]): string =>
  ({ bash, zsh, fish })[shell](commands);
