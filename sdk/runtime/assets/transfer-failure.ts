import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import { connectionFault } from "../../../provider/service/http/transport-faults.js";
import { PrivateAddressError } from "./signed-address.js";

/** One transfer to or from a signed address, which has been checked. */
export interface Transfer {
  /** Such as `upload asset 4f…`, for messages. */
  readonly what: string;
  readonly url: URL;
  readonly signal: AbortSignal;
}

const isPrivate = (error: unknown, depth = 0): boolean => {
  if (error instanceof PrivateAddressError) return true;
  if (!(error instanceof Error) || depth > 3) return false;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some((cause) => isPrivate(cause, depth + 1));
};

/**
 * What went wrong on the way, in words that show nothing of the address but its host: the caller's
 * own failure as it is, else `CANCELLED`, `TIMED_OUT`, `BAD_RESPONSE` or `UNREACHABLE`.
 */
export const transferFailure = (
  { what, url, signal }: Transfer,
  cause: unknown,
): ConversationError => {
  if (isConversationError(cause)) return cause;
  const reason: unknown = signal.aborted ? signal.reason : cause;
  if (isConversationError(reason)) return reason;
  if (isPrivate(cause)) {
    return new ConversationError(
      "BAD_RESPONSE",
      `Could not ${what}: the host ${url.host} of the address that the service gave leads to this machine or a private network. Nothing was transferred.`,
      { permanent: true },
    );
  }
  const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
  if (signal.aborted && !isTimeout) {
    return new ConversationError("CANCELLED", `Could not ${what}: it was given up.`);
  }
  const fault = connectionFault({ cause: reason, sent: true }, url.origin);
  return new ConversationError(fault.code, `Could not ${what}: ${fault.text}.`);
};
