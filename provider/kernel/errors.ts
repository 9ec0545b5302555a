import { inertOutput } from "./text.js";

/**
 * Every way in which talking to the service, or getting ready to, can fail.
 *
 * - `SETTINGS_MISSING`, `SETTINGS_INVALID`: configuration; nothing was sent.
 * - `INPUT_INVALID`, `ID_INVALID`: a value of the caller; nothing was sent.
 * - `CREDENTIALS_REFUSED`: the token address refused the client credentials.
 * - `UNAUTHORIZED`: the service refused a fresh token (401).
 * - `FORBIDDEN`: the client may not do this, most often a missing scope (403).
 * - `NOT_FOUND`: no object has this id (404).
 * - `NAME_TAKEN`: an object that is not ours already has the unique name.
 * - `OWNED_ELSEWHERE`: the object carries the owner mark of another stack.
 * - `IN_USE`: the service refuses to delete what other objects use.
 * - `HIDDEN_MEMBER`: an update would erase what the service hides and nobody can write back.
 * - `AMBIGUOUS`: several objects could be meant.
 * - `REJECTED`: the service refused the request (other 4xx).
 * - `THROTTLED`: still over the rate limit when the time allowed was over (429).
 * - `UNAVAILABLE`: the service failed (5xx).
 * - `UNREACHABLE`: no connection, or it broke.
 * - `TIMED_OUT`: no complete answer in the time allowed.
 * - `CANCELLED`: the caller gave up while waiting; nothing was sent, or only a read was.
 * - `BAD_RESPONSE`: an answer that cannot be used: no JSON, wrong shape, too large, a redirect.
 */
export type ConversationErrorCode =
  | "SETTINGS_MISSING"
  | "SETTINGS_INVALID"
  | "INPUT_INVALID"
  | "ID_INVALID"
  | "CREDENTIALS_REFUSED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "NAME_TAKEN"
  | "OWNED_ELSEWHERE"
  | "IN_USE"
  | "HIDDEN_MEMBER"
  | "AMBIGUOUS"
  | "REJECTED"
  | "THROTTLED"
  | "UNAVAILABLE"
  | "UNREACHABLE"
  | "TIMED_OUT"
  | "CANCELLED"
  | "BAD_RESPONSE";

/**
 * What is known of the call's effect: `none` – nothing was sent or the service refused it;
 * `unknown` – the service may have acted; `done` – the service acted, only its answer is unusable.
 */
export type Effect = "none" | "unknown" | "done";

/** What the service says about one attribute of the body that it was sent. */
export interface ServiceNote {
  readonly key: string;
  readonly value: string;
  /** The id that was sent there, in quotes, where it is one. */
  readonly sent?: string;
}

/** What is known of a failure besides its message; what is not known is left out. */
export interface ErrorDetails {
  /** HTTP method of the call. */
  readonly method?: string;
  /** Path template, such as `/channels/{id}`. */
  readonly template?: string;
  /** HTTP status of the answer. */
  readonly status?: number;
  /** `code` of the service's error body. */
  readonly serviceCode?: string;
  /** `developerMessage` of the service's error body, without secrets. */
  readonly serviceMessage?: string;
  /** `details` of the service's error body: what is wrong with which attribute. */
  readonly serviceNotes?: readonly ServiceNote[];
  /** Id of the object that the service made, if the answer still holds it. */
  readonly objectId?: string;
  /** The same call cannot succeed before somebody changes something, so it is not repeated. */
  readonly permanent?: true;
}

/**
 * The one error class of the package. Its message stands alone: what was being done, what the
 * service said, what to do next; it never holds a secret. It has no `id` property on purpose: the
 * engine would take that for a created resource.
 *
 * @throws nothing: making one never fails
 * @example
 * try {
 *   await hub.messages.send(message);
 * } catch (error) {
 *   if (!(error instanceof ConversationError)) throw error;
 *   console.error(error.code, error.details.status, error.message);
 * }
 */
export class ConversationError extends Error {
  /** Always `ConversationError`. */
  override readonly name = "ConversationError";

  constructor(
    readonly code: ConversationErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    readonly effect: Effect = "none",
    options?: { readonly cause?: unknown },
  ) {
    // Names and answers of others may be quoted in it, and it is printed as it is.
    super(inertOutput(message, false), options);
  }
}

/**
 * Whether a failure is a {@link ConversationError}, of one of these codes where any are given. Never fails.
 *
 * @example
 * if (isConversationError(error, "NOT_FOUND")) console.log("there is no such conversation");
 */
export const isConversationError = (
  error: unknown,
  ...codes: ConversationErrorCode[]
): error is ConversationError =>
  error instanceof ConversationError && (codes.length === 0 || codes.includes(error.code));
