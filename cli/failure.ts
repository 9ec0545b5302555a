import { CommanderError } from "commander";
import type { z } from "zod";
import { type ConversationErrorCode, isConversationError } from "../provider/kernel/errors.js";
import type { Printed } from "../provider/kernel/json.js";
import { moreAbout, ownCommand } from "../provider/kernel/package.js";
import { CommandFailure, type CommandSpec, messageOf, UsageFailure } from "./command.js";
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
export const reportedFailure = (
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
  const isUsage =
    [CommanderError, UsageFailure].some((kind) => error instanceof kind) || exitCode === 2;
  if (isUsage) return reported("USAGE", `To see all arguments and options, run: ${help}`);
  // Other commands use no settings of the service.
  const more =
    command && "stack" in command.options
      ? `To check settings, token, scopes, and clock, run: ${ownCommand("doctor")}`
      : `To learn more about the command, run: ${help}`;
  return reported("FAILED", `Follow the message's advice. ${more}`);
};
