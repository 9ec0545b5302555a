import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { findPlatformName } from "./connect.js";
import { anyFunction, checkOptions, timeLimit } from "./input-schemas.js";
import type { MessageMemory } from "./message-memory.js";
import type { ReceivedMessage } from "./received-message.js";

/**
 * Checks a Bearer token, returning true to accept the call. If the check throws an error, the call
 * is refused.
 */
export type BearerCheck = (token: string) => boolean | Promise<boolean>;

/** Credentials that the service sends when it uses Basic authentication. */
export interface BasicCredentials {
  /** User name: a non-empty string without a colon. */
  readonly username: string;
  /** Password: any non-empty string. */
  readonly password: string;
}

/**
 * The credentials that a call must present, as registered in the authentication (specification
 * §5.2). If you list several, a call with any of them is accepted. During a rotation, list both the
 * old and the new ones.
 */
export type CallbackCredentials =
  | { readonly basic: BasicCredentials | readonly BasicCredentials[] }
  | { readonly bearer: string | readonly string[] | BearerCheck };

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
    `Could not create the callback handler: ${rule}. Without credentials, anyone could send messages.`,
  );

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** @param accepts checks what stands behind the scheme; an empty text if the scheme is another one */
const createCheck = (
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

const isOneOf = (text: string, wanted: readonly string[], key: Uint8Array): boolean =>
  wanted.filter((each) => sameText(text, each, key)).length > 0;

const joinCredentials = (credentials: BasicCredentials | undefined): string => {
  const { username, password } = credentials ?? {};
  if (!isText(username) || username.includes(":"))
    throw invalid('authenticate.basic.username must be a non-empty string without ":"');
  if (!isText(password)) throw invalid("authenticate.basic.password must be a non-empty string");
  return `${username}:${password}`;
};

/**
 * Returns the secrets in the credentials, to keep them out of logs; none if a function checks the
 * token.
 */
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
export const createCredentialCheck = (credentials: CallbackCredentials): CredentialCheck => {
  if (typeof credentials !== "object" || credentials === null) {
    throw invalid("authenticate must be an object with basic or bearer");
  }
  const key = randomBytes(32);
  if ("basic" in credentials) {
    const { basic } = credentials;
    const wanted = [basic].flat().map(joinCredentials);
    if (wanted.length === 0) throw invalid("authenticate.basic is an empty list");
    return createCheck("Basic", ', charset="UTF-8"', (given) => {
      const bytes = Buffer.from(given, "base64");
      // Many clients know only ISO-8859-1 (RFC 7617, appendix B.3), and none must heed the challenge.
      return (
        isOneOf(bytes.toString("utf8"), wanted, key) ||
        isOneOf(bytes.toString("latin1"), wanted, key)
      );
    });
  }
  const { bearer } = credentials;
  const tokens = typeof bearer === "string" ? [bearer] : Array.isArray(bearer) ? bearer : [];
  if (tokens.length > 0 && tokens.every(isText))
    return createCheck("Bearer", "", (given) => isOneOf(given, tokens, key));
  if (typeof bearer !== "function") {
    throw invalid(
      "authenticate.bearer must be a token, a list of tokens, or a function that checks a token",
    );
  }
  return createCheck("Bearer", "", async (given) => given !== "" && bearer(given));
};

/** The context that a handler receives with each message. */
export interface MessageContext {
  /**
   * Signal that aborts when the message's time limit is reached. After that, nothing waits for the
   * handler.
   */
  readonly signal: AbortSignal;
}

/** Options for handling messages. */
export interface CallbackOptions {
  /**
   * The credentials that the service sends, as registered in the authentication for the client
   * application's role.
   */
  readonly authenticate: CallbackCredentials;
  /**
   * Receives each message once: one at a time within a conversation, in order of arrival, and in
   * parallel across conversations. If it fails for a message, `onError` is called, and the message
   * may be delivered again.
   */
  readonly onMessage: (message: ReceivedMessage, context: MessageContext) => void | Promise<void>;
  /**
   * Receives failures of `onMessage`, Bearer token checks, and the message memory, and reports of
   * unreadable bodies and messages. Default: they are written to standard error, as are `onError`'s
   * own failures.
   */
  readonly onError?: (error: unknown, message?: ReceivedMessage) => void | Promise<void>;
  /**
   * When the service receives its response. `before` (default): immediately, before the messages
   * are handled; a message that could not be handled is not delivered again. `after`: when
   * `onMessage` has finished for every message in the call. A failure returns 500, and handling
   * that takes longer than 4 s returns 503, so that the service redelivers the messages. Running
   * handlers are not started again.
   */
  readonly acknowledge?: "before" | "after";
  /**
   * Time limit for one message, in milliseconds. When it is reached, the signal aborts, `onError`
   * receives `TIMED_OUT`, and the conversation continues with its next message. Default: 300,000 (5
   * minutes).
   */
  readonly messageTimeoutMs?: number;
  /**
   * Memory for recognizing repeated messages, such as `redisMemory`. Default: the last 10,000
   * messages of this process.
   */
  readonly memory?: MessageMemory;
  /**
   * The vendor's own word for `platform`. Default: the value of the environment variable
   * CONVERSATION_PLATFORM_NAME, or `platform` if it is not set.
   */
  readonly platformName?: string;
  /** Replaces the clock in tests. */
  readonly clock?: Clock;
}

const memory = z.custom(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    ["take", "settle"].every((name) => typeof Reflect.get(value, name) === "function"),
  "must have the methods take and settle",
);

const rules = z.looseObject({
  onMessage: anyFunction,
  onError: anyFunction.optional(),
  acknowledge: z.enum(["before", "after"], 'must be "before" or "after"').optional(),
  messageTimeoutMs: timeLimit.optional(),
  memory: memory.optional(),
  platformName: z.string("must be a string").optional(),
  clock: z
    .custom((value) => typeof value === "object" && value !== null, "must be a clock")
    .optional(),
});

/** Options with defaults applied. */
type CompleteOptions = CallbackOptions &
  Required<Pick<CallbackOptions, "messageTimeoutMs" | "clock" | "platformName">>;

/**
 * Returns a validated copy of the options with defaults applied.
 *
 * @throws ConversationError `INPUT_INVALID` naming the invalid option
 */
export const completeOptions = (options: CallbackOptions): CompleteOptions => {
  const checked = checkOptions("create the callback handler", rules, options);
  return {
    messageTimeoutMs: 300_000,
    ...checked,
    clock: checked.clock ?? systemClock,
    platformName: findPlatformName(checked.platformName),
  };
};
