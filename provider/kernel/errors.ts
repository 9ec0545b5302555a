import { inertOutput } from "./text.js";

/**
 * Every way in which communicating with the service, or preparing to do so, can fail.
 *
 * - `SETTINGS_MISSING`, `SETTINGS_INVALID`: the configuration is incomplete or invalid; nothing was
 *   sent.
 * - `INPUT_INVALID`, `ID_INVALID`: the caller passed an invalid value; nothing was sent, or the
 *   transfer was canceled.
 * - `CREDENTIALS_REFUSED`: the token URL refused to grant a token (4xx).
 * - `UNAUTHORIZED`: the service refused a fresh token (401), or your callback refused a call with
 *   the wrong credentials.
 * - `FORBIDDEN`: the client lacks permission, usually because a scope is missing (403).
 * - `NOT_FOUND`: no object has this ID (404) or matches the lookup.
 * - `NAME_TAKEN`: another resource in the program, or an object that Pulumi does not manage, already
 *   has the name.
 * - `OWNED_ELSEWHERE`: the object belongs to another resource, according to its mark or a state.
 * - `IN_USE`: the service refuses to delete an object that other objects or messages use.
 * - `HIDDEN_MEMBER`: an update would erase a value that the service hides.
 * - `AMBIGUOUS`: several objects match.
 * - `REJECTED`: the service refused the request (other 4xx).
 * - `THROTTLED`: the rate limit was still exceeded after the allowed time (429).
 * - `UNAVAILABLE`: the service failed (5xx).
 * - `UNREACHABLE`: the connection could not be established, or it broke.
 * - `TIMED_OUT`: no complete response arrived within the allowed time, or a message handler took too
 *   long.
 * - `CANCELLED`: the caller canceled the call. Unless the effect is `unknown`, no object was
 *   changed. A read, a content transfer, or a token exchange may have been interrupted.
 * - `BAD_RESPONSE`: the response is unusable (not JSON, wrong shape, too large, or a redirect).
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
 * The effect of the call. `none`: nothing was sent, the call only read, or the service refused it.
 * `unknown`: the service may have acted. `done`: the service acted, but its response is unusable.
 */
export type Effect = "none" | "unknown" | "done";

/** The service's message about one attribute of the request body. */
export interface ServiceNote {
  /** Name of the attribute. */
  readonly key: string;
  /** What is wrong with the attribute. */
  readonly value: string;
}

/** Details of a failure in addition to its message; unknown details are absent. */
export interface ErrorDetails {
  /** HTTP method of the call. */
  readonly method?: string;
  /** Path template, such as `/channels/{id}`. */
  readonly template?: string;
  /** HTTP status of the response. */
  readonly status?: number;
  /** `code` from the service's error body. */
  readonly serviceCode?: string;
  /** `developerMessage` from the service's error body, without secrets. */
  readonly serviceMessage?: string;
  /** `details` from the service's error body: each invalid attribute, and what is wrong with it. */
  readonly serviceNotes?: readonly ServiceNote[];
  /** ID of the created object, if the response contains it despite the failure. */
  readonly objectId?: string;
  /** Whether the call can succeed only after something changes; if so, it is not repeated. */
  readonly permanent?: true;
}

/**
 * The only error class in the package. Its message is complete: what was being done, what the
 * service said, and what to do next. It never contains a secret. It deliberately has no `id`
 * property, because the engine would assume that the resource was created.
 *
 * @throws nothing: the constructor never fails
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
    /** The cause of the failure, as one of a fixed set of codes. */
    readonly code: ConversationErrorCode,
    message: string,
    /** Details of the failed call and the service's response. */
    readonly details: ErrorDetails = {},
    /** The effect of the call in the service. */
    readonly effect: Effect = "none",
    options?: { readonly cause?: unknown },
  ) {
    // It may quote names and answers of others, and it is printed unchanged.
    super(inertOutput(message, false), options);
  }
}

/**
 * Whether a failure is a {@link ConversationError}, with one of these codes if any are given. Never
 * throws.
 *
 * @example
 * if (isConversationError(error, "NOT_FOUND")) console.log("there is no such conversation");
 */
export const isConversationError = (
  error: unknown,
  ...codes: ConversationErrorCode[]
): error is ConversationError =>
  error instanceof ConversationError && (codes.length === 0 || codes.includes(error.code));
