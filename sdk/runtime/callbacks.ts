import { type Clock, systemClock } from "../../provider/service/clock.js";
import { ConversationError } from "../../provider/service/errors.js";
import { callbackBody, jsonIn } from "./callback-body.js";
import type { CallbackAnswer, CallbackCall } from "./callback-call.js";
import { type CallbackCredentials, credentialCheck } from "./callback-credentials.js";
import {
  type ExpressHandler,
  expressHandler,
  type FetchHandler,
  fetchHandler,
  type NodeHandler,
  nodeHandler,
} from "./callback-servers.js";
import { ConversationQueues } from "./conversation-queues.js";
import { isMessageType, type MessageType, messageTypes } from "./message-types.js";
import type { ReceivedMessage } from "./received-message.js";
import { platformNameOf } from "./runtime-settings.js";
import { SeenMessages } from "./seen-messages.js";

export interface CallbackOptions {
  /** What the service shows, as the authentication of the client application's role says. */
  readonly authenticate: CallbackCredentials;
  /**
   * Gets each message once, after the service was answered: one after the other within a
   * conversation, in the order of arrival.
   */
  readonly onMessage: (message: ReceivedMessage<MessageType>) => void | Promise<void>;
  /**
   * Told what `onMessage` and a check of a Bearer token fail with, and of what cannot be read. The
   * service is not told: it would send everything again. Default: nobody is told.
   */
  readonly onError?: (error: unknown, message?: ReceivedMessage) => void | Promise<void>;
  /** Types that are wanted; others are discarded (specification §6). Default: all. */
  readonly accepts?: readonly MessageType[];
  /** Longest body in bytes. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** How many messages are remembered, so that one that comes again is told. Default: 10,000. */
  readonly remembered?: number;
  /** So many messages may wait for `onMessage`; beyond that calls are put off with a 503. Default: 10,000. */
  readonly maxWaiting?: number;
  /** The vendor's own word. Default: CONVERSATION_PLATFORM_NAME of the environment, else `platform`. */
  readonly platformName?: string;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** Takes the calls of the service (specification §5.2, §6; public reference) for any kind of server. */
export interface Callbacks {
  /** For `createServer` of node:http and node:https. */
  readonly node: NodeHandler;
  /** For Express and its relatives; it does not matter whether a body parser ran before. */
  readonly express: ExpressHandler;
  /** For servers that speak fetch, such as hono: `app.post("/hub", (c) => handler.fetch(c.req.raw))`. */
  readonly fetch: FetchHandler;
  /** When every message that was taken has been worked on: for tests, and before the process ends. */
  idle(): Promise<void>;
}

const defaults = { maxBytes: 1024 * 1024, remembered: 10_000, maxWaiting: 10_000 } as const;

/** The service waits for 5 s (public reference). */
const answerWithinMs = 4_000;

const refusals = {
  method: { status: 405, headers: { allow: "POST" } },
  tooSlow: { status: 408, headers: { connection: "close" } },
  tooLong: { status: 413 },
  unreadable: { status: 400 },
  later: { status: 503, headers: { "retry-after": "1" } },
} as const satisfies Readonly<Record<string, CallbackAnswer>>;

const isWanted = (
  message: ReceivedMessage,
  accepts: readonly MessageType[],
): message is ReceivedMessage<MessageType> =>
  isMessageType(message.type) && accepts.includes(message.type);

type Tell = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** Takes messages over: drops what is not wanted or came before, and queues the rest. */
const intake = (options: CallbackOptions, tell: Tell) => {
  const { accepts = messageTypes, maxWaiting = defaults.maxWaiting, onMessage } = options;
  const seen = new SeenMessages(options.remembered ?? defaults.remembered);
  const queues = new ConversationQueues();
  const work = async (message: ReceivedMessage<MessageType>): Promise<void> => {
    try {
      await onMessage(message);
    } catch (error) {
      await tell(error, message);
    }
  };
  return {
    idle: () => queues.idle(),
    /** False: too many wait already; nothing was taken. */
    take: (messages: readonly ReceivedMessage[]): boolean => {
      const wanted = messages.filter((message) => isWanted(message, accepts));
      // A call that alone is longer than the limit gets through when nothing waits.
      if (queues.waiting > 0 && queues.waiting + wanted.length > maxWaiting) return false;
      for (const message of wanted) {
        if (!seen.isRepeat(message)) queues.add(message.conversationId, () => work(message));
      }
      return true;
    },
  };
};

const unreadableEntries = (count: number): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read ${count} of the messages of a callback: they have no type, or no conversation. They were dropped.`,
  );

/** A hook that fails must not fail a call. */
const harmless =
  (hook: CallbackOptions["onError"]): Tell =>
  async (error, message) => {
    try {
      await hook?.(error, message);
    } catch {
      // There is nobody else to tell.
    }
  };

/** Answers one call. Never fails. */
const answering = (options: CallbackOptions) => {
  const tell = harmless(options.onError);
  const credentials = credentialCheck(options.authenticate);
  const platformName = platformNameOf(options.platformName);
  const { clock = systemClock, maxBytes = defaults.maxBytes } = options;
  const { take, idle } = intake(options, tell);
  const refused = { status: 401, headers: { "www-authenticate": credentials.challenge } };

  const passes = async (call: CallbackCall): Promise<boolean | undefined> => {
    try {
      return await credentials.passes(call.authorization);
    } catch (error) {
      void tell(error);
      return undefined;
    }
  };

  const answered = async (call: CallbackCall, over: AbortSignal): Promise<CallbackAnswer> => {
    if (call.method !== "POST") return refusals.method;
    const passed = await passes(call);
    if (passed === undefined) return refusals.later;
    if (!passed) return refused;
    const content = await call.body(maxBytes);
    if (!content) return refusals.tooLong;
    const value = "text" in content ? jsonIn(content.text) : content.value;
    const body = callbackBody(value, platformName);
    if (!body) return refusals.unreadable;
    // Whoever called was told already that it took too long, and will come again.
    if (over.aborted) return refusals.tooSlow;
    if (!take(body.messages)) return refusals.later;
    if (body.unreadable > 0) void tell(unreadableEntries(body.unreadable));
    return { status: 200 };
  };

  const inTime = async (call: CallbackCall): Promise<CallbackAnswer> => {
    const [over, done] = [new AbortController(), new AbortController()];
    const tooSlow = clock.sleep(answerWithinMs, done.signal).then(
      () => {
        over.abort();
        return refusals.tooSlow;
      },
      () => refusals.tooSlow,
    );
    try {
      return await Promise.race([answered(call, over.signal), tooSlow]);
    } catch (error) {
      void tell(error);
      return refusals.unreadable;
    } finally {
      done.abort();
    }
  };
  return { answer: inTime, idle };
};

/**
 * Makes a handler for the messages that the service delivers: checks credentials, answers at once,
 * works later. Both versions (v1, v3) and both forms of content are understood.
 *
 * Answers: 200 taken · 400 no messages in it · 401 wrong credentials · 405 no POST · 408 too slow ·
 * 413 too long · 503 too many messages wait, or the check of a token failed.
 *
 * @throws ConversationError `INPUT_INVALID` where `authenticate` holds nothing to compare with
 */
export const callbacks = (options: CallbackOptions): Callbacks => {
  const { answer, idle } = answering(options);
  return {
    node: nodeHandler(answer),
    express: expressHandler(answer),
    fetch: fetchHandler(answer),
    idle,
  };
};
