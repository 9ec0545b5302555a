import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type CommandSpec,
  exitCodeOf,
  exitsOf,
  messageOf,
  type OptionSpec,
  optionName,
  type Session,
} from "./command.js";
import { wrappedText } from "./terminal/columns.js";

/** An option for commander, with an error that says what is wrong with its text. */
const parserOf = (key: string, spec: OptionSpec<unknown>): Option => {
  const { value, doc, choices, fallback, environment, isRequired } = spec;
  const name = optionName(key);
  const option = new Option(value === undefined ? name : `${name} ${value}`, doc);
  // Otherwise commander takes `--no-install` for an option `install` that is on.
  option.negate = false;
  if (isRequired) option.makeOptionMandatory();
  if (choices) option.choices(choices);
  // A blank variable counts as missing, as it does for a setting.
  if (environment && process.env[environment]?.trim() !== "") option.env(environment);
  if (fallback !== undefined) option.default(fallback);
  if (spec.parse)
    option.argParser<unknown>((text, before) => {
      try {
        return spec.parse?.(text, before);
      } catch (error) {
        throw new InvalidArgumentError(messageOf(error));
      }
    });
  return option;
};

/** What follows the options in the help: explanations and exit codes. */
const endOfHelp = (spec: CommandSpec): string => {
  const codes = Object.entries(exitsOf(spec)).map(([code, meaning]) => `${code} ${meaning}`);
  const exits = wrappedText(`Exit code: ${codes.join("; ")}.`).join("\n");
  const paragraphs = spec.details?.trim().split("\n\n") ?? [];
  // Lists keep their lines.
  const details = paragraphs.map((each) =>
    /^ /m.test(each) ? each : wrappedText(each).join("\n"),
  );
  return `\n${[...details, exits].join("\n\n")}`;
};

export const addCommand = (program: Command, spec: CommandSpec, session: Session): void => {
  const { name, summary, description, words = [], options, excludes = {} } = spec;
  const { jsonDoc: doc = "Print one JSON object; help <command> --json shows its schema." } = spec;
  const command = program
    .command(name)
    .summary(summary)
    .description(description)
    .addHelpText("after", endOfHelp(spec));
  for (const { value, doc } of words) command.argument(value, doc);
  for (const [key, option] of Object.entries({ ...options, json: { doc } }))
    command.addOption(parserOf(key, option).conflicts([...(excludes[key] ?? [])]));
  command.action(async () => {
    const { json, ...others }: Readonly<Record<string, unknown>> = command.opts();
    const result = await spec.work(
      json === true ? { ...others, json } : others,
      session,
      command.args,
    );
    if (!result) return;
    session.out(json ? `${JSON.stringify(result.value, null, 2)}\n` : result.text);
    session.exitCode = exitCodeOf(result);
  });
};
