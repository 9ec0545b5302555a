import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import {
  isObject,
  type JsonObject,
  objectsIn,
  textAt,
  valueAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import type { Request } from "../../provider/service/client.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { type CallOptions, callOptions, checkInput } from "./input-schemas.js";
import { type ReceivedMessage, readReceivedMessage } from "./received-message.js";

/**
 * A completed conversation (specification §4.2; members based on examples in public references).
 */
export interface Conversation {
  /** The service's ID for the conversation. */
  readonly id: string;
  /** The account that the conversation used. Absent if the service did not specify it. */
  readonly account?: { readonly channel?: string; readonly address?: string };
  /** ID of the entry point, such as `1007`. */
  readonly entryPoint?: string;
  /** The type of contact that the conversation uses, such as `email`. */
  readonly conversationContact?: string;
  /** The service's own JSON about the customer. */
  readonly customer?: JsonObject;
  /** The messages, in the order in which the service returns them: at most 200 (vendor). */
  readonly messages: readonly ReceivedMessage[];
  /** How many messages there are, with those beyond `messages`. Absent if the service did not say. */
  readonly messageCount?: number;
  /** The service's own JSON for the conversation. */
  readonly raw: JsonObject;
}

/** Reads conversations. Every failure is a ConversationError. */
export interface Conversations {
  /**
   * Fetches a completed conversation (specification §4.2).
   *
   * @throws ConversationError `NOT_FOUND` or `REJECTED`, including for an ongoing conversation
   *
   * @example
   * const { messages } = await hub.conversations.get(conversationId);
   */
  get(id: string, options?: CallOptions): Promise<Conversation>;
}

const reading = runtimeOperations.getConversation;

const readConversation = (id: string, body: unknown, platformName: string): Conversation => {
  if (!isObject(body)) {
    throw new ConversationError(
      "BAD_RESPONSE",
      `Could not read conversation ${id}: the response is not a JSON object. Check that the base URL belongs to the service.`,
      { method: reading.method, template: reading.template },
    );
  }
  const { account, customer } = body;
  const channel = textAt(account, "channel", "type");
  const address = textAt(account, "address");
  const count = valueAt(body, "messages", "paginationInfo", "count");
  return {
    id: textAt(body, "id") ?? id,
    ...withoutUndefined({
      account: isObject(account) ? withoutUndefined({ channel, address }) : undefined,
      entryPoint: textAt(body, "entryPoint", "id"),
      conversationContact: textAt(body, "conversationContact"),
      customer: isObject(customer) ? customer : undefined,
      messageCount: typeof count === "number" ? count : undefined,
    }),
    messages: objectsIn(body.messages, "message").flatMap(
      (wire) => readReceivedMessage(wire, platformName, id) ?? [],
    ),
    raw: body,
  };
};

/** Returns the conversation operations for a connection. */
export const createConversations = (request: Request, platformName: string): Conversations => ({
  get: async (id, options = {}) => {
    const { signal } = checkInput(reading.title, "options", callOptions, options);
    try {
      const answer = await request(reading, { id, ...withoutUndefined({ signal }) });
      return readConversation(id, answer.body, platformName);
    } catch (error) {
      // No document says how a running conversation is answered: it may be either.
      if (!isConversationError(error, "NOT_FOUND", "REJECTED")) throw error;
      const text = `${error.message} Only completed conversations can be fetched: end the conversation first.`;
      throw new ConversationError(error.code, text, error.details, error.effect, { cause: error });
    }
  },
});
