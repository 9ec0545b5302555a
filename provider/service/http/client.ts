import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { type Answer, answerOf, type DatedAnswer } from "./answers.js";
import { authorized } from "./authorized.js";
import { type CallOptions, callOf } from "./call.js";
import type { Operation } from "./operations.js";
import { mayRepeat, withRetry } from "./retry.js";
import type { ClientParts } from "./send.js";

/**
 * Calls an operation: waits for its turn, signs in, repeats what may be repeated.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallOptions) => Promise<Answer>;

/** The same with what can be learnt besides. */
export type DatedRequest = (operation: Operation, options?: CallOptions) => Promise<DatedAnswer>;

/** The same attempt for each repeat: where an earlier one may have acted, no later failure says that nothing was done. */
const remembering = <T>(attempt: () => Promise<T>): (() => Promise<T>) => {
  let mayHaveActed = false;
  return async () => {
    try {
      return await attempt();
    } catch (error) {
      if (!isConversationError(error)) throw error;
      const { code, message, details, effect, cause } = error;
      if (effect === "none" && mayHaveActed)
        throw new ConversationError(code, message, details, "unknown", { cause });
      mayHaveActed ||= effect !== "none";
      throw error;
    }
  };
};

/** A call goes down through the policies: repeat, wait for a turn, sign in, send; its answer is read once. */
export const datedRequest =
  (parts: ClientParts): DatedRequest =>
  async (operation, options = {}) => {
    const call = callOf(parts, operation, options);
    const { signal } = call;
    return withRetry(
      remembering(async () => answerOf(await authorized(parts, call))),
      (error, failures) => mayRepeat(operation, error, failures),
      { limits: parts.retry ?? {}, signal, clock: parts.clock, onRepeat: parts.onRepeat },
    );
  };

/** As {@link datedRequest}, with no more than status and body. */
export const serviceRequest = (parts: ClientParts): Request => {
  const dated = datedRequest(parts);
  return async (operation, options) => {
    const { status, body } = await dated(operation, options);
    return { status, body };
  };
};
