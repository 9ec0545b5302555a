import type { Clock } from "../../../provider/kernel/clock.js";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { withinTime } from "../connection/time-limit.js";
import type { MessageType } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import { type MessageMemory, processMemory, type Taken } from "./message-memory.js";

/** What goes with a message. */
export interface MessageContext {
  /** Ends when the time for the message is over: then nobody waits for the work any more. */
  readonly signal: AbortSignal;
}

/** `elsewhere`: another process is at work on the message. */
export type WorkResult = "done" | "repeat" | "elsewhere" | "failed";

type Tell = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** How messages are worked on. */
export interface WorkParts<T extends MessageType> {
  readonly onMessage: (
    message: ReceivedMessage<T>,
    context: MessageContext,
  ) => void | Promise<void>;
  readonly memory: MessageMemory;
  /** Whether the memory is of the caller's, and may fail. */
  readonly isShared: boolean;
  readonly clock: Clock;
  /** Longest time for one message, in milliseconds. */
  readonly limitMs: number;
  readonly tell: Tell;
}

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

const forgetful = (): Error => new Error("the memory of messages did not answer in time");

/** The memory, and while it fails the one of this process: better twice than never. */
const reliable = ({
  memory,
  clock,
  tell,
}: Pick<WorkParts<never>, "memory" | "clock" | "tell">): MessageMemory => {
  const own = processMemory();
  const limit = { clock, ms: memoryWithinMs, late: forgetful };
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

const late = ({ type }: ReceivedMessage, ms: number): ConversationError =>
  new ConversationError(
    "TIMED_OUT",
    `Could not handle a message of type ${type}: onMessage was not done within ${ms} ms. The conversation goes on without it.`,
  );

const results = { taken: "elsewhere", done: "repeat" } as const satisfies Readonly<
  Record<Exclude<Taken, "new">, WorkResult>
>;

/** Works on a message: once, within its time. Never fails. */
export const messageWork = <T extends MessageType>(
  parts: WorkParts<T>,
): ((message: ReceivedMessage<T>) => Promise<WorkResult>) => {
  const { onMessage, clock, limitMs, tell } = parts;
  const memory = parts.isShared ? reliable(parts) : parts.memory;
  return async (message) => {
    const key = messageKey(message);
    const taken = key === undefined ? "new" : await memory.take(key, limitMs + leaseMarginMs);
    if (taken !== "new") return results[taken];
    const limit = { clock, ms: limitMs, late: () => late(message, limitMs) };
    try {
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
