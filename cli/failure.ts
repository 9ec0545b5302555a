import { CommanderError } from "commander";
import { type ConversationErrorCode, isConversationError } from "../provider/kernel/errors.js";
import { moreAbout, ownCommand } from "../provider/kernel/package.js";
import { CommandFailure, type CommandSpec, messageOf, UsageFailure } from "./command.js";

/**
 * How a command can fail beside the codes of the service: `USAGE` – the command line is wrong;
 * `STOPPED` – a person or the parent process ended it; `FAILED` – everything else.
 */
const commandFailureCodes = ["USAGE", "STOPPED", "FAILED"] as const;

/** What `--json` prints if a command fails before it has printed anything. */
export interface ReportedFailure {
  readonly error: {
    readonly code: ConversationErrorCode | (typeof commandFailureCodes)[number];
    readonly message: string;
    /** What to do, or where it is explained. */
    readonly advice: string;
    readonly exitCode: number;
  };
}

const stoppedExitCode = 130;

const serviceFailure = (error: unknown): ConversationErrorCode | undefined => {
  if (isConversationError(error)) return error.code;
  return error instanceof CommandFailure && isConversationError(error.cause)
    ? error.cause.code
    : undefined;
};

/** Whether a command reads the settings of a stack: all of those take an existing one. */
const readsSettings = (command: CommandSpec | undefined): boolean =>
  command !== undefined && "stack" in command.options && command.name !== "init";

/**
 * A failure as data.
 *
 * @param command undefined if the command line names none that exists
 */
export const reportedFailure = (
  error: unknown,
  exitCode: number,
  command: CommandSpec | undefined,
): ReportedFailure => {
  const message = messageOf(error).replace(/^error: /, "");
  const help = ownCommand(`${command ? `${command.name} ` : ""}--help`);
  const reported = (code: ReportedFailure["error"]["code"], advice: string) => ({
    error: { code, message, advice, exitCode },
  });
  const code = serviceFailure(error);
  if (code) return reported(code, moreAbout(code));
  if (exitCode === stoppedExitCode) return reported("STOPPED", "To finish, run the command again.");
  const isUsage =
    [CommanderError, UsageFailure].some((kind) => error instanceof kind) || exitCode === 2;
  if (isUsage) return reported("USAGE", `To see all arguments and options, run: ${help}`);
  // Other commands use no settings of the service.
  const more = readsSettings(command)
    ? `To check settings, token, scopes, and clock, run: ${ownCommand("doctor")}`
    : `To learn more about the command, run: ${help}`;
  return reported("FAILED", `Follow the message's advice. ${more}`);
};
