import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ConversationError } from "../../provider/kernel/errors.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { durationText } from "../../provider/kernel/text.js";
import {
  type AnyMessageType,
  furtherMessageTypes,
  isAnyMessageType,
  isSenderKind,
  type MessageTypesOf,
  messageTypes,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { createFailureReporter, type ReportFailure } from "./callback-failures.js";
import {
  type CallbackOptions,
  completeOptions,
  createCredentialCheck,
  type MessageContext,
} from "./callback-options.js";
import { guardInput, inputInvalid } from "./caller-input.js";
import type { OtherMessage } from "./message.js";
import { createProcessMemory } from "./message-memory.js";
import { findMessageKey, MessageQueue } from "./message-queue.js";
import { readAtMost } from "./read-at-most.js";
import { type ReceivedMessage, readReceivedMessages } from "./received-message.js";
import { withinTime } from "./within-time.js";

/** Handles a node:http request. Never fails. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Handles calls from the service (specification §5.2, §6; public reference). */
export interface Callbacks {
  /**
   * Handler for `createServer` from node:http and node:https, and for Express and other frameworks
   * on top of them, before any body parser. Such a server closes connections that are idle for 5 s:
   * behind a proxy, set the timeouts that `serveCallbacks` sets.
   */
  readonly node: NodeHandler;
  /** Handler for servers and hosts that pass a `Request` of the Fetch standard. Never fails. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Resolves when every accepted message has been handled. Use it in tests, and before the process
   * exits. Never fails.
   */
  idle(): Promise<void>;
}

/** `elsewhere`: another process is at work on the message. */
type WorkResult = "done" | "elsewhere" | "failed";

const tooSlow = ({ type }: ReceivedMessage, ms: number): ConversationError =>
  new ConversationError(
    "TIMED_OUT",
    `The handler for ${type} messages did not finish within ${durationText(ms)}. The conversation continues with the next message.`,
  );

/** Works on a message: once, within its time. Never fails. */
const createMessageWork = (
  options: ReturnType<typeof completeOptions>,
  report: ReportFailure,
): ((message: ReceivedMessage) => Promise<WorkResult>) => {
  const { onMessage, clock, messageTimeoutMs: ms } = options;
  const memory = createProcessMemory(options.memory, clock, report);
  return async (message) => {
    const key = findMessageKey(message);
    const taken = key === undefined ? "new" : await memory.take(key);
    if (taken !== "new") return taken === "done" ? "done" : "elsewhere";
    const limit = { clock, ms, late: () => tooSlow(message, ms) };
    try {
      await withinTime(limit, (signal) => onMessage(message, { signal }));
    } catch (error) {
      if (key !== undefined) await memory.settle(key, "new");
      // Reporting must not hold up the conversation either.
      await withinTime(limit, () => report(error, message)).catch(() => {});
      return "failed";
    }
    if (key !== undefined) await memory.settle(key, "done");
    return "done";
  };
};

/** A call from the service, in the same form for every kind of server. */
interface IncomingCall {
  readonly method: string | undefined;
  readonly authorization: string | undefined;
  /** Whether something else has read the body. */
  readonly isRead: boolean;
  readonly body: () => AsyncIterable<Uint8Array>;
}

/** A response, with plain text as its body if it has one. */
interface CallbackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

const refusals = {
  method: { status: 405, headers: { allow: "POST" } },
  tooSlow: { status: 408, headers: { connection: "close" } },
  unreadable: { status: 400 },
  failed: { status: 500 },
  later: { status: 503, headers: { "retry-after": "1" } },
} as const satisfies Readonly<Record<string, CallbackAnswer>>;

/** The service waits for 5 s (public reference). */
const answerWithinMs = 4_000;

/** In bytes: a message may come with a transcript of 200 others, of 10,000 characters each (vendor). */
const longestBody = 8 * 1024 * 1024;

const unreadableBody = (rule: string, cause?: unknown): ConversationError => {
  const text = `Could not read a callback: ${rule}. Its messages, if any, were not handled.`;
  return new ConversationError("BAD_RESPONSE", text, {}, "none", { cause });
};

const unreadableEntries = (count: number): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read ${count} ${count === 1 ? "message" : "messages"} in a callback because the type or conversation is missing. The other messages in the callback are handled.`,
  );

const wrongCredentials = (): ConversationError =>
  new ConversationError(
    "UNAUTHORIZED",
    "Refused a call to the callback with 401: the call's credentials do not match the authenticate option. If the service sent the call, compare authenticate with the authentication that the program declares. Further calls like this are not reported.",
  );

const answerLate = new Error("The call was not answered in time.");

/** Answers calls: verifies, reads, queues, acknowledges. Never fails. */
const createAnswers = (options: ReturnType<typeof completeOptions>) => {
  const { authenticate, acknowledge, clock, platformName } = options;
  const credentials = guardInput("create the callback handler", () =>
    createCredentialCheck(authenticate),
  );
  const report = createFailureReporter(options);
  // Not to onError: a bot may end because of what that gets, and anybody can send such calls.
  const { onError: _, ...withoutHook } = options;
  const reportOnce = createFailureReporter(withoutHook);
  const queue = new MessageQueue(createMessageWork(options, report));
  const unauthorized = { status: 401, headers: { "www-authenticate": credentials.challenge } };
  let isRefusalReported = false;

  const findRefusal = async ({ method, authorization }: IncomingCall) => {
    if (method !== "POST") return refusals.method;
    try {
      if (await credentials.passes(authorization)) return undefined;
    } catch (error) {
      void report(error);
      return refusals.later;
    }
    if (!isRefusalReported) void reportOnce(wrongCredentials());
    isRefusalReported = true;
    return unauthorized;
  };

  const refuseBody = (status: number, rule: string): CallbackAnswer => {
    const error = unreadableBody(rule);
    void report(error);
    return { status, text: error.message };
  };

  const answer = async (call: IncomingCall): Promise<CallbackAnswer> => {
    let lateAnswer: CallbackAnswer = refusals.tooSlow;
    const respond = async (signal: AbortSignal): Promise<CallbackAnswer> => {
      const refusal = await findRefusal(call);
      if (refusal) return refusal;
      if (call.isRead) {
        return refuseBody(
          500,
          "its body has been read before; use the handler before body parsers",
        );
      }
      const body = await readAtMost(call.body(), longestBody);
      if (!body) return refuseBody(413, `its body is longer than ${longestBody} bytes`);
      // With U+FFFD in place of what cannot be read, a message would look whole.
      const text = isUtf8(body) ? new TextDecoder().decode(body) : "";
      const received = readReceivedMessages(jsonIn(text), platformName);
      if (!received) {
        const rule = "its body is not a JSON object with a list of messages, in uncompressed UTF-8";
        return refuseBody(400, rule);
      }
      // The caller already got the answer that it took too long, and will come again.
      if (signal.aborted) return lateAnswer;
      if (received.unreadable > 0) void report(unreadableEntries(received.unreadable));
      const results = queue.add(received.messages);
      if (!results) return refusals.later;
      if (acknowledge !== "after") return { status: 202 };
      // The work goes on; when the call comes again it may be done.
      lateAnswer = refusals.later;
      const worked = await Promise.all(results);
      if (worked.includes("failed")) return refusals.failed;
      return worked.includes("elsewhere") ? refusals.later : { status: 202 };
    };
    try {
      return await withinTime({ clock, ms: answerWithinMs, late: () => answerLate }, respond);
    } catch (error) {
      if (error === answerLate) return lateAnswer;
      void report(unreadableBody("its body did not arrive completely", error));
      return refusals.unreadable;
    }
  };
  return { answer, idle: () => queue.idle() };
};

type Answering = (call: IncomingCall) => Promise<CallbackAnswer>;

/** Text may quote the caller: nothing takes it for a page. */
const headersOf = ({ headers, text }: CallbackAnswer): Readonly<Record<string, string>> =>
  text ? { ...headers, "content-type": "text/plain; charset=utf-8" } : { ...headers };

const createNodeHandler =
  (answer: Answering): NodeHandler =>
  async (request, response) => {
    const answered = await answer({
      method: request.method,
      authorization: request.headers.authorization,
      isRead: request.readableEnded,
      // The request stays open if reading stops early, so that it can still be answered.
      body: () => request.iterator({ destroyOnReturn: false }),
    });
    if (response.headersSent || response.destroyed) return;
    const { status, text = "" } = answered;
    const length = { "content-length": Buffer.byteLength(text) };
    response.writeHead(status, { ...headersOf(answered), ...length });
    response.end(text);
    // What was not wanted of the body must not hold up the next call.
    request.on("error", () => {}).resume();
  };

const createFetchHandler =
  (answer: Answering): Callbacks["fetch"] =>
  async (request) => {
    const answered = await answer({
      method: request.method,
      authorization: request.headers.get("authorization") ?? undefined,
      isRead: request.bodyUsed,
      body: () => request.body ?? new Blob([]).stream(),
    });
    const { status, text = null } = answered;
    return new Response(text, { status, headers: headersOf(answered) });
  };

const serve = (options: ReturnType<typeof completeOptions>): Callbacks => {
  const { answer, idle } = createAnswers(options);
  return {
    node: createNodeHandler(answer),
    fetch: createFetchHandler(answer),
    idle,
  };
};

/**
 * Creates a handler for the messages that the service delivers. The handler checks credentials,
 * responds before or after handling the messages, and keeps conversations separate. It accepts both
 * versions (v1, v3).
 *
 * Responses: 202 accepted (vendor) · 400 no messages in the body · 401 wrong credentials · 405 not
 * a POST · 408 too slow · 413 longer than 8 MiB · 500 the work failed (`acknowledge: "after"`) · 503
 * too many messages are waiting (10,000, or 1,000 in one conversation), the work is not done yet, or
 * a token check failed. If the body is the reason, the response says why in plain text.
 *
 * @throws ConversationError `INPUT_INVALID` if `authenticate` contains no credentials, or an option
 * is invalid
 *
 * @example
 * const hub = callbacks({
 *   authenticate: { basic: { username: "hub", password } },
 *   onMessage: async ({ type, text, conversationId }) => {
 *     if (type !== "text") return;
 *     await client.messages.reply(conversationId, { type: "text", text: `You said ${text}`, sender: "custom_bot" });
 *   },
 * });
 * createServer(hub.node).listen(3000);
 */
export const callbacks = (options: CallbackOptions): Callbacks => serve(completeOptions(options));

/** A handler for messages of certain types. */
export type MessageHandler<T extends string = string> = (
  message: ReceivedMessage<T>,
  context: MessageContext,
) => void | Promise<void>;

/** The options for {@link callbacks}, except the one that an app's handlers replace. */
export type ConversationAppOptions = Omit<CallbackOptions, "onMessage">;

/** Callbacks that pass each message to the first matching handler. */
export interface ConversationApp extends Callbacks {
  /**
   * Registers a handler for messages of one or more types, from any sender. The types can be your
   * own (`custom.…`) and those that only the vendor lists, too.
   *
   * @throws ConversationError `INPUT_INVALID` for an invalid type or handler
   */
  on<T extends AnyMessageType>(type: T | readonly T[], handler: MessageHandler<T>): ConversationApp;
  /**
   * Registers a handler for messages of one or more types, from one kind of sender.
   *
   * @throws ConversationError `INPUT_INVALID` for an invalid type, sender, or handler
   */
  on<K extends SenderKind, T extends MessageTypesOf<K> | OtherMessage["type"]>(
    sender: K,
    type: T | readonly T[],
    handler: MessageHandler<T>,
  ): ConversationApp;
  /**
   * Registers the handler for all other messages. If there is none, they are discarded.
   *
   * @throws ConversationError `INPUT_INVALID` if the handler is not a function
   */
  otherwise(handler: MessageHandler): ConversationApp;
}

/** The work on a message, if a handler takes it; else undefined. */
type Route = (
  message: ReceivedMessage,
) => ((context: MessageContext) => void | Promise<void>) | undefined;

/** `on(type, handler)` or `on(sender, type, handler)`. */
type Registration<T extends AnyMessageType> =
  | readonly [types: T | readonly T[], handler: MessageHandler<T>]
  | readonly [sender: SenderKind, types: T | readonly T[], handler: MessageHandler<T>];

const doing = "register a handler";

const assertHandler = (handler: unknown): void => {
  if (typeof handler !== "function") throw inputInvalid(doing, "handler must be a function");
};

/** @throws ConversationError `INPUT_INVALID` naming what cannot be used */
const createRoute = <T extends AnyMessageType>(given: Registration<T>): Route => {
  const [sender, type, handler] = given.length === 3 ? given : [undefined, ...given];
  if (given.length === 3 && !isSenderKind(sender)) {
    throw inputInvalid(doing, `sender must be one of: ${senderKinds.join(", ")}`);
  }
  const types: readonly unknown[] = [type].flat();
  if (types.length === 0 || !types.every(isAnyMessageType)) {
    throw inputInvalid(
      doing,
      `type must be one or more of: ${[...messageTypes, ...furtherMessageTypes].join(", ")}, custom.…`,
    );
  }
  assertHandler(handler);
  const fits = (message: ReceivedMessage): message is ReceivedMessage<T> =>
    types.some((each) => each === message.type) &&
    (sender === undefined || sender === message.sender.kind);
  return (message) => (fits(message) ? (context) => handler(message, context) : undefined);
};

/**
 * Creates callbacks that pass each message to the handler for its type and, optionally, its sender.
 * If several handlers match, only the one registered first receives the message. Options, order,
 * repeats, and failures work as in {@link callbacks}.
 *
 * @throws ConversationError `INPUT_INVALID` for an invalid option, type, or sender
 *
 * @example
 * const app = conversationApp({ authenticate: { basic: { username: "hub", password } } });
 * app.on("customer", "text", async (message) => {
 *   await hub.messages.reply(message, { type: "text", text: "One moment", sender: "custom_bot" });
 * });
 * app.on("conversation.end", ({ conversationId }) => forget(conversationId));
 * app.otherwise(({ type }) => console.log(`nothing to do about ${type}`));
 * createServer(app.node).listen(3000);
 */
export const conversationApp = (options: ConversationAppOptions): ConversationApp => {
  const routes: Route[] = [];
  let fallback: MessageHandler = () => {};
  const onMessage: MessageHandler = async (message, context) => {
    for (const route of routes) {
      const work = route(message);
      if (work) return work(context);
    }
    return fallback(message, context);
  };
  const given = guardInput("create the app", () => ({ ...options, onMessage }));
  const app: ConversationApp = {
    ...callbacks(given),
    on: <T extends AnyMessageType>(...registration: Registration<T>) => {
      routes.push(guardInput(doing, () => createRoute(registration)));
      return app;
    },
    otherwise: (handler) => {
      assertHandler(handler);
      fallback = handler;
      return app;
    },
  };
  return app;
};
