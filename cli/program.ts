import { Command, CommanderError } from "commander";
import { isConversationError } from "../provider/kernel/errors.js";
import { moreAbout, packageVersion } from "../provider/kernel/package.js";
import { inertOutput } from "../provider/kernel/text.js";
import { CommandFailure, type CommandRun, messageOf, type RegisterCommand } from "./command.js";
import { registerCheckRecord } from "./commands/check-record.js";
import { registerCompletion } from "./commands/completion.js";
import { registerDoctor } from "./commands/doctor.js";
import { registerDrill } from "./commands/drill.js";
import { registerEmulator } from "./commands/emulator.js";
import { registerExplain } from "./commands/explain.js";
import { registerExport } from "./commands/export.js";
import { registerForecast } from "./commands/forecast.js";
import { registerImport } from "./commands/import.js";
import { registerImportFile } from "./commands/import-file.js";
import { registerInit } from "./commands/init.js";
import { registerProbe } from "./commands/probe.js";
import { registerRehearse } from "./commands/rehearse.js";
import { registerCompare } from "./commands/stack/compare.js";
import { registerDrift } from "./commands/stack/drift.js";
import { registerOrphans } from "./commands/stack/orphans.js";
import { registerRepair } from "./commands/stack/repair.js";
import { untilInterrupted } from "./process/interruption.js";
import { foldedHelp, wantsColour } from "./terminal/columns.js";

/** Every command, in the order of the help. */
const commands: readonly RegisterCommand[] = [
  registerInit,
  registerEmulator,
  registerDoctor,
  registerForecast,
  registerExplain,
  registerDrift,
  registerCompare,
  registerOrphans,
  registerRepair,
  registerExport,
  registerRehearse,
  registerCheckRecord,
  registerDrill,
  registerCompletion,
  registerProbe,
  registerImport,
  registerImportFile,
];

/** A run on the process's own streams. */
const ownRun = (): CommandRun => ({
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  coloured: wantsColour(process.stdout),
  untilInterrupted,
  exitCode: 0,
});

/** The same run, whose every output passes through one gate: what others wrote can only be read. */
const inert = (run: CommandRun): CommandRun => ({
  ...run,
  out: (text) => run.out(inertOutput(text, run.coloured)),
  err: (text) => run.err(inertOutput(text, run.coloured)),
  redraw: run.redraw ?? run.err,
});

/** The program with every command. */
export const createProgram = (session: CommandRun): Command => {
  const program = new Command("pulumi-conversation")
    .description("Works beside Pulumi on conversation accounts of the messaging hub.")
    .version(packageVersion(), "-V, --version", "Show the version of this package.")
    .helpOption("-h, --help", "Show this help.")
    .helpCommand("help [command]", "Show the help of a command.")
    // The list of commands fits 80 columns so; what each takes, its own help says.
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      // Lines are as long as the terminal has room for, wherever the source breaks them.
      commandDescription: (command) => command.description().replace(/(?<!\n)\n(?!\n)/g, " "),
    })
    .configureOutput({
      writeOut: (text) => session.out(foldedHelp(text)),
      writeErr: session.err,
    })
    .showHelpAfterError("(--help shows what can be given)")
    .exitOverride();
  for (const register of commands) register(program, session);
  return program;
};

/**
 * The command line without the help of a command that there is none of: whoever asks for it, as
 * `help nothing` or `nothing --help`, is told so, and what may have been meant.
 */
const withoutHelpOfNothing = (program: Command, args: readonly string[]): readonly string[] => {
  const [asked] = args[0] === "help" ? args.slice(1) : args;
  const isKnown = program.commands.some((command) => command.name() === asked);
  return asked === undefined || asked.startsWith("-") || isKnown || asked === "help"
    ? args
    : [asked];
};

/** 2 where the command line is wrong, as far as commander can tell, unless the command says otherwise. */
const exitCodeOf = (error: unknown, { wrongLineCode = 2 }: CommandRun): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongLineCode;
  return error instanceof CommandFailure ? error.exitCode : 1;
};

/**
 * Runs the command line to its end.
 *
 * @returns exit code: 0 done, 1 failed, 2 wrong command line, 3 a forecast over its budget
 */
export const runProgram = async (
  args: readonly string[],
  own: CommandRun = ownRun(),
): Promise<number> => {
  const session = inert(own);
  try {
    const program = createProgram(session);
    await program.parseAsync(withoutHelpOfNothing(program, args), { from: "user" });
    return session.exitCode;
  } catch (error) {
    // Commander has already said what was wrong with the command line.
    if (!(error instanceof CommanderError)) session.err(`error: ${messageOf(error)}\n`);
    if (isConversationError(error)) session.err(`${moreAbout(error.code)}\n`);
    return exitCodeOf(error, session);
  }
};
