import { ConversationError } from "../../../provider/kernel/errors.js";
import { quoted } from "../../../provider/kernel/quoted.js";
import { prepared } from "../caller-input.js";
import type { MessageType } from "../messages/message-types.js";
import { type ReceivedMessage, receivedMessages } from "../messages/received-message.js";
import { credentialCheck, secretsOf } from "./callback-credentials.js";
import { publishFailure, writeFailure } from "./callback-failures.js";
import { type CallbackOptions, type CompleteOptions, completeOptions } from "./callback-options.js";
import {
  type CallbackAnswer,
  type CallbackCall,
  type ExpressHandler,
  expressHandler,
  type FetchHandler,
  fetchHandler,
  type NodeHandler,
  nodeHandler,
} from "./callback-servers.js";
import { MessageQueues } from "./message-queues.js";
import { messageWork, type ReportFailure, type WorkResult } from "./message-work.js";

/** Takes the calls of the service (specification §5.2, §6; public reference) for any kind of server. */
export interface Callbacks {
  /** For `createServer` of node:http and node:https. */
  readonly node: NodeHandler;
  /** For Express and its relatives; it does not matter whether a body parser ran before. */
  readonly express: ExpressHandler;
  /** For servers that speak fetch, such as hono: `app.post("/hub", (c) => handler.fetch(c.req.raw))`. */
  readonly fetch: FetchHandler;
  /** When every message that was taken has been worked on: for tests, and before the process ends. Never fails. */
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

const unreadableEntries = (count: number): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read ${count} of the messages of a callback: they have no type, or no conversation. They were dropped.`,
  );

const failureName = (message: ReceivedMessage | undefined): string =>
  message
    ? `A message of type ${message.type} in conversation ${quoted(message.conversationId)} could not be handled`
    : "A callback failed";

/** Hands failures to the hook, or writes them where there is none. A hook that fails must not fail a call. */
const reporting = ({
  onError,
  authenticate,
}: Pick<CallbackOptions, "onError" | "authenticate">): ReportFailure => {
  const secrets = secretsOf(authenticate);
  return async (error, message) => {
    publishFailure(error, message);
    if (!onError) return writeFailure(failureName(message), error, secrets);
    try {
      await onError(error, message);
    } catch (failure) {
      writeFailure(failureName(message), error, secrets);
      writeFailure("onError failed", failure, secrets);
    }
  };
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

/** Answers calls: verifies, reads, queues, acknowledges. Never fails. */
const answering = <T extends MessageType>(options: CompleteOptions<T>) => {
  const { clock, maxBytes, accepts, platformName } = options;
  const credentials = prepared("make the callback handler", () =>
    credentialCheck(options.authenticate),
  );
  const tell = reporting(options);
  const joins = options.acknowledge === "after";
  const queues = new MessageQueues<T>({ ...options, work: messageWork(options, tell), joins });
  const unauthorized = { status: 401, headers: { "www-authenticate": credentials.challenge } };

  const refusalOf = async ({ method, authorization }: CallbackCall) => {
    if (method !== "POST") return refusals.method;
    try {
      return (await credentials.passes(authorization)) ? undefined : unauthorized;
    } catch (error) {
      void tell(error);
      return refusals.later;
    }
  };

  const isWanted = (message: ReceivedMessage): message is ReceivedMessage<T> =>
    accepts.some((type) => type === message.type);

  const queued = async (
    messages: readonly ReceivedMessage[],
    progress: Progress,
  ): Promise<CallbackAnswer> => {
    const { full, results } = queues.add(messages.filter(isWanted));
    if (joins) {
      // The work goes on; when the call comes again it may be done.
      progress.late = refusals.later;
      const answer = answerAfter(await Promise.all(results));
      if (answer.status !== 200) return answer;
    }
    return full ? refusals.later : { status: 200 };
  };

  const answered = async (
    call: CallbackCall,
    progress: Progress,
    done: AbortSignal,
  ): Promise<CallbackAnswer> => {
    const refusal = await refusalOf(call);
    if (refusal) return refusal;
    const body = await call.body(maxBytes, done);
    if (!body) return refusals.tooLong;
    const received = receivedMessages(body.value, platformName);
    if (!received) return refusals.unreadable;
    // Whoever called was told already that it took too long, and will come again.
    if (progress.isLate) return progress.late;
    if (received.unreadable > 0) void tell(unreadableEntries(received.unreadable));
    return queued(received.messages, progress);
  };

  const answer = async (call: CallbackCall): Promise<CallbackAnswer> => {
    const done = new AbortController();
    const progress: Progress = { late: refusals.tooSlow, isLate: false };
    const late = (): CallbackAnswer => {
      progress.isLate = true;
      return progress.late;
    };
    const tooSlow = clock.sleep(answerWithinMs, done.signal).then(late, late);
    try {
      return await Promise.race([answered(call, progress, done.signal), tooSlow]);
    } catch (error) {
      void tell(error);
      return refusals.unreadable;
    } finally {
      done.abort();
    }
  };
  return { answer, idle: () => queues.idle() };
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
