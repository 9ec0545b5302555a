import { z } from "zod";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import {
  isObject,
  type JsonObject,
  objectOf,
  objectsIn,
  textAt,
  valueAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import { quoted } from "../../provider/kernel/text.js";
import type { Request } from "../../provider/service/http/client.js";
import { endpointName, runtimeOperations } from "../../provider/service/http/operations.js";
import {
  isMessageType,
  isSenderKind,
  type MessageType,
  maySend,
  messageTypes,
  type SenderKind,
  type SendersOf,
  senderKinds,
  sendersOf,
  senderToWire,
} from "../../provider/service/message-types.js";
import { copyOf, prepared, refusalDetails } from "./caller-input.js";
import {
  assertJson,
  type CallOptions,
  callOptions,
  checkedInput,
  violations,
} from "./input-schemas.js";
import {
  type ConversationReference,
  type Customer,
  type FirstMessage,
  kindOf,
  type ListPicker,
  type Message,
  type MessageFrame,
  type MessageOf,
  messageBodies,
  messageFrame,
  type NewConversation,
  type Reply,
  type RichLink,
  type Sender,
} from "./message.js";
import { type ReceivedMessage, receivedMessage } from "./received-message.js";

/** @param which such as `message 2` */
const refused = (which: string, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not send message: ${which} ${rule}. Nothing was sent. Correct the message and send it again.`,
  );

const typeOf = (which: string, { type }: JsonObject): MessageType => {
  if (isMessageType(type)) return type;
  throw refused(which, `has no known type; use one of ${messageTypes.join(", ")}`);
};

const senderOf = (which: string, { sender }: JsonObject): SenderKind => {
  const { kind, name, ...rest } = isObject(sender) ? sender : { kind: sender };
  const plain = Object.keys(rest).length === 0 && (name === undefined || typeof name === "string");
  if (isSenderKind(kind) && plain) return kind;
  throw refused(
    which,
    `needs a sender: one of ${senderKinds.join(", ")}, or { kind, name } with one of these kinds`,
  );
};

const assertMembers = (which: string, type: MessageType, members: JsonObject): void => {
  const ofFrame = ([name]: readonly [string, unknown]) => Object.hasOwn(messageFrame.shape, name);
  const all = Object.entries(members);
  const frame = Object.fromEntries(all.filter(ofFrame));
  const body = Object.fromEntries(all.filter((member) => !ofFrame(member)));
  const issues = [
    ...(messageFrame.safeParse(frame).error?.issues ?? []),
    ...(messageBodies[type].schema.safeParse(body).error?.issues ?? []),
  ];
  if (issues.length > 0) throw refused(which, `(${type}) is not valid: ${violations(issues)}`);
};

const assertOne = (which: string, message: unknown): void => {
  if (!isObject(message)) throw refused(which, "is not an object");
  const type = typeOf(which, message);
  const kind = senderOf(which, message);
  if (!maySend(kind, type)) {
    const rule = `is of type ${type}, which a ${kind} may not send; only ${sendersOf(type).join(", ")} may (specification §6)`;
    throw refused(which, rule);
  }
  const { type: _type, sender: _sender, ...members } = message;
  assertMembers(which, type, members);
};

/**
 * Refuses messages that break a rule before anything is sent: for callers without type checks, and
 * for rules that types cannot express.
 *
 * @throws ConversationError `INPUT_INVALID` naming the message and the rule
 */
const assertMessages = (messages: readonly Message[]): void => {
  if (messages.length === 0) throw refused("the list of messages", "is empty");
  messages.forEach((message, index) => {
    assertOne(messages.length === 1 ? "the message" : `message ${index + 1}`, message);
  });
};

/*
 * In the program                                   On the wire
 * type: "text"                                     type: { value: "text" }
 * text, redact                                     content: { text, redact }
 * sender: "platform_bot", { kind, name }           sender: { type: "<vendor>_bot", participant: { name } }
 * conversation: "<id>", { conversationId }         conversation: { id }
 * conversation: { account: { channel, address } }  conversation: { account: { channel: { type }, address } }
 * entryPoint: "1007"                               entryPoint: { id: "1007" }
 * contacts, attachments: [ … ]                     contacts: { contact: [ … ] }, attachments: { attachment: [ … ] }
 * attributes: { name: value }                      attributes: [{ name, value }], of a message wrapped in { attribute }
 * parent: "m-1"                                    parent: { messageId: "m-1" }
 */

const pairs = (values: Readonly<Record<string, string>>): readonly JsonObject[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

const customerOf = ({ name, type = "individual", attributes, contacts }: Customer): JsonObject =>
  withoutUndefined({
    name,
    type,
    attributes: attributes && pairs(attributes),
    contacts: contacts && { contact: contacts.map(withoutUndefined) },
  });

const newConversation = (start: NewConversation): JsonObject => {
  const { account, customer, entryPoint, clientInfo, ...rest } = start;
  return withoutUndefined({
    account: { channel: { type: account.channel }, address: account.address },
    entryPoint: entryPoint === undefined ? undefined : { id: entryPoint },
    clientInfo: clientInfo && withoutUndefined(clientInfo),
    customer: customerOf(customer),
    ...rest,
  });
};

/** The ID of the conversation that a message goes on with; undefined if it starts one. */
const conversationIdOf = (given: MessageFrame["conversation"]): string | undefined => {
  if (typeof given === "string") return given;
  return "conversationId" in given ? given.conversationId : undefined;
};

const conversationOf = (given: MessageFrame["conversation"]): JsonObject => {
  const id = conversationIdOf(given);
  if (id !== undefined) return { id };
  return typeof given === "object" && "account" in given ? newConversation(given) : {};
};

const attributesOf = (attributes: MessageFrame["attributes"]): JsonObject | undefined =>
  attributes && {
    attribute: Object.entries(attributes).map(([name, value]) => ({
      name,
      ...(typeof value === "string" ? { value } : value),
    })),
  };

const listOf = ({ version = "1", list, ...rest }: ListPicker): JsonObject => ({
  type: "list",
  version,
  ...rest,
  list: {
    multipleSelection: list.multipleSelection ?? false,
    sections: list.sections.map((section, order) => ({
      order,
      multipleSelection: false,
      ...section,
      items: section.items.map((item) => ({ actions: [{ type: "postback" }], ...item })),
    })),
  },
});

const linkOf = ({ version = "1", ...rest }: RichLink): JsonObject => ({
  type: "web_url",
  version,
  ...rest,
});

const contentOf = (message: Message): JsonObject | undefined => {
  switch (message.type) {
    case "text": {
      const content = withoutUndefined({ text: message.text, redact: message.redact });
      return Object.keys(content).length === 0 ? undefined : content;
    }
    case "richMessage.listpicker":
      return listOf(message.content);
    case "richMessage.richlink":
      return linkOf(message.content);
    case "conversation.state":
      return { content: "", ...message.content };
    default:
      return "content" in message ? message.content : undefined;
  }
};

/** Both, at every depth; if both have a value that is no object, the second. */
const merged = (one: JsonObject, other: JsonObject): JsonObject =>
  objectOf([
    ...Object.entries(one),
    ...Object.entries(other).map(([name, value]) => {
      const known = Object.hasOwn(one, name) ? one[name] : undefined;
      return [name, isObject(known) && isObject(value) ? merged(known, value) : value] as const;
    }),
  ]);

/** A message as the service takes it (public reference, examples). */
const messageToWire = (message: Message, platformName: string): JsonObject => {
  const { sender, messageId } = message;
  const name = typeof sender === "string" ? undefined : sender.name;
  const attachments = message.type === "text" ? message.attachments : undefined;
  const parent = "parent" in message ? message.parent : undefined;
  const wire = withoutUndefined({
    messageId,
    type: { value: message.type },
    content: contentOf(message),
    conversation: conversationOf(message.conversation),
    attachments: attachments && { attachment: attachments },
    parent: parent === undefined ? undefined : { messageId: parent },
    sender: {
      type: senderToWire(kindOf(sender), platformName),
      ...(name === undefined ? {} : { participant: { name } }),
    },
    attributes: attributesOf(message.attributes),
  });
  return message.extra ? merged(wire, message.extra) : wire;
};

/** The body of a send call. `metadata` is about the whole call. */
const sendBody = (
  messages: readonly Message[],
  platformName: string,
  metadata?: Readonly<Record<string, string>>,
): JsonObject => ({
  ...(metadata ? { metadata: { attributes: pairs(metadata) } } : {}),
  messages: { message: messages.map((message) => messageToWire(message, platformName)) },
});

/**
 * The service's response to one accepted message, with missing members filled in from the sent
 * message. Members missing from both are absent.
 */
export interface SentMessage {
  /** The service's ID for the message. */
  readonly id?: string;
  /** The sender's own ID for the message. */
  readonly messageId?: string;
  /** ID of the message's conversation. */
  readonly conversationId: string;
}

/** The service's response to a send call. */
export interface Sent {
  /** ID of the first message's conversation. */
  readonly conversationId: string;
  /** The accepted messages, in the order in which they were sent. */
  readonly messages: readonly SentMessage[];
}

/** Options for a send call. */
export interface SendOptions extends CallOptions {
  /** Attributes that apply to the entire call. */
  readonly metadata?: Readonly<Record<string, string>>;
}

type OpenContent<T extends "escalation.transfer" | "conversation.end"> = Pick<
  MessageOf<T>,
  "attributes" | "content" | "extra" | "messageId"
>;

/** Sends messages. Every failure is a ConversationError. */
export interface Messages {
  /**
   * Sends one or more messages in one call, in order (specification §4.2). A message is never sent
   * twice. If it is unknown whether a message was sent, the error's `effect` is `unknown`.
   *
   * @throws ConversationError `INPUT_INVALID` before anything is sent if a message breaks a rule,
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
   * @throws ConversationError as for `send`
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
   * Continues a conversation, identified by its ID or by a message received from it.
   *
   * @throws ConversationError as for `send`
   * @example
   * await hub.messages.reply(message, { type: "text", text: "One moment", sender: "custom_bot" });
   */
  reply(to: ConversationReference, message: Reply, options?: SendOptions): Promise<Sent>;
  /**
   * Requests an agent by sending an `escalation.transfer` message. The effect of this type is
   * inferred from its name; its content is not documented.
   *
   * @throws ConversationError as for `send`
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
   * Ends a conversation by sending a `conversation.end` message.
   *
   * @throws ConversationError as for `send`
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
 * Whether the service refused a message because its conversation has ended. If so, start a new
 * conversation. Never fails.
 *
 * @example
 * if (isConversationOver(error)) await hub.messages.start(again);
 */
export const isConversationOver = (error: unknown): error is ConversationError =>
  isConversationError(error) && error.details.serviceCode === overCode;

const sending = runtimeOperations.sendMessage;

const unnamed = (): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not read the response to a message: ${endpointName(sending)} accepted the message, but the response contains no conversation ID. The message was sent; do not send it again. Check that the base URL belongs to the service.`,
    { method: sending.method, template: sending.template },
    "done",
  );

/** The service names neither the conversation nor what a bot can do. */
const ended = (ids: readonly (string | undefined)[], error: unknown): unknown => {
  const named = [...new Set(ids)].flatMap((id) => (id === undefined ? [] : [quoted(id)]));
  if (!isConversationOver(error) || named.length === 0) return error;
  const which =
    named.length === 1
      ? `conversation ${named[0]}`
      : `one of the conversations ${named.join(", ")}`;
  return copyOf(error, {
    message: `Could not ${sending.title}: ${which} has ended or is unknown (${refusalDetails(error)}). Start a new conversation; do not send the message again.`,
  });
};

const sendOptions = callOptions.extend({
  metadata: z.record(z.string(), z.string("must be a string")).optional(),
});

const isList = (given: Message | readonly Message[]): given is readonly Message[] =>
  Array.isArray(given);

/** Returns the message operations for a connection. */
export const messagesOf = (request: Request, platformName: string): Messages => {
  const call = async (
    given: () => Message | readonly Message[],
    options: SendOptions = {},
  ): Promise<Sent> => {
    const { named, sent } = prepared(sending.title, () => {
      const one = given();
      const { metadata, signal } = checkedInput(sending.title, "options", sendOptions, options);
      const messages: readonly Message[] = isList(one) ? one : [one];
      assertMessages(messages);
      const body = sendBody(messages, platformName, metadata);
      assertJson(sending.title, "the message", body);
      // Until the answer is there, the caller may change the message.
      const named = messages.map(({ conversation, messageId }) => ({
        conversationId: conversationIdOf(conversation),
        messageId,
      }));
      return { named, sent: withoutUndefined({ body, signal }) };
    });
    const { body } = await request(sending, sent).catch((error: unknown) => {
      throw ended(
        named.map(({ conversationId }) => conversationId),
        error,
      );
    });
    const answers = objectsIn(valueAt(body, "messages"), "message");
    const messages = named.map((known, index): SentMessage => {
      const answered = answers[index];
      const conversationId = textAt(answered, "conversation", "id") ?? known.conversationId;
      if (conversationId === undefined) throw unnamed();
      const messageId = textAt(answered, "messageId") ?? known.messageId;
      return { ...withoutUndefined({ id: textAt(answered, "id"), messageId }), conversationId };
    });
    const [first] = messages;
    if (!first) throw unnamed();
    return { conversationId: first.conversationId, messages };
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
  /** The messages, in the order in which the service returns them. */
  readonly messages: readonly ReceivedMessage[];
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

const conversationIn = (id: string, body: unknown, platformName: string): Conversation => {
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

/** No document says how a running conversation is answered, so both candidates say what may be the matter. */
const explained = (id: string, error: unknown): unknown =>
  isConversationError(error, "NOT_FOUND", "REJECTED")
    ? new ConversationError(
        error.code,
        `Could not read conversation ${id}: the service refused the request (${refusalDetails(error)}). Only completed conversations can be fetched (specification §4.2): check the ID, and end the conversation first.`,
        error.details,
        error.effect,
        { cause: error },
      )
    : error;

/** Returns the conversation operations for a connection. */
export const conversationsOf = (request: Request, platformName: string): Conversations => ({
  get: async (id, options = {}) => {
    const { signal } = checkedInput(reading.title, "options", callOptions, options);
    try {
      const answer = await request(reading, { id, ...withoutUndefined({ signal }) });
      return conversationIn(id, answer.body, platformName);
    } catch (error) {
      throw explained(id, error);
    }
  },
});
