import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
} from "../../kernel/errors.js";
import type { Settings } from "../settings/setting-table.js";
import type { AccessToken } from "../token/access-token.js";
import type { Operation } from "./operations.js";

/** One call of an operation, as far as messages need to know it. */
export interface Call {
  readonly operation: Operation;
  /** Path below the base address, id included. */
  readonly path: string;
  readonly settings: Settings;
  /** The body that was sent, where it is known which of its texts are secrets. */
  readonly body?: unknown;
  /** Never shown, whatever the service echoes. */
  readonly secrets: readonly string[];
  /** Token of the last attempt. */
  readonly token?: AccessToken;
}

/** `Could not read channel: GET /channels/4f…` — how every message about a call begins. */
export const callName = ({ operation, path }: Call): string =>
  `Could not ${operation.title}: ${operation.method} ${path}`;

/** What is known of the effect where the service may have acted: reading has none. */
export const possibleEffect = ({ operation }: Call): Effect =>
  operation.method === "GET" ? "none" : "unknown";

/** An error about a call; `rest` goes on after the call's name. */
export const callError = (
  call: Call,
  code: ConversationErrorCode,
  rest: string,
  details: ErrorDetails = {},
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    code,
    `${callName(call)} ${rest}`,
    { method: call.operation.method, template: call.operation.template, ...details },
    effect,
  );

/** The caller gave up before anything was sent, or while only a read was under way. */
export const givenUp = (call: Call): ConversationError =>
  callError(call, "CANCELLED", "was given up. Nothing was changed.");
