import type { Fields } from "../../definition/define.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
} from "../../kernel/errors.js";
import { assertId } from "../../kernel/object-id.js";
import { secretsOfRunningCall, secretTexts } from "../secret-texts.js";
import type { Settings } from "../setting-table.js";
import type { AccessToken, TokenParts } from "../token.js";
import type { Operation } from "./operations.js";

/** What belongs to one call of an operation. */
export interface CallOptions {
  /** For the `{id}` of the path. */
  readonly id?: string;
  /** Sent in this order; `$` stays as it is. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends waiting and reading. A write that was sent is waited for, since its answer must not be lost. */
  readonly signal?: AbortSignal;
  /** What the body is made of, which says what of it a message may show. Left out: nothing. */
  readonly fields?: Fields;
}

/** One call of an operation with all that it needs, made once before anything is sent. */
export interface Call {
  readonly operation: Operation;
  readonly settings: Settings;
  /** Path below the base address, id included. */
  readonly path: string;
  /** The whole address, query included. */
  readonly url: string;
  /** The body as JSON text. Left out: none. */
  readonly text?: string;
  readonly body?: unknown;
  /** What the body is made of, where that is known. */
  readonly fields?: Fields;
  /** Never shown, whatever the service echoes. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
  /** Token of the last attempt. */
  readonly token?: AccessToken;
}

const queryText = (query: CallOptions["query"] = {}): string => {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%24", "$");
  const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(`${value}`)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

/**
 * A call, ready to be sent.
 *
 * @throws ConversationError `ID_INVALID`
 */
export const callOf = (parts: TokenParts, operation: Operation, options: CallOptions): Call => {
  const { settings, signal } = parts;
  // First of all: a bad id must not get any further.
  const path = pathOf(operation.template, options.id);
  const { body, fields } = options;
  return {
    operation,
    settings,
    path,
    url: settings.baseUrl + path + queryText(options.query),
    ...(body === undefined ? {} : { body, text: JSON.stringify(body) }),
    ...(fields ? { fields } : {}),
    secrets: [
      ...parts.secrets,
      ...secretsOfRunningCall(),
      ...(fields ? secretTexts(fields, body) : []),
    ],
    signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
  };
};

/**
 * The path of an operation below the base address: `/channels/{id}` and an id give `/channels/4f…`.
 *
 * @throws ConversationError `ID_INVALID` where the id is not allowed, is missing or is not wanted
 */
export const pathOf = (template: string, id?: string): string => {
  const wanted = template.includes("{id}");
  if (!wanted && id !== undefined) {
    throw new ConversationError("ID_INVALID", `${template} takes no id. Nothing was sent.`);
  }
  if (wanted) assertId(id ?? "", `an object under ${template}`);
  const path = template.replace("{id}", encodeURIComponent(id ?? ""));
  assertShape(template, path);
  return path;
};

/** The second line of defence: what the address parser makes of the path must still fit the template. */
const assertShape = (template: string, path: string): void => {
  const { pathname } = new URL(path, "http://service.invalid");
  const [seen, wanted] = [pathname, template].map((text) => text.split("/").slice(1));
  if (seen?.length === wanted?.length && !seen?.includes("")) return;
  throw new ConversationError(
    "ID_INVALID",
    `The path built for ${template} does not have its shape. Nothing was sent.`,
  );
};

/** What is known of the effect where the service may have acted: reading has none. */
export const possibleEffect = ({ operation }: Call): Effect =>
  operation.method === "GET" ? "none" : "unknown";

/** An error about a call: `Could not read channel: GET /channels/4f…`, then `rest`. */
export const callError = (
  { operation: { method, template, title }, path }: Call,
  code: ConversationErrorCode,
  rest: string,
  details: ErrorDetails = {},
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    code,
    `Could not ${title}: ${method} ${path} ${rest}`,
    { method, template, ...details },
    effect,
  );

/** The caller gave up before anything was sent, or while only a read was under way. */
export const givenUp = (call: Call): ConversationError =>
  callError(call, "CANCELLED", "was given up. Nothing was changed.");
