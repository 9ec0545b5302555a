import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
} from "../../kernel/errors.js";
import { assertId } from "../../kernel/object-id.js";
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
const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1);

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
  const seen = segmentsOf(new URL(path, "http://service.invalid").pathname);
  if (seen.length === segmentsOf(template).length && seen.every((segment) => segment !== ""))
    return;
  throw new ConversationError(
    "ID_INVALID",
    `The path built for ${template} does not have its shape. Nothing was sent.`,
  );
};
