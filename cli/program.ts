import { Command, CommanderError } from "commander";
import type { z } from "zod";
import { type ConversationErrorCode, isConversationError } from "../provider/kernel/errors.js";
import type { Printed } from "../provider/kernel/json.js";
import { moreAbout, ownCommand, packageVersion } from "../provider/kernel/package.js";
import { inertOutput } from "../provider/kernel/text.js";
import { CommandFailure, type CommandSpec, messageOf, type Session } from "./command.js";
import { addCommand } from "./command-line.js";
import { compareCommand } from "./commands/compare.js";
import { doctorCommand } from "./commands/doctor.js";
import { driftCommand } from "./commands/drift.js";
import { emulatorCommand } from "./commands/emulator.js";
import { explainCommand } from "./commands/explain.js";
import { exportCommand } from "./commands/export.js";
import { forecastCommand } from "./commands/forecast.js";
import { importCommand } from "./commands/import.js";
import { initCommand } from "./commands/init.js";
import { orphansCommand } from "./commands/orphans.js";
import { rehearseCommand } from "./commands/rehearse.js";
import { repairCommand } from "./commands/repair.js";
import { untilInterrupted } from "./interruption.js";
import { wantsColour } from "./terminal/columns.js";
import type { failureSchema } from "./terminal/command-catalog.js";

const stoppedExitCode = 130;

const serviceFailure = (error: unknown): ConversationErrorCode | undefined => {
  if (isConversationError(error)) return error.code;
  return error instanceof CommandFailure && isConversationError(error.cause)
    ? error.cause.code
    : undefined;
};

/**
 * A failure as data.
 *
 * @param command undefined if the command line names none that exists
 */
const reportedFailure = (
  error: unknown,
  exitCode: number,
  command: CommandSpec | undefined,
): Printed<z.output<typeof failureSchema>> => {
  const message = messageOf(error).replace(/^error: /, "");
  const help = ownCommand(`${command ? `${command.name} ` : ""}--help`);
  const reported = (code: string, advice: string) => ({
    error: { code, message, advice, exitCode },
  });
  const code = serviceFailure(error);
  if (code) return reported(code, moreAbout(code));
  if (exitCode === stoppedExitCode) return reported("STOPPED", "To finish, run the command again.");
  if (error instanceof CommanderError || exitCode === 2)
    return reported("USAGE", `To see all arguments and options, run: ${help}`);
  // Other commands use no settings of the service.
  const more =
    command && "stack" in command.options
      ? `To check settings, token, scopes, and clock, run: ${ownCommand("doctor")}`
      : `To learn more about the command, run: ${help}`;
  return reported("FAILED", `Follow the message's advice. ${more}`);
};

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [
  initCommand,
  emulatorCommand,
  doctorCommand,
  forecastCommand,
  explainCommand,
  driftCommand,
  compareCommand,
  orphansCommand,
  repairCommand,
  exportCommand,
  importCommand,
  rehearseCommand,
];

const ownSession = (): Session => ({
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  coloured: wantsColour(process.stdout),
  untilInterrupted,
  exitCode: 0,
});

/**
 * The same session, with every output through one filter: foreign text can be read but has no
 * effect on the terminal.
 */
const inert = (session: Session): Session => ({
  ...session,
  out: (text) => session.out(inertOutput(text, session.coloured)),
  err: (text) => session.err(inertOutput(text, session.coloured)),
  redraw: session.redraw ?? session.err,
});

export const createProgram = (session: Session): Command => {
  const program = new Command("pulumi-conversation")
    .description("Manage the messaging hub's conversation accounts alongside Pulumi.")
    .version(packageVersion(), "-V, --version", "Show the version of this package.")
    .helpOption("-h, --help", "Show this help.")
    .helpCommand(
      "help [command]",
      "Show help for a command; with --json, print all commands as data.",
    )
    // This way the list of commands fits 80 columns; the help of each command shows its arguments.
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      // Lines use the width of the terminal, wherever the source breaks them.
      commandDescription: (command) => command.description().replace(/(?<!\n)\n(?!\n)/g, " "),
    })
    .configureOutput({
      writeOut: session.out,
      getOutHelpWidth: () => 80,
      writeErr: session.err,
    })
    .showHelpAfterError("(--help shows all arguments and options)")
    .exitOverride();
  for (const spec of commands) addCommand(program, spec, session);
  return program;
};

const commandNamed = (name: string | undefined): CommandSpec | undefined =>
  commands.find((each) => each.name === name);

/**
 * The command line without the help of a command that does not exist: `help nothing` and `nothing
 * --help` are refused with a suggestion.
 */
const withoutHelpOfNothing = (args: readonly string[]): readonly string[] => {
  const [asked] = args[0] === "help" ? args.slice(1).filter((arg) => arg !== "--json") : args;
  return asked === undefined || asked.startsWith("-") || commandNamed(asked) || asked === "help"
    ? args
    : [asked];
};

/** Whether the command line asks for JSON; what follows `--` is somebody else's. */
const wantsJson = (args: readonly string[]): boolean => {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes("--json");
};

/** The commands that `help --json` is asked about: one, or all; undefined if it is not asked for. */
const catalogAskedOf = (args: readonly string[]): readonly CommandSpec[] | undefined => {
  if (args[0] !== "help" || !wantsJson(args)) return undefined;
  const [name, ...others] = args.slice(1).filter((arg) => arg !== "--json");
  const wrong = [name ?? "", ...others].find((word, place) => place > 0 || word.startsWith("-"));
  if (wrong !== undefined)
    throw new CommandFailure(`Unexpected argument ${wrong}. Specify at most one command.`, 2);
  if (name === undefined || name === "help") return commands;
  const named = commandNamed(name);
  return named && [named];
};

const exitCodeOf = (error: unknown, usageExitCode: number): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
  return error instanceof CommandFailure ? error.exitCode : 1;
};

/**
 * Runs the command line to its end.
 *
 * @returns exit code: 0 done, 1 failed, 2 wrong command line; others as each command says
 */
export const runProgram = async (
  args: readonly string[],
  own: Session = ownSession(),
): Promise<number> => {
  let hasPrinted = false;
  const { out, ...others } = inert(own);
  const session: Session = {
    ...others,
    out: (text) => {
      hasPrinted = true;
      out(text);
    },
  };
  const named = commandNamed(args[0]);
  try {
    const asked = catalogAskedOf(args);
    if (asked) {
      const { commandCatalog } = await import("./terminal/command-catalog.js");
      session.out(`${JSON.stringify(await commandCatalog(asked), null, 2)}\n`);
      return 0;
    }
    const program = createProgram(session);
    await program.parseAsync(withoutHelpOfNothing(args), { from: "user" });
    return session.exitCode;
  } catch (error) {
    const exitCode = exitCodeOf(error, named?.usageExitCode ?? 2);
    // Commander has already said what was wrong with the command line.
    if (!(error instanceof CommanderError)) session.err(`error: ${messageOf(error)}\n`);
    if (isConversationError(error)) session.err(`${moreAbout(error.code)}\n`);
    if (exitCode !== 0 && wantsJson(args) && !hasPrinted)
      session.out(`${JSON.stringify(reportedFailure(error, exitCode, named), null, 2)}\n`);
    return exitCode;
  }
};
