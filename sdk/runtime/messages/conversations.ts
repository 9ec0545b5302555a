import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import type { Request } from "../../../provider/service/http/client.js";
import { runtimeOperations } from "../../../provider/service/http/operations.js";
import { callOptions, checkedInput } from "../input-schemas.js";
import { objectsIn, textAt, withoutUndefined } from "../json-members.js";
import { type ReceivedMessage, receivedMessage } from "./received-message.js";

/** A completed conversation (specification §4.2; members from examples in public references). */
export interface Conversation {
  /** The service's id of the conversation. */
  readonly id: string;
  /** The account it ran on. Left out: the service did not say. */
  readonly account?: { readonly channel?: string; readonly address?: string };
  /** Id of the entry point, such as `1007`. */
  readonly entryPoint?: string;
  /** Which contact carried it, such as `email`. */
  readonly conversationContact?: string;
  /** The service's own JSON about the customer. */
  readonly customer?: JsonObject;
  /** In the order in which the service gives them. */
  readonly messages: readonly ReceivedMessage[];
  /** The service's own JSON. */
  readonly raw: JsonObject;
}

/** Reads conversations. Every failure is a ConversationError. */
export interface Conversations {
  /**
   * Fetches a completed conversation (specification §4.2).
   *
   * @throws ConversationError `NOT_FOUND` or `REJECTED` also for one that is still going on
   *
   * @example
   * const { messages } = await hub.conversations.get(conversationId);
   */
  get(id: string, options?: { readonly signal?: AbortSignal }): Promise<Conversation>;
}

const operation = runtimeOperations.getConversation;

const conversationOf = (id: string, body: unknown, platformName: string): Conversation => {
  if (!isObject(body)) {
    throw new ConversationError(
      "BAD_RESPONSE",
      `Could not read conversation ${id}: the answer is no JSON object. Check that the base address is the service's own.`,
      { method: operation.method, template: operation.template },
    );
  }
  const { account, customer } = body;
  const channel = textAt(account, "channel", "type");
  const address = textAt(account, "address");
  return {
    id: textAt(body, "id") ?? id,
    ...withoutUndefined({
      account: isObject(account) ? withoutUndefined({ channel, address }) : undefined,
      entryPoint: textAt(body, "entryPoint", "id"),
      conversationContact: textAt(body, "conversationContact"),
      customer: isObject(customer) ? customer : undefined,
    }),
    messages: objectsIn(body.messages, "message").flatMap(
      (wire) => receivedMessage(wire, platformName, id) ?? [],
    ),
    raw: body,
  };
};

/** No document tells how a running conversation is answered, so both candidates say what may be the matter. */
const explained = (id: string, error: unknown): unknown => {
  if (!isConversationError(error, "NOT_FOUND", "REJECTED")) return error;
  const { status, serviceCode, serviceMessage } = error.details;
  const said = [status, serviceCode, serviceMessage].filter((each) => each !== undefined);
  return new ConversationError(
    error.code,
    `Could not read conversation ${id}: the service refused (${said.join(", ")}). Only a completed conversation can be fetched (specification §4.2): check the id, and end the conversation first.`,
    error.details,
    error.effect,
    { cause: error },
  );
};

/** The conversations of a connection. */
export const conversationsOf = (request: Request, platformName: string): Conversations => ({
  get: async (id, options = {}) => {
    const { signal } = checkedInput(operation.title, "options", callOptions, options);
    try {
      const answer = await request(operation, { id, ...withoutUndefined({ signal }) });
      return conversationOf(id, answer.body, platformName);
    } catch (error) {
      throw explained(id, error);
    }
  },
});
