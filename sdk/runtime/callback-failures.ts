import { channel } from "node:diagnostics_channel";
import { isConversationError } from "../../provider/kernel/errors.js";
import { packageName } from "../../provider/kernel/package.js";
import { cleaned, inertOutput, quoted } from "../../provider/kernel/text.js";
import { redact } from "../../provider/service/redaction.js";
import { type CallbackOptions, secretsOf } from "./callback-options.js";
import type { ReceivedMessage } from "./received-message.js";

/** Name of the node:diagnostics_channel channel that publishes callback failures. */
export const callbackFailures = "pulumi-conversation:callback-failure";

const mostLines = 40;
const mostCharacters = 8_000;

/** With the stack, and what it was caused by; other members of an error may hold whole requests. */
const errorText = (error: unknown): string => {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
    const { stack, name, message, cause } = error;
    // An error of this package explains itself.
    const own = isConversationError(error) ? `${name}: ${message}` : (stack ?? message);
    return cause instanceof Error ? `${own}\ncaused by ${cause.stack ?? cause.message}` : own;
  } catch {
    return "an error that cannot be displayed";
  }
};

/** Writes a failure to standard error, without secrets. Never fails. */
const writeFailure = (what: string, error: unknown, secrets: readonly string[]): void => {
  // An error may quote the sender of the message: only the first line begins at the margin.
  const [first = "", ...others] = redact(errorText(error).slice(0, mostCharacters), secrets)
    .split("\n", mostLines)
    .map((line) => cleaned(line).trim());
  const lines = [`${packageName}: ${what}: ${first}`, ...others.map((line) => `    ${line}`)];
  try {
    process.stderr.write(`${inertOutput(lines.join("\n"), false)}\n`);
  } catch {
    // There is no other place to write it.
  }
};

const messageTitle = ({ id, messageId, type, conversationId }: ReceivedMessage): string => {
  const known = id ?? messageId;
  const named = known === undefined ? "a message" : `message ${quoted(known)}`;
  return `${named} (${type}) in conversation ${quoted(conversationId)}`;
};

/** Reports a failure to the caller. Never fails. */
export type ReportFailure = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** Hands failures to the hook, or writes them if there is none. A hook that fails must not fail a call. */
export const createFailureReporter = ({
  onError,
  authenticate,
  acknowledge,
}: CallbackOptions): ReportFailure => {
  const secrets = secretsOf(authenticate);
  const next = acknowledge === "after" ? "may be delivered again" : "will not be delivered again";
  return async (error, message) => {
    channel(callbackFailures).publish({ error, message });
    const what = message ? `Could not handle ${messageTitle(message)}; it ${next}` : "Callback";
    if (!onError) return writeFailure(what, error, secrets);
    try {
      await onError(error, message);
    } catch (failure) {
      writeFailure(what, error, secrets);
      writeFailure("onError failed", failure, secrets);
    }
  };
};
