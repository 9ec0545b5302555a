import { channel } from "node:diagnostics_channel";

/** The channel of node:diagnostics_channel on which failures of callbacks are published. */
export const callbackFailures = "pulumi-conversation:callback-failure";

/** A failure of a callback: what was thrown, and the message that was worked on. */
export const publishFailure = (error: unknown, message: unknown): void => {
  const failures = channel(callbackFailures);
  if (failures.hasSubscribers) failures.publish({ error, message });
};
