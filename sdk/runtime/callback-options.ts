import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { type MessageType, messageTypes } from "../../provider/service/message-types.js";
import { platformNameOf } from "./connect.js";
import { anyFunction, checkedOptions, timeLimit } from "./input-schemas.js";
import type { MessageMemory } from "./message-memory.js";
import type { ReceivedMessage } from "./received-message.js";

/** Checks a Bearer token; true lets the call pass. A failure lets nothing pass. */
export type BearerCheck = (token: string) => boolean | Promise<boolean>;

/** What the service shows by Basic authentication. */
export interface BasicCredentials {
  /** Without a colon. */
  readonly username: string;
  /** Any text but the empty one. */
  readonly password: string;
}

/**
 * What a call of the service must show: as its authentication was registered (specification §5.2).
 * If several are given, any of them is accepted: the old one and the new one while they are
 * rotated.
 */
export type CallbackCredentials =
  | { readonly basic: BasicCredentials | readonly BasicCredentials[] }
  | { readonly bearer: string | readonly string[] | BearerCheck };

/** Checks the value of an Authorization header. */
interface CredentialCheck {
  passes(header: string | undefined): Promise<boolean>;
  /** For the `WWW-Authenticate` header of a 401. */
  readonly challenge: string;
}

/** Longer ones are refused unread. */
const longestHeader = 16 * 1024;

/** Compares in constant time, whatever the lengths. */
const sameText = (one: string, other: string, key: Uint8Array): boolean => {
  const digest = (text: string) => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

const invalid = (rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not make the callback handler: ${rule}. Without it anybody could send messages.`,
  );

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** @param accepts checks what stands behind the scheme; an empty text if the scheme is another one */
const checkOf = (
  scheme: "Basic" | "Bearer",
  parameters: string,
  accepts: (credentials: string) => boolean | Promise<boolean>,
): CredentialCheck => ({
  challenge: `${scheme} realm="conversation"${parameters}`,
  passes: async (header = "") => {
    const [, given = "", credentials = ""] =
      (header.length <= longestHeader && /^([A-Za-z]+) +([^\s]+)\s*$/.exec(header)) || [];
    const isScheme = given.toLowerCase() === scheme.toLowerCase();
    // A promise of anything but true, as JavaScript allows it, lets nothing pass.
    return (await accepts(isScheme ? credentials : "")) === true && isScheme;
  },
});

const isList = <T extends object>(value: T | readonly T[]): value is readonly T[] =>
  Array.isArray(value);

const isOneOf = (text: string, wanted: readonly string[], key: Uint8Array): boolean =>
  wanted.filter((each) => sameText(text, each, key)).length > 0;

const basicText = (credentials: BasicCredentials | undefined): string => {
  const { username, password } = credentials ?? {};
  if (isText(username) && isText(password) && !username.includes(":"))
    return `${username}:${password}`;
  throw invalid('authenticate.basic needs a username without ":" and a password');
};

/** Secrets that no log line may show. */
export const secretsOf = (credentials: CallbackCredentials): readonly string[] => {
  if ("basic" in credentials)
    return [credentials.basic].flat().flatMap(({ username, password }) => {
      const pair = `${username}:${password}`;
      return [password, pair, Buffer.from(pair).toString("base64")];
    });
  const { bearer } = credentials;
  return typeof bearer === "function" ? [] : [bearer].flat();
};

/** @throws ConversationError `INPUT_INVALID` if there are no credentials to compare with */
export const credentialCheck = (credentials: CallbackCredentials): CredentialCheck => {
  if (typeof credentials !== "object" || credentials === null) {
    throw invalid("authenticate is missing");
  }
  const key = randomBytes(32);
  if ("basic" in credentials) {
    const { basic } = credentials;
    const wanted = (isList(basic) ? basic : [basic]).map(basicText);
    if (wanted.length === 0) throw invalid("authenticate.basic is an empty list");
    return checkOf("Basic", ', charset="UTF-8"', (given) =>
      isOneOf(Buffer.from(given, "base64").toString("utf8"), wanted, key),
    );
  }
  const { bearer } = credentials;
  const tokens = typeof bearer === "string" ? [bearer] : Array.isArray(bearer) ? bearer : [];
  if (tokens.length > 0 && tokens.every(isText))
    return checkOf("Bearer", "", (given) => isOneOf(given, tokens, key));
  if (typeof bearer !== "function") {
    throw invalid("authenticate.bearer must be a token, or a function that checks one");
  }
  return checkOf("Bearer", "", async (given) => given !== "" && bearer(given));
};

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
   * conversations side by side. A message that fails is reported, and may come again.
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
   * Longest time for one message, in milliseconds. Then its signal ends, `onError` is called
   * (`TIMED_OUT`), and the conversation goes on with its next message. Default: 300,000 (5 minutes).
   */
  readonly messageTimeoutMs?: number;
  /** Longest body in bytes. Default: 1 MiB. */
  readonly maxBytes?: number;
  /**
   * How many messages this process remembers, to recognize one that comes again. Default: 10,000.
   */
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
