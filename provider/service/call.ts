import type { Fields } from "../definition/define.js";
import { secretTexts } from "../definition/fields.js";
import type { Clock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { assertId } from "../kernel/object-id.js";
import type { Operation } from "./operations.js";
import type { Pace } from "./pace.js";
import { secretsOfRunningCall } from "./redaction.js";
import type { OnRepeat, RetryLimits } from "./retry.js";
import type { Settings } from "./setting-table.js";
import type { Transport } from "./transport.js";

/** The parameters of one call to an operation. */
export interface CallParameters {
  /** The value for `{id}` in the path. */
  readonly id?: string;
  /** Query parameters, sent in this order; `$` is not encoded. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Request body, sent as JSON. */
  readonly body?: unknown;
  /**
   * Cancels the call while it waits or reads. A write that has already been sent still completes,
   * because its response must not be lost.
   */
  readonly signal?: AbortSignal;
  /**
   * The body's fields, which determine how much of the body a message may show. Without them,
   * messages show none of it.
   */
  readonly fields?: Fields;
}

/** One call to an operation with everything it needs, prepared once before anything is sent. */
export interface Call {
  readonly operation: Operation;
  readonly settings: Settings;
  /** Path relative to the base URL, including the ID. */
  readonly path: string;
  /** The complete URL, including the query. */
  readonly url: string;
  /** The body as JSON text. Absent if there is none. */
  readonly text?: string;
  readonly body?: unknown;
  /** The fields in the body, if known. */
  readonly fields?: Fields;
  /**
   * Secrets that no message may show, even if the service echoes them. Looked up only when a
   * message needs them.
   */
  readonly secrets: () => readonly string[];
  readonly signal: AbortSignal;
  /** Token used in the last attempt. */
  readonly token?: AccessToken;
}

const queryText = (query: CallParameters["query"] = {}): string => {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%24", "$");
  const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(`${value}`)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

/**
 * Prepares a call for sending.
 *
 * @throws ConversationError `ID_INVALID`
 */
export const callOf = (parts: TokenParts, operation: Operation, options: CallParameters): Call => {
  const { settings, signal } = parts;
  // Checked first: a bad id must not get any further.
  const path = pathOf(operation.template, options.id);
  const { body, fields } = options;
  return {
    operation,
    settings,
    path,
    url: settings.baseUrl + path + queryText(options.query),
    ...(body === undefined ? {} : { body, text: JSON.stringify(body) }),
    ...(fields ? { fields } : {}),
    secrets: () => [
      ...parts.secrets,
      ...secretsOfRunningCall(),
      ...(fields ? secretTexts(fields, body) : []),
    ],
    signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
  };
};

/**
 * An operation's path relative to the base URL, with the ID filled in: `/channels/{id}` becomes
 * `/channels/4f…`.
 *
 * @throws ConversationError `ID_INVALID` if the ID is invalid, missing, or not expected
 */
export const pathOf = (template: string, id?: string): string => {
  const wanted = template.includes("{id}");
  if (!wanted && id !== undefined) {
    throw new ConversationError(
      "ID_INVALID",
      `${template} does not accept an ID. Nothing was sent.`,
    );
  }
  if (wanted) assertId(id ?? "", `an object under ${template}`);
  const path = template.replace("{id}", encodeURIComponent(id ?? ""));
  assertShape(template, path);
  return path;
};

/** The second line of defense: the path must still fit the template. */
const assertShape = (template: string, path: string): void => {
  const [seen, wanted] = [path, template].map((text) => text.split("/").slice(1));
  // These segments lead a URL parser elsewhere.
  const isOther = seen?.some((segment) => /^(?:\.|%2e){0,2}$/i.test(segment));
  if (seen?.length === wanted?.length && !isOther) return;
  throw new ConversationError(
    "ID_INVALID",
    `Could not build the path for ${template}: the result does not match the template. Nothing was sent.`,
  );
};

/** An access token. */
export interface AccessToken {
  readonly value: string;
  /**
   * The token's sequence number in this process. It distinguishes a refused token from its
   * successor.
   */
  readonly generation: number;
  readonly scopes?: readonly string[];
  /** Time on the monotonic clock, in milliseconds, after which the token is no longer used. */
  readonly usableUntil: number;
}

/** The parts that all calls on one connection share. */
export interface TokenParts {
  readonly settings: Settings;
  /** The client's credentials, in every form that messages must not show. */
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Headers sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits>;
  readonly onRepeat?: OnRepeat;
  /** Cancels all calls, except writes that have already been sent. */
  readonly signal: AbortSignal;
}
