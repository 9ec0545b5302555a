import { ConversationError } from "../../../provider/kernel/errors.js";
import type { MessageType } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import type { CompleteOptions } from "./callback-options.js";
import { processMemory, type Taken } from "./message-memory.js";
import { reliableMemory } from "./reliable-memory.js";
import { withinTime } from "./within-time.js";

/** `elsewhere`: another process is at work on the message. */
export type WorkResult = "done" | "repeat" | "elsewhere" | "failed";

/** Tells the caller of a failure. Never fails. */
export type ReportFailure = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** The service's id of a message, else the sender's own within its conversation; undefined where it has neither. */
export const messageKey = ({
  id,
  messageId,
  conversationId,
}: ReceivedMessage): string | undefined => {
  if (id !== undefined) return JSON.stringify([id]);
  return messageId === undefined ? undefined : JSON.stringify([conversationId, messageId]);
};

/** Beyond the time for a message, so that nobody else takes it while it is worked on. */
const leaseMarginMs = 5_000;

const tooSlow = ({ type }: ReceivedMessage, ms: number): ConversationError =>
  new ConversationError(
    "TIMED_OUT",
    `Could not handle a message of type ${type}: onMessage was not done within ${ms} ms. The conversation goes on without it.`,
  );

const results = { taken: "elsewhere", done: "repeat" } as const satisfies Readonly<
  Record<Exclude<Taken, "new">, WorkResult>
>;

/** Works on a message: once, within its time. Never fails. */
export const messageWork = <T extends MessageType>(
  options: CompleteOptions<T>,
  tell: ReportFailure,
): ((message: ReceivedMessage<T>) => Promise<WorkResult>) => {
  const { onMessage, clock, messageTimeoutMs: ms } = options;
  const memory = options.memory
    ? reliableMemory(options.memory, clock, tell)
    : processMemory(options.remembered);
  return async (message) => {
    const key = messageKey(message);
    const taken = key === undefined ? "new" : await memory.take(key, ms + leaseMarginMs);
    if (taken !== "new") return results[taken];
    const limit = { clock, ms, late: () => tooSlow(message, ms) };
    try {
      await withinTime(limit, (signal) => onMessage(message, { signal }));
    } catch (error) {
      if (key !== undefined) await memory.release(key);
      // Whoever is told must not hold up the conversation either.
      await withinTime(limit, () => tell(error, message)).catch(() => {});
      return "failed";
    }
    if (key !== undefined) await memory.done(key);
    return "done";
  };
};
