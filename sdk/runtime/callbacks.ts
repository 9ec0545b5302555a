import { channel } from "node:diagnostics_channel";
import type { Clock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { packageName } from "../../provider/kernel/package.js";
import { cleaned, durationText, inertOutput, quoted } from "../../provider/kernel/text.js";
import {
  type AnyMessageType,
  furtherMessageTypes,
  isAnyMessageType,
  isSenderKind,
  type MessageType,
  type MessageTypesOf,
  messageTypes,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { redact } from "../../provider/service/redaction.js";
import {
  type CallbackOptions,
  type CompleteOptions,
  completeOptions,
  credentialCheck,
  type MessageContext,
  secretsOf,
} from "./callback-options.js";
import {
  type BodyRefusal,
  type CallbackAnswer,
  type CallbackCall,
  type ExpressHandler,
  expressHandler,
  type FetchHandler,
  fetchHandler,
  type NodeHandler,
  nodeHandler,
} from "./callback-servers.js";
import { inputInvalid, prepared } from "./caller-input.js";
import {
  type MessageMemory,
  processMemory,
  reliableMemory,
  type Taken,
  withinTime,
} from "./message-memory.js";
import { type ReceivedMessage, receivedMessages } from "./received-message.js";

/** Name of the node:diagnostics_channel channel that publishes callback failures. */
export const callbackFailures = "pulumi-conversation:callback-failure";

/** A failure of a callback: what was thrown, and the message that was worked on. */
const publishFailure = (error: unknown, message: unknown): void => {
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
    const { stack, name, message } = error;
    // An error of this package explains itself.
    const own = stack === undefined || isConversationError(error) ? `${name}: ${message}` : stack;
    const isLast = error.cause === undefined || causes === mostCauses;
    return isLast ? own : `${own}\ncaused by ${textOf(error.cause, causes + 1)}`;
  } catch {
    return "an error that cannot be displayed";
  }
};

/**
 * Writes a failure to standard error. Never fails.
 *
 * @param what what failed, as the beginning of a line; undefined if the error's message says it
 * @param secrets left out of the text
 */
const writeFailure = (
  what: string | undefined,
  error: unknown,
  secrets: readonly string[],
): void => {
  // An error may quote the sender of the message: only the first line begins at the margin.
  const [first = "", ...others] = redact(textOf(error).slice(0, mostCharacters), secrets)
    .split("\n", mostLines)
    .map((line) => cleaned(line).trim());
  const begin = what === undefined ? packageName : `${packageName}: ${what}`;
  const lines = [`${begin}: ${first}`, ...others.map((line) => `    ${line}`)];
  try {
    process.stderr.write(`${inertOutput(lines.join("\n"), false)}\n`);
  } catch {
    // There is no other place to write it.
  }
};

/** `elsewhere`: another process is at work on the message. */
type WorkResult = "done" | "repeat" | "elsewhere" | "failed";

/** Reports a failure to the caller. Never fails. */
type ReportFailure = (error: unknown, message?: ReceivedMessage) => Promise<void>;

/** The service's ID of a message, else the sender's own within its conversation; undefined if it has neither. */
const messageKey = ({ id, messageId, conversationId }: ReceivedMessage): string | undefined => {
  if (id !== undefined) return JSON.stringify([id]);
  return messageId === undefined ? undefined : JSON.stringify([conversationId, messageId]);
};

/**
 * Added to the time limit of a message, so that nobody else takes it while it is being processed.
 */
const leaseMarginMs = 5_000;

/**
 * A lease that is renewed lasts this long: a service that repeats a delivery for some seconds still
 * finds the message free after the process that handled it was killed.
 */
const renewedLeaseMs = 5_000;
const renewEveryMs = 1_500;

/** Renews the lease of a message until the signal aborts. Never fails. */
const keepTaken = async (
  memory: MessageMemory,
  key: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  try {
    while (memory.renew) {
      await clock.sleep(renewEveryMs, signal);
      // Without an answer the lease may end, and somebody else handle the message, too.
      void memory.renew(key, renewedLeaseMs).catch(() => {});
    }
  } catch {
    // The message has been handled.
  }
};

const tooSlow = ({ type }: ReceivedMessage, ms: number): ConversationError =>
  new ConversationError(
    "TIMED_OUT",
    `The handler for ${type} messages did not finish within ${durationText(ms)}. The conversation continues with the next message.`,
  );

const results = { taken: "elsewhere", done: "repeat" } as const satisfies Readonly<
  Record<Exclude<Taken, "new">, WorkResult>
>;

/** Works on a message: once, within its time. Never fails. */
const messageWork = <T extends AnyMessageType>(
  options: CompleteOptions<T>,
  report: ReportFailure,
): ((message: ReceivedMessage<T>) => Promise<WorkResult>) => {
  const { onMessage, clock, messageTimeoutMs: ms } = options;
  const memory = options.memory
    ? reliableMemory(options.memory, clock, report)
    : processMemory(options.remembered);
  return async (message) => {
    const key = messageKey(message);
    const leaseMs = memory.renew ? renewedLeaseMs : ms + leaseMarginMs;
    const taken = key === undefined ? "new" : await memory.take(key, leaseMs);
    if (taken !== "new") return results[taken];
    const ended = new AbortController();
    if (key !== undefined) void keepTaken(memory, key, clock, ended.signal);
    const limit = { clock, ms, late: () => tooSlow(message, ms) };
    try {
      await withinTime(limit, (signal) => onMessage(message, { signal })).finally(() =>
        ended.abort(),
      );
    } catch (error) {
      if (key !== undefined) await memory.release(key);
      // Reporting must not hold up the conversation either.
      await withinTime(limit, () => report(error, message)).catch(() => {});
      return "failed";
    }
    if (key !== undefined) await memory.done(key);
    return "done";
  };
};

/** The messages of one conversation that wait. */
interface ConversationQueue {
  last: Promise<unknown>;
  waiting: number;
}

/** Work that starts here starts after the caller has been answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Messages that wait for their work: in order within a conversation, conversations side by side. */
class MessageQueues<T extends AnyMessageType> {
  readonly #queues = new Map<string, ConversationQueue>();
  readonly #pending = new Map<string, Promise<WorkResult>>();
  #waiting = 0;

  /**
   * @param options `joins`: whether a message that waits already is waited for if it comes again;
   * else it queues once more, in case the first fails
   * @param work must not fail
   */
  constructor(
    private readonly options: Pick<
      CompleteOptions<T>,
      "maxWaiting" | "maxWaitingPerConversation"
    > & { readonly joins: boolean },
    private readonly work: (message: ReceivedMessage<T>) => Promise<WorkResult>,
  ) {}

  /**
   * Takes the messages of one call. Their work begins later, never at once.
   *
   * @returns their results; undefined if too many wait in one of their conversations, or in all
   */
  add(messages: readonly ReceivedMessage<T>[]): readonly Promise<WorkResult>[] | undefined {
    const added = messages.filter((message) => !this.#findPending(message));
    const groups = Map.groupBy(added, ({ conversationId }) => conversationId);
    const fits = [...groups].every(([id, { length }]) => this.#fits(id, length, added.length));
    return fits ? messages.map((message) => this.#join(message)) : undefined;
  }

  /** When all work is done, also what is added meanwhile. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(({ last }) => last));
    }
  }

  #findPending(message: ReceivedMessage<T>): Promise<WorkResult> | undefined {
    return this.options.joins ? this.#pending.get(messageKey(message) ?? "") : undefined;
  }

  /** @param added how many messages of its call are not pending, here and in all */
  #fits(conversationId: string, addedHere: number, added: number): boolean {
    const { maxWaiting, maxWaitingPerConversation } = this.options;
    const here = this.#queues.get(conversationId)?.waiting ?? 0;
    const inAll = this.#waiting + added;
    // A call that alone is longer than the limit gets through when nothing waits.
    if (this.#waiting === 0) return true;
    // As much again is kept for conversations in which nothing waits: others must not block them.
    if (here === 0) return inAll <= 2 * maxWaiting;
    return here + addedHere <= maxWaitingPerConversation && inAll <= maxWaiting;
  }

  #join(message: ReceivedMessage<T>): Promise<WorkResult> {
    const pending = this.#findPending(message);
    if (pending) return pending;
    const result = this.#enqueue(message);
    const key = this.options.joins ? messageKey(message) : undefined;
    if (key === undefined) return result;
    this.#pending.set(key, result);
    return result.finally(() => this.#pending.delete(key));
  }

  #enqueue(message: ReceivedMessage<T>): Promise<WorkResult> {
    const { conversationId } = message;
    const queue = this.#queues.get(conversationId) ?? { last: nextTurn(), waiting: 0 };
    this.#queues.set(conversationId, queue);
    this.#waiting += 1;
    queue.waiting += 1;
    const result = queue.last
      .then(() => this.work(message))
      .finally(() => {
        this.#waiting -= 1;
        queue.waiting -= 1;
        if (queue.waiting === 0) this.#queues.delete(conversationId);
      });
    queue.last = result;
    return result;
  }
}

/**
 * Handles calls from the service in any kind of server (specification §5.2, §6; public reference).
 */
export interface Callbacks {
  /**
   * Handler for `createServer` from node:http and node:https. Such a server closes connections that
   * are idle for 5 s: behind a proxy, set the timeouts that {@link serveCallbacks} sets.
   */
  readonly node: NodeHandler;
  /** Handler for Express and compatible frameworks, with or without a body parser. */
  readonly express: ExpressHandler;
  /**
   * Handler for fetch-based servers, such as Hono:
   * `app.post("/hub", (c) => handler.fetch(c.req.raw))`. A function that stops after its response
   * needs `acknowledge: "after"`.
   */
  readonly fetch: FetchHandler;
  /**
   * Resolves when every accepted message has been handled. Use it in tests, and before the process
   * exits. Never fails.
   */
  idle(): Promise<void>;
}

/** The service waits for 5 s (public reference). */
const answerWithinMs = 4_000;

const refusals = {
  method: { status: 405, headers: { allow: "POST" } },
  tooSlow: { status: 408, headers: { connection: "close" } },
  unreadable: { status: 400 },
  failed: { status: 500 },
  later: { status: 503, headers: { "retry-after": "1" } },
} as const satisfies Readonly<Record<string, CallbackAnswer>>;

const unreadableEntries = (count: number): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read ${count} ${count === 1 ? "message" : "messages"} in a callback because the type or conversation is missing. The other messages in the callback are handled.`,
  );

const unreadableBody = (rule: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read a callback: ${rule}. Its messages, if any, were not handled.`,
  );

const wrongCredentials = (): ConversationError =>
  new ConversationError(
    "UNAUTHORIZED",
    "Refused a call to the callback with 401: the call's credentials do not match the authenticate option. If the service sent the call, compare authenticate with the authentication that the program declares. Further calls like this are not reported.",
  );

const notHandledInTime = (first: ReceivedMessage): ConversationError =>
  new ConversationError(
    "TIMED_OUT",
    `Responded to a callback with 503: its messages were not handled within ${durationText(answerWithinMs)} (the first is ${messageTitle(first)}). The work continues, and a repeated delivery does not start it again. Further calls like this are not reported.`,
  );

const messageTitle = ({ id, messageId, type, conversationId }: ReceivedMessage): string => {
  const known = id ?? messageId;
  const named = known === undefined ? "a message" : `message ${quoted(known)}`;
  return `${named} (${type}) in conversation ${quoted(conversationId)}`;
};

/** What could not be done, and what happens next; undefined if an error of this package says all. */
const failureName = (
  error: unknown,
  message: ReceivedMessage | undefined,
  acknowledge: CallbackOptions["acknowledge"],
): string | undefined => {
  if (!message) return isConversationError(error) ? undefined : "A callback failed";
  const next =
    acknowledge === "after" ? "it may be delivered again" : "it will not be delivered again";
  return `Could not handle ${messageTitle(message)}; ${next}`;
};

/** Hands failures to the hook, or writes them if there is none. A hook that fails must not fail a call. */
const reporting = ({
  onError,
  authenticate,
  acknowledge,
}: Pick<CallbackOptions, "onError" | "authenticate" | "acknowledge">): ReportFailure => {
  const secrets = secretsOf(authenticate);
  return async (error, message) => {
    publishFailure(error, message);
    const what = failureName(error, message, acknowledge);
    if (!onError) return writeFailure(what, error, secrets);
    try {
      await onError(error, message);
    } catch (failure) {
      writeFailure(what, error, secrets);
      writeFailure("onError failed", failure, secrets);
    }
  };
};

/** Answers calls: verifies, reads, queues, acknowledges. Never fails. */
const answering = <T extends AnyMessageType>(options: CompleteOptions<T>) => {
  const { clock, maxBytes, accepts, platformName } = options;
  const credentials = prepared("create the callback handler", () =>
    credentialCheck(options.authenticate),
  );
  const report = reporting(options);
  const joins = options.acknowledge === "after";
  const queues = new MessageQueues<T>({ ...options, joins }, messageWork(options, report));
  const unauthorized = { status: 401, headers: { "www-authenticate": credentials.challenge } };

  const noticeOnce = <A extends readonly unknown[]>(notice: (...about: A) => ConversationError) => {
    let isWritten = false;
    return (...about: A): void => {
      if (isWritten) return;
      isWritten = true;
      const error = notice(...about);
      publishFailure(error, undefined);
      // Not to onError: a bot may end because of what that gets, and no work has failed.
      writeFailure(undefined, error, secretsOf(options.authenticate));
    };
  };
  // Anybody can send calls without credentials.
  const reportRefusal = noticeOnce(wrongCredentials);
  const reportDelay = noticeOnce(notHandledInTime);

  const refusalOf = async ({ method, authorization }: CallbackCall) => {
    if (method !== "POST") return refusals.method;
    try {
      if (await credentials.passes(authorization)) return undefined;
      reportRefusal();
      return unauthorized;
    } catch (error) {
      void report(error);
      return refusals.later;
    }
  };

  const refuseBody = ({ status, rule }: BodyRefusal): CallbackAnswer => {
    const error = unreadableBody(rule);
    void report(error);
    return { status, text: error.message };
  };

  const isWanted = (message: ReceivedMessage): message is ReceivedMessage<T> =>
    accepts(message.type);

  const answer = async (call: CallbackCall): Promise<CallbackAnswer> => {
    const done = new AbortController();
    // The answer if it takes too long from here.
    let lateAnswer: CallbackAnswer = refusals.tooSlow;
    let isLate = false;
    let first: ReceivedMessage<T> | undefined;
    const late = (): CallbackAnswer => {
      isLate = true;
      if (first && !done.signal.aborted) reportDelay(first);
      return lateAnswer;
    };

    const answered = async (): Promise<CallbackAnswer> => {
      const refusal = await refusalOf(call);
      if (refusal) return refusal;
      const body = await call.body(maxBytes, done.signal);
      if ("rule" in body) return refuseBody(body);
      const received = receivedMessages(body.value, platformName);
      if (!received) {
        const rule = "its body is not a JSON object with a list of messages";
        return refuseBody({ status: 400, rule });
      }
      // The caller already got the answer that it took too long, and will come again.
      if (isLate) return lateAnswer;
      if (received.unreadable > 0) void report(unreadableEntries(received.unreadable));
      const wanted = received.messages.filter(isWanted);
      const results = queues.add(wanted);
      if (!results) return refusals.later;
      if (joins) {
        // The work goes on; when the call comes again it may be done.
        lateAnswer = refusals.later;
        [first] = wanted;
        const worked = await Promise.all(results);
        if (worked.includes("failed")) return refusals.failed;
        if (worked.includes("elsewhere")) return refusals.later;
      }
      return { status: 202 };
    };

    const tooSlow = clock.sleep(answerWithinMs, done.signal).then(late, late);
    try {
      return await Promise.race([answered(), tooSlow]);
    } catch (error) {
      void report(error);
      return refusals.unreadable;
    } finally {
      done.abort();
    }
  };
  return { answer, idle: () => queues.idle() };
};

const serving = <T extends AnyMessageType>(options: CompleteOptions<T>): Callbacks => {
  const { answer, idle } = answering(options);
  return {
    node: nodeHandler(answer),
    express: expressHandler(answer),
    fetch: fetchHandler(answer),
    idle,
  };
};

/**
 * Creates a handler for the messages that the service delivers. The handler checks credentials,
 * responds before or after handling the messages, and keeps conversations separate. It accepts both
 * versions (v1, v3).
 *
 * Responses: 202 accepted (vendor) · 400 no messages in the body · 401 wrong credentials · 405 not
 * a POST · 408 too slow · 413 too long · 415 another content encoding than gzip, deflate, and br,
 * or another charset than UTF-8 · 500 the work failed (`acknowledge: "after"`) · 503 too many
 * messages are waiting, the work is not done yet, or a token check failed. If the body is the
 * reason, the response says why in plain text.
 *
 * @throws ConversationError `INPUT_INVALID` if `authenticate` contains no credentials, or an option
 * is invalid
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
export const callbacks = <const T extends AnyMessageType = MessageType>(
  options: CallbackOptions<T>,
): Callbacks => serving(completeOptions(options));

/** A handler for messages of certain types. */
export type MessageHandler<T extends AnyMessageType = MessageType> = (
  message: ReceivedMessage<T>,
  context: MessageContext,
) => void | Promise<void>;

/** The options for {@link callbacks}, except those that an app's handlers replace. */
export type ConversationAppOptions = Omit<CallbackOptions, "onMessage" | "accepts">;

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
  on<K extends SenderKind, T extends MessageTypesOf<K>>(
    sender: K,
    type: T | readonly T[],
    handler: MessageHandler<T>,
  ): ConversationApp;
  /**
   * Registers the handler for all other messages. If there is none, they are discarded.
   *
   * @throws ConversationError `INPUT_INVALID` if the handler is not a function
   */
  otherwise(handler: MessageHandler<AnyMessageType>): ConversationApp;
}

/** The work on a message, if a handler takes it; else undefined. */
type Route = (
  message: ReceivedMessage<AnyMessageType>,
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
const routeOf = <T extends AnyMessageType>(given: Registration<T>): Route => {
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
  const fits = (message: ReceivedMessage<AnyMessageType>): message is ReceivedMessage<T> =>
    types.includes(message.type) && (sender === undefined || sender === message.sender.kind);
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
  let fallback: MessageHandler<AnyMessageType> = () => {};
  const onMessage: MessageHandler<AnyMessageType> = async (message, context) => {
    for (const route of routes) {
      const work = route(message);
      if (work) return work(context);
    }
    return fallback(message, context);
  };
  const app: ConversationApp = {
    ...serving({
      ...completeOptions<AnyMessageType>(
        prepared("create the app", () => ({ ...options, onMessage })),
      ),
      accepts: isAnyMessageType,
    }),
    on: <T extends AnyMessageType>(...given: Registration<T>) => {
      routes.push(prepared(doing, () => routeOf(given)));
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
