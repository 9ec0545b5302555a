import { systemClock } from "../../../provider/kernel/clock.js";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { prepared } from "../caller-input.js";
import { platformNameOf } from "../connection/runtime-settings.js";
import { isMessageType, type MessageType, messageTypes } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import { callbackBody, jsonIn } from "./callback-body.js";
import type { CallbackAnswer, CallbackCall } from "./callback-call.js";
import { credentialCheck } from "./callback-credentials.js";
import { type CallbackOptions, type CompleteOptions, completeOptions } from "./callback-options.js";
import {
  type ExpressHandler,
  expressHandler,
  type FetchHandler,
  fetchHandler,
  type NodeHandler,
  nodeHandler,
} from "./callback-servers.js";
import { type MessageIntake, messageIntake } from "./message-intake.js";
import { processMemory } from "./message-memory.js";
import { messageWork, type WorkResult } from "./message-work.js";

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

/** The service waits for 5 s (public reference). */
const answerWithinMs = 4_000;

const refusals = {
  method: { status: 405, headers: { allow: "POST" } },
  tooSlow: { status: 408, headers: { connection: "close" } },
  tooLong: { status: 413 },
  unreadable: { status: 400 },
  failed: { status: 500 },
  later: { status: 503, headers: { "retry-after": "1" } },
} as const satisfies Readonly<Record<string, CallbackAnswer>>;

const isWanted = <T extends MessageType>(
  message: ReceivedMessage,
  accepts: readonly T[],
): message is ReceivedMessage<T> =>
  isMessageType(message.type) && accepts.some((type) => type === message.type);

type Tell = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** Takes messages over, and works on them. */
const intakeOf = <T extends MessageType>(
  options: CompleteOptions<T>,
  tell: Tell,
): MessageIntake<T> => {
  const { memory, remembered, clock = systemClock, messageTimeoutMs, acknowledge } = options;
  const work = messageWork<T>({
    onMessage: options.onMessage,
    memory: memory ?? processMemory(remembered),
    isShared: memory !== undefined,
    clock,
    limitMs: messageTimeoutMs,
    tell,
  });
  return messageIntake(options, work, acknowledge === "after");
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

/** The answer once the work is done. */
const answerAfter = (results: readonly WorkResult[]): CallbackAnswer => {
  if (results.includes("failed")) return refusals.failed;
  return results.includes("elsewhere") ? refusals.later : { status: 200 };
};

/** Where a call stands. */
interface Progress {
  /** The answer where it takes too long from here. */
  late: CallbackAnswer;
  isLate: boolean;
}

/** Answers one call. Never fails. */
const answering = <T extends MessageType>(options: CompleteOptions<T>) => {
  const tell = harmless(options.onError);
  const credentials = prepared("make the callback handler", () =>
    credentialCheck(options.authenticate),
  );
  const platformName = platformNameOf(options.platformName);
  const { clock = systemClock, maxBytes, acknowledge } = options;
  const accepts: readonly MessageType[] = options.accepts ?? messageTypes;
  const { take, idle } = intakeOf(options, tell);
  const refused = { status: 401, headers: { "www-authenticate": credentials.challenge } };

  const passes = async (call: CallbackCall): Promise<boolean | undefined> => {
    try {
      return await credentials.passes(call.authorization);
    } catch (error) {
      void tell(error);
      return undefined;
    }
  };

  const taken = async (
    messages: readonly ReceivedMessage[],
    progress: Progress,
  ): Promise<CallbackAnswer> => {
    const wanted = messages.filter((message): message is ReceivedMessage<T> =>
      isWanted(message, accepts),
    );
    const { full, results } = take(wanted);
    if (acknowledge === "after") {
      // The work goes on; when the call comes again it may be done.
      progress.late = refusals.later;
      const answer = answerAfter(await Promise.all(results));
      if (answer.status !== 200) return answer;
    }
    return full ? refusals.later : { status: 200 };
  };

  const answered = async (call: CallbackCall, progress: Progress): Promise<CallbackAnswer> => {
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
    if (progress.isLate) return progress.late;
    if (body.unreadable > 0) void tell(unreadableEntries(body.unreadable));
    return taken(body.messages, progress);
  };

  const inTime = async (call: CallbackCall): Promise<CallbackAnswer> => {
    const done = new AbortController();
    const progress: Progress = { late: refusals.tooSlow, isLate: false };
    const late = (): CallbackAnswer => {
      progress.isLate = true;
      return progress.late;
    };
    const tooSlow = clock.sleep(answerWithinMs, done.signal).then(late, late);
    try {
      return await Promise.race([answered(call, progress), tooSlow]);
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
 * Makes a handler for the messages that the service delivers: checks credentials, answers at once or
 * after the work, and keeps conversations apart. Both versions (v1, v3) and both forms of content are
 * understood.
 *
 * Answers: 200 taken · 400 no messages in it · 401 wrong credentials · 405 no POST · 408 too slow ·
 * 413 too long · 500 the work failed (`acknowledge: "after"`) · 503 too many messages wait, the work
 * is not done yet, or the check of a token failed.
 *
 * @throws ConversationError `INPUT_INVALID` where `authenticate` holds nothing to compare with, or an
 * option cannot be used
 *
 * @example
 * const hub = callbacks({
 *   authenticate: { basic: { username: "hub", password } },
 *   accepts: ["text"],
 *   onMessage: async ({ text, conversationId }) => {
 *     await client.messages.reply(conversationId, { type: "text", text: `You said ${text}`, sender: "custom_bot" });
 *   },
 * });
 * createServer(hub.node).listen(3000);
 */
export const callbacks = <const T extends MessageType = MessageType>(
  options: CallbackOptions<T>,
): Callbacks => {
  const { answer, idle } = answering(completeOptions(options));
  return {
    node: nodeHandler(answer),
    express: expressHandler(answer),
    fetch: fetchHandler(answer),
    idle,
  };
};
