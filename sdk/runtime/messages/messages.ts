import { z } from "zod";
import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import type { CallOptions } from "../../../provider/service/http/call.js";
import type { Request } from "../../../provider/service/http/client.js";
import { endpointName, runtimeOperations } from "../../../provider/service/http/operations.js";
import { prepared } from "../caller-input.js";
import { assertJson, callOptions, checkedInput } from "../input-schemas.js";
import { objectsIn, textAt, valueAt, withoutUndefined } from "../json-members.js";
import type {
  ConversationReference,
  FirstMessage,
  Message,
  MessageOf,
  Reply,
  Sender,
} from "./message.js";
import { assertMessages } from "./message-check.js";
import type { SendersOf } from "./message-types.js";
import { conversationIdOf, sendBody } from "./message-wire.js";

/** What the service made of a message that it accepted. Left out: it did not say. */
export interface SentMessage {
  /** The service's id of the message. */
  readonly id?: string;
  /** The sender's own id. */
  readonly messageId?: string;
  /** The conversation that it belongs to. */
  readonly conversationId: string;
}

/** What the service made of a call. */
export interface Sent {
  /** The conversation of the first message. */
  readonly conversationId: string;
  /** In the order in which they were sent. */
  readonly messages: readonly SentMessage[];
}

/** Options of a send call. */
export interface SendOptions {
  /** Attributes of the whole call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Ends the waiting for a turn; a call that was sent is waited for. */
  readonly signal?: AbortSignal;
}

type OpenContent<T extends "escalation.transfer" | "conversation.end"> = Pick<
  MessageOf<T>,
  "attributes" | "content" | "extra" | "messageId"
>;

/** Sends messages. Every failure is a ConversationError. */
export interface Messages {
  /**
   * Sends one message or several in one call, in their order (specification §4.2). A message is never
   * sent twice: where its effect is not known, the error says so in `effect`.
   *
   * @throws ConversationError `INPUT_INVALID` before anything is sent where a message breaks a rule,
   * such as a type that its sender may not send (specification §6)
   *
   * @example
   * await hub.messages.send([
   *   { type: "typing.start", sender: "custom_bot", conversation },
   *   { type: "text", text: "Your order is on its way.", sender: "custom_bot", conversation },
   * ]);
   */
  send(message: Message | readonly Message[], options?: SendOptions): Promise<Sent>;
  /**
   * Starts a conversation.
   *
   * @throws ConversationError as `send`
   * @example
   * const { conversationId } = await hub.messages.start({
   *   type: "text",
   *   text: "Where is my order?",
   *   sender: { kind: "customer", name: "Ada Example" },
   *   conversation: {
   *     account: { channel: "custom.kiosk", address: "kiosk-1" },
   *     customer: { name: "Ada Example" },
   *   },
   * });
   */
  start(message: FirstMessage, options?: SendOptions): Promise<Sent>;
  /**
   * Goes on with a conversation: its id, or a message that was received from it.
   *
   * @throws ConversationError as `send`
   * @example
   * await hub.messages.reply(message, { type: "text", text: "One moment", sender: "custom_bot" });
   */
  reply(to: ConversationReference, message: Reply, options?: SendOptions): Promise<Sent>;
  /**
   * Asks for an agent, with an `escalation.transfer`. That this type escalates is assumed from its
   * name; no document shows what it holds.
   *
   * @throws ConversationError as `send`
   * @example
   * await hub.messages.escalate(message, "custom_bot", { content: { reason: "refund" } });
   */
  escalate(
    conversation: ConversationReference,
    sender: Sender<SendersOf<"escalation.transfer">>,
    more?: OpenContent<"escalation.transfer">,
    options?: SendOptions,
  ): Promise<Sent>;
  /**
   * Ends a conversation, with a `conversation.end`.
   *
   * @throws ConversationError as `send`
   * @example
   * await hub.messages.end(message, "custom_agent");
   */
  end(
    conversation: ConversationReference,
    sender: Sender,
    more?: OpenContent<"conversation.end">,
    options?: SendOptions,
  ): Promise<Sent>;
}

/** The service's code for a conversation that can no longer be used (public reference, an example). */
const overCode = "400-630";

/**
 * Whether a message was refused because its conversation is over: start a new one. Never fails.
 *
 * @example
 * if (isConversationOver(error)) await hub.messages.start(again);
 */
export const isConversationOver = (error: unknown): error is ConversationError =>
  isConversationError(error) && error.details.serviceCode === overCode;

const operation = runtimeOperations.sendMessage;

const unnamed = (): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read what became of a message: ${endpointName(operation)} was accepted, but its answer names no conversation. The message was sent: do not send it again. Check that the base address is the service's own.`,
    { method: operation.method, template: operation.template },
    "done",
  );

/** What is known of a message before it is sent. */
type Named = Partial<Pick<SentMessage, "messageId" | "conversationId">>;

const sentMessage = (named: Named, answered: JsonObject | undefined): SentMessage => {
  const conversationId = textAt(answered, "conversation", "id") ?? named.conversationId;
  if (conversationId === undefined) throw unnamed();
  const messageId = textAt(answered, "messageId") ?? named.messageId;
  return { ...withoutUndefined({ id: textAt(answered, "id"), messageId }), conversationId };
};

const sentOf = (named: readonly Named[], body: unknown): Sent => {
  const answers = objectsIn(valueAt(body, "messages"), "message");
  const messages = named.map((message, index) => sentMessage(message, answers[index]));
  const [first] = messages;
  if (!first) throw unnamed();
  return { conversationId: first.conversationId, messages };
};

const sendOptions = callOptions.extend({
  metadata: z.record(z.string(), z.string("must be text")).optional(),
});

const isList = (given: Message | readonly Message[]): given is readonly Message[] =>
  Array.isArray(given);

/** What one call sends, checked and complete. */
const callOf = (
  given: Message | readonly Message[],
  options: SendOptions,
  platformName: string,
): { readonly named: readonly Named[]; readonly sent: CallOptions } => {
  const { metadata, signal } = checkedInput(operation.title, "options", sendOptions, options);
  const messages: readonly Message[] = isList(given) ? given : [given];
  assertMessages(messages);
  const body = sendBody(messages, platformName, metadata);
  assertJson(operation.title, "the message", body);
  const named = messages.map(({ conversation, messageId }) =>
    withoutUndefined({ conversationId: conversationIdOf(conversation), messageId }),
  );
  return { named, sent: withoutUndefined({ body, signal }) };
};

/** The messages of a connection. */
export const messagesOf = (request: Request, platformName: string): Messages => {
  const call = async (
    given: () => Message | readonly Message[],
    options: SendOptions = {},
  ): Promise<Sent> => {
    const { named, sent } = prepared(operation.title, () => callOf(given(), options, platformName));
    const { body } = await request(operation, sent);
    return sentOf(named, body);
  };
  const send: Messages["send"] = (message, options) => call(() => message, options);
  return {
    send,
    start: send,
    reply: (to, message, options) => call(() => ({ ...message, conversation: to }), options),
    escalate: (conversation, sender, more, options) =>
      call(() => ({ ...more, type: "escalation.transfer", conversation, sender }), options),
    end: (conversation, sender, more, options) =>
      call(() => ({ ...more, type: "conversation.end", conversation, sender }), options),
  };
};
