import type { Clock } from "../../../provider/kernel/clock.js";
import { ConversationError } from "../../../provider/kernel/errors.js";
import type { MessageType } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import type { CompleteOptions } from "./callback-options.js";
import { type MessageMemory, processMemory, type Taken } from "./message-memory.js";

/** A limit for one piece of work. */
export interface TimeLimit {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly ms: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Does work for so long at most. The signal that the work gets ends when the time is over, with the
 * error; what the work makes of it later does not matter any more.
 */
export const withinTime = async <T>(
  { clock, ms, late }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> => {
  const [over, done] = [new AbortController(), new AbortController()];
  const limit = clock.sleep(ms, done.signal).then(() => {
    const error = late();
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([(async () => work(over.signal))(), limit]);
  } finally {
    done.abort();
  }
};

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

/** A memory that does not answer by then is taken for lost. */
const memoryWithinMs = 2_000;

/** Beyond the time for a message, so that nobody else takes it while it is worked on. */
const leaseMarginMs = 5_000;

/** A memory of the caller's, and while it fails one of this process: better twice than never. */
const reliable = (memory: MessageMemory, clock: Clock, tell: ReportFailure): MessageMemory => {
  const own = processMemory();
  const late = () => new Error("the memory of messages did not answer in time");
  const limit = { clock, ms: memoryWithinMs, late };
  const either = async <T>(use: (memory: MessageMemory) => Promise<T>): Promise<T> => {
    try {
      return await withinTime(limit, () => use(memory));
    } catch (error) {
      void tell(error);
      return use(own);
    }
  };
  return {
    take: (key, leaseMs) => either((each) => each.take(key, leaseMs)),
    done: (key) => either((each) => each.done(key)),
    release: (key) => either((each) => each.release(key)),
  };
};

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
    ? reliable(options.memory, clock, tell)
    : processMemory(options.remembered);
  return async (message) => {
    const key = messageKey(message);
    const taken = key === undefined ? "new" : await memory.take(key, ms + leaseMarginMs);
    if (taken !== "new") return results[taken];
    try {
      const limit = { clock, ms, late: () => tooSlow(message, ms) };
      await withinTime(limit, (signal) => onMessage(message, { signal }));
    } catch (error) {
      if (key !== undefined) await memory.release(key);
      await tell(error, message);
      return "failed";
    }
    if (key !== undefined) await memory.done(key);
    return "done";
  };
};
