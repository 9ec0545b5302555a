import { channel } from "node:diagnostics_channel";
import { inertOutput } from "../../../provider/kernel/inert-text.js";
import { packageName } from "../../../provider/kernel/package-version.js";
import { cleaned } from "../../../provider/kernel/quoted.js";
import { redact } from "../../../provider/service/redaction/redaction.js";

/** The channel of node:diagnostics_channel on which failures of callbacks are published. */
export const callbackFailures = "pulumi-conversation:callback-failure";

/** A failure of a callback: what was thrown, and the message that was worked on. */
export const publishFailure = (error: unknown, message: unknown): void => {
  const failures = channel(callbackFailures);
  if (failures.hasSubscribers) failures.publish({ error, message });
};

const mostCauses = 3;
const mostLines = 40;
const mostCharacters = 8_000;

/** With the stack, and what it was caused by; other members of an error may hold whole requests. */
const textOf = (error: unknown, causes = 0): string => {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
    const own = typeof error.stack === "string" ? error.stack : error.message;
    const isLast = error.cause === undefined || causes === mostCauses;
    return isLast ? own : `${own}\ncaused by ${textOf(error.cause, causes + 1)}`;
  } catch {
    return "something that cannot be looked at";
  }
};

/**
 * Writes a failure to standard error. Never fails.
 *
 * @param what what failed, as the beginning of a line
 * @param secrets left out of the text
 */
export const writeFailure = (what: string, error: unknown, secrets: readonly string[]): void => {
  // An error may quote whoever wrote the message: no line but the first begins at the margin.
  const [first = "", ...others] = redact(textOf(error).slice(0, mostCharacters), secrets)
    .split("\n", mostLines)
    .map((line) => cleaned(line).trim());
  const lines = [`${packageName}: ${what}: ${first}`, ...others.map((line) => `    ${line}`)];
  try {
    process.stderr.write(`${inertOutput(lines.join("\n"), false)}\n`);
  } catch {
    // There is nowhere else to write it.
  }
};
