import { z } from "zod";
import { type Clock, systemClock } from "../../../provider/kernel/clock.js";
import { platformNameOf } from "../connection/runtime-settings.js";
import { anyFunction, checkedOptions, timeLimit } from "../input-schemas.js";
import { type MessageType, messageTypes } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import type { CallbackCredentials } from "./callback-credentials.js";
import type { MessageMemory } from "./message-memory.js";

/** What goes with a message. */
export interface MessageContext {
  /** Ends when the time for the message is over: then nobody waits for the work any more. */
  readonly signal: AbortSignal;
}

/** How messages are taken; `T`: the types that are wanted. */
export interface CallbackOptions<T extends MessageType = MessageType> {
  /** What the service shows, as the authentication of the client application's role says. */
  readonly authenticate: CallbackCredentials;
  /**
   * Gets each message once: one after the other within a conversation, in the order of arrival;
   * conversations side by side. One that it fails with is told, and may come again.
   */
  readonly onMessage: (
    message: ReceivedMessage<NoInfer<T>>,
    context: MessageContext,
  ) => void | Promise<void>;
  /**
   * Gets what `onMessage`, a check of a Bearer token and a memory of messages fail with, and what
   * cannot be read. Default: it is written to standard error, as is what `onError` itself fails with.
   */
  readonly onError?: (error: unknown, message?: ReceivedMessage) => void | Promise<void>;
  /** Types that are wanted; others are discarded (specification §6). Default: all. */
  readonly accepts?: readonly T[];
  /**
   * When the service is answered. `before` (default): at once, the work follows; a message whose work
   * fails does not come again by itself. `after`: when `onMessage` is done with every message of the
   * call; a failure answers 500, and work that takes longer than 4 s answers 503, so that the service
   * delivers again. Work that goes on meanwhile is not begun a second time.
   */
  readonly acknowledge?: "before" | "after";
  /**
   * Longest time for one message, in milliseconds. Then its signal ends, `onError` is told
   * (`TIMED_OUT`), and the conversation goes on with its next message. Default: 300,000 (5 minutes).
   */
  readonly messageTimeoutMs?: number;
  /** Longest body in bytes. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** How many messages this process remembers, so that one that comes again is told. Default: 10,000. */
  readonly remembered?: number;
  /** Remembers messages in the place of this process: see `redisMemory`. */
  readonly memory?: MessageMemory;
  /**
   * So many messages may wait for `onMessage` in all; beyond that calls are put off with a 503, but
   * for conversations in which nothing waits: for these as much again is kept. Default: 10,000.
   */
  readonly maxWaiting?: number;
  /**
   * So many messages of one conversation may wait; beyond that the calls of this conversation are put
   * off with a 503. Default: 1,000.
   */
  readonly maxWaitingPerConversation?: number;
  /** The vendor's own word. Default: CONVERSATION_PLATFORM_NAME of the environment, else `platform`. */
  readonly platformName?: string;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

const count = z.int({ message: "must be a whole number" }).min(1, "must be at least 1").optional();

const memory = z.custom(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    ["take", "done", "release"].every((name) => typeof Reflect.get(value, name) === "function"),
  "must have the methods take, done and release",
);

const rules = z.looseObject({
  onMessage: anyFunction,
  onError: anyFunction.optional(),
  accepts: z
    .array(z.enum(messageTypes, "must be a message type"), "must be a list of message types")
    .optional(),
  acknowledge: z.enum(["before", "after"], "must be before or after").optional(),
  messageTimeoutMs: timeLimit.optional(),
  maxBytes: count,
  remembered: count,
  memory: memory.optional(),
  maxWaiting: count,
  maxWaitingPerConversation: count,
  platformName: z.string("must be text").optional(),
  clock: z
    .custom((value) => typeof value === "object" && value !== null, "must be a clock")
    .optional(),
});

/** Options with their defaults. */
export interface CompleteOptions<T extends MessageType>
  extends Required<Omit<CallbackOptions<T>, "onError" | "memory" | "accepts">>,
    Pick<CallbackOptions<T>, "onError" | "memory"> {
  readonly accepts: readonly MessageType[];
}

/**
 * A copy of the options, checked and complete.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used
 */
export const completeOptions = <T extends MessageType>(
  options: CallbackOptions<T>,
): CompleteOptions<T> => {
  const checked = checkedOptions("make the callback handler", rules, options);
  return {
    acknowledge: "before",
    messageTimeoutMs: 300_000,
    maxBytes: 1024 * 1024,
    remembered: 10_000,
    maxWaiting: 10_000,
    maxWaitingPerConversation: 1_000,
    ...checked,
    accepts: checked.accepts ?? messageTypes,
    clock: checked.clock ?? systemClock,
    platformName: platformNameOf(checked.platformName),
  };
};
