import { z } from "zod";
import type { Fields } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/fields.js";
import { fieldViolations, isHttpUrl } from "../../provider/definition/violations.js";
import { fieldsToWire } from "../../provider/definition/wire.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import {
  isObject,
  type JsonObject,
  listAt,
  objectOf,
  objectsIn,
  textAt,
  valueAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import {
  fileMembers,
  messageFields,
  metadataFields,
  mostInCall,
  programMessageFields,
} from "../../provider/resources/message-fields.js";
import {
  type AnyMessageType,
  furtherMessageTypes,
  isAnyMessageType,
  isAvailability,
  isDeletion,
  isMessageType,
  isSenderKind,
  maySend,
  messageTypes,
  needsParent,
  type SenderKind,
  type SendersOf,
  senderKinds,
  sendersOf,
} from "../../provider/resources/message-types.js";
import type { Request } from "../../provider/service/client.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { endpointName } from "../../provider/service/transport.js";
import { guardInput } from "./caller-input.js";
import { type CallOptions, callOptions, checkInput, violations } from "./input-schemas.js";
import {
  type ConversationReference,
  type FirstMessage,
  type Message,
  type MessageOf,
  type OtherMessage,
  type Reply,
  type Sender,
  schemaFor,
} from "./message.js";

/** @param which such as `message 2` */
const refused = (which: string, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not send message: ${which} ${rule}. Nothing was sent. Correct the message and send it again.`,
  );

type AnyMessage = Message | OtherMessage;

const readType = (which: string, { type }: JsonObject): AnyMessageType => {
  if (isAnyMessageType(type)) return type;
  const types = [...messageTypes, ...furtherMessageTypes].join(", ");
  throw refused(which, `has no known type; use one of ${types}, custom.…`);
};

const readSender = (which: string, { sender }: JsonObject): SenderKind => {
  const { kind, name, ...rest } = isObject(sender) ? sender : { kind: sender };
  const plain = Object.keys(rest).length === 0 && (name === undefined || typeof name === "string");
  if (isSenderKind(kind) && plain) return kind;
  throw refused(
    which,
    `needs a sender: one of ${senderKinds.join(", ")}, or { kind, name } with one of these kinds`,
  );
};

/**
 * The members of a message, in whose content defaults are filled in. Refuses what breaks a rule: for
 * callers without type checks, and for rules that types cannot express.
 *
 * @throws ConversationError `INPUT_INVALID` naming the message and the rule
 */
const checkMembers = (which: string, message: unknown): JsonObject => {
  if (!isObject(message)) throw refused(which, "is not an object");
  const type = readType(which, message);
  const kind = readSender(which, message);
  if (isMessageType(type) && !maySend(kind, type)) {
    const rule = `is of type ${type}, which a ${kind} may not send; only ${sendersOf(type).join(", ")} may`;
    throw refused(which, rule);
  }
  const { data, error } = schemaFor(type).safeParse(message);
  if (error) throw refused(which, `(${type}) is not valid: ${violations(error.issues)}`);
  return data;
};

/** How errors call a message: `message 2`, if there are several. */
const nameMessage = (index: number, { length }: readonly unknown[]): string =>
  length === 1 ? "the message" : `message ${index + 1}`;

/*
 * In the program                                   In the fields of a message
 * text, html, xml, redact                          content: { text, redact }, { html, redact }, …
 * content: { … }                                   content: { json: "{ … }" }
 * sender: "platform_bot", { kind, name }           sender: { type, participant: { name } }
 * conversation: "<id>", { conversationId }         conversation: { id }
 * conversation: { account: { channel, address } }  conversation: { account: { channel: { type }, address } }
 * conversation: { survey: "<conversation id>" }    conversation: { type: "survey.form", parent: { id } }
 * attributes: { name: value }                      attributes: { name: { value } }
 * parent: "<message id>", { id, messageId }        parent: { id, messageId }
 * customer, preferredAgent of a message            conversation: { id, customer, preferredAgent }
 */

/** The ID of the conversation that a message goes on with; undefined if it names none. */
const findConversationId = (given: unknown): string | undefined =>
  typeof given === "string" ? given : textAt(given, "conversationId");

/** Whether a message starts a conversation. Deletions name the account of a completed one. */
const startsOne = (type: string, id: string | undefined): boolean =>
  id === undefined && !isAvailability(type) && !isDeletion(type);

const writeNewConversation = ({ account, survey, ...rest }: JsonObject): JsonObject => {
  const { channel, ...place } = isObject(account) ? account : {};
  return {
    ...rest,
    account: isObject(account) ? { ...place, channel: { type: channel } } : account,
    ...(survey === undefined ? {} : { type: "survey.form", parent: { id: survey } }),
  };
};

/** The conversation, with what some types say about it beside its ID. */
const writeConversation = (message: JsonObject): unknown => {
  const { conversation, customer, lookupContact, conversationContact, preferredAgent } = message;
  const id = findConversationId(conversation);
  const said = { id, customer, lookupContact, conversationContact, preferredAgent };
  if (id !== undefined || !isObject(conversation)) return said;
  return { ...said, ...writeNewConversation(conversation) };
};

const writeAttachment = (given: unknown): unknown =>
  isObject(given) && given.id !== undefined ? { id: given.id } : given;

const writeParent = (given: unknown): unknown => {
  if (typeof given === "string") return { id: given };
  return isObject(given) ? { id: given.id, messageId: given.messageId } : given;
};

const writeAttributes = (given: unknown): unknown =>
  isObject(given)
    ? objectOf(
        Object.entries(given).map(([name, value]) => [
          name,
          typeof value === "string" ? { value } : value,
        ]),
      )
    : given;

/** @throws ConversationError `INPUT_INVALID` if it has several forms, or cannot be JSON */
const writeContent = (which: string, given: JsonObject): JsonObject | undefined => {
  const { type, text, html, xml, content, redact, attachments } = given;
  const json = content === undefined ? undefined : JSON.stringify(content);
  const form = withoutUndefined({ text, html, xml, json });
  const forms = Object.keys(form).length;
  if (forms > 1) throw refused(which, "must have only one of text, html, content, and xml");
  if (forms === 0 && type === "text" && !attachments)
    throw refused(which, "needs text, html, or attachments");
  return forms === 0 ? undefined : { ...form, redact };
};

/** A message in the form of `programMessageFields`. What is none stays for them to refuse. */
const writeForm = (which: string, given: JsonObject): JsonObject => {
  const { messageId, type, sender, attachments, parent, attributes } = given;
  const { kind, name } = isObject(sender) ? sender : { kind: sender };
  const form = {
    ...{ messageId, type, content: writeContent(which, given) },
    conversation: writeConversation(given),
    attachments: Array.isArray(attachments) ? attachments.map(writeAttachment) : attachments,
    parent: writeParent(parent),
    sender: { type: kind, participant: name === undefined ? undefined : { name } },
    attributes: writeAttributes(attributes),
  };
  return normaliseFields({ fields: programMessageFields }, form);
};

/** Where a program says what the fields have in another place. */
const programPaths: Readonly<Record<string, string>> = {
  "content.text": "text",
  "content.html": "html",
  "content.xml": "xml",
  "content.json": "content",
  "content.redact": "redact",
  "sender.participant.name": "sender.name",
  "conversation.id": "conversation",
  "conversation.account.channel.type": "conversation.account.channel",
  "conversation.parent.id": "conversation.survey",
};

/** The rules of a conversation as a whole, as the fields allow every way to name one. */
const checkConversation = (given: unknown, isPlace: boolean): readonly string[] => {
  const names = isObject(given) ? Object.keys(given) : [];
  if (isPlace)
    return names.join() === "entryPoint" ? [] : ["conversation must be { entryPoint: id }"];
  if (findConversationId(given) !== undefined) return [];
  if (names.includes("id"))
    return ["conversation must be its ID or { conversationId: id } to go on, not { id }"];
  if (!isObject(given) || names.includes("conversationId"))
    return [
      "conversation must be a conversation ID, { conversationId: id }, or an object that starts a conversation",
    ];
  return (given.account ?? given.survey) ? [] : ["conversation.account is required"];
};

/** An attachment that is no asset needs all of its members. */
const checkFile = (file: unknown, path: string): readonly string[] => {
  if (!isObject(file) || file.id !== undefined) return [];
  const { url } = file;
  return [
    ...fileMembers.flatMap((name) =>
      file[name] === undefined ? [`${path}.${name} is required`] : [],
    ),
    ...(typeof url === "string" && !isHttpUrl(url)
      ? [`${path}.url must be an absolute http or https URL`]
      : []),
  ];
};

/** The broken rules on what goes together, which the fields do not say. */
const checkTogether = (
  type: string,
  { conversation, attachments, parent }: JsonObject,
): readonly string[] => {
  const continues = findConversationId(conversation) !== undefined;
  return [
    ...checkConversation(conversation, isAvailability(type)),
    ...listAt(attachments).flatMap((file, place) => checkFile(file, `attachments[${place}]`)),
    ...(parent === undefined && needsParent(type, continues) ? ["parent is required"] : []),
  ];
};

/** The limits of the service that a part of a body exceeds, such as `text must have …`. */
const checkLimits = (fields: Fields, part: JsonObject): readonly string[] =>
  fieldViolations({ kind: "a message", fields }, part).map(
    ({ path, rule }) => `${programPaths[path] ?? path} ${rule}`,
  );

/**
 * A message as the service takes it (vendor).
 *
 * @throws ConversationError `INPUT_INVALID` naming each limit that it exceeds
 */
const messageToWire = (
  which: string,
  type: string,
  given: JsonObject,
  platformName: string,
): JsonObject => {
  const form = writeForm(which, given);
  const limits = checkLimits(programMessageFields, form);
  // Beside an ID, the message itself says what the fields have in the conversation.
  const continues = findConversationId(given.conversation) !== undefined;
  const named = continues ? limits.map((rule) => rule.replace(/^conversation\./, "")) : limits;
  const broken = [...checkTogether(type, given), ...named];
  if (broken.length > 0) throw refused(which, `(${type}) is not valid: ${broken.join("; ")}`);
  const { attachments: attachment, attributes } = form;
  const attribute = isObject(attributes)
    ? Object.entries(attributes).map(([name, of]) => ({ name, ...Object(of) }))
    : undefined;
  const lists = {
    attachments: attachment && { attachment },
    attributes: attribute && { attribute },
  };
  return fieldsToWire(messageFields, { ...form, ...lists }, { platformName });
};

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
  readonly conversationId?: string;
}

/** The service's response to any messages. */
export interface SentMessages {
  /**
   * ID of the first message's conversation. Absent if it belongs to an entry point, or is about a
   * completed conversation.
   */
  readonly conversationId?: string;
  /** The accepted messages, in the order in which they were sent. */
  readonly messages: readonly SentMessage[];
}

/** The service's response to a message in a conversation. */
export interface Sent extends SentMessages {
  /** ID of the message's conversation. */
  readonly conversationId: string;
}

/** Options for a send call. */
export interface SendOptions extends CallOptions {
  /** Attributes that apply to the entire call, at most 10 (vendor). */
  readonly metadata?: Readonly<Record<string, string>>;
}

type OpenContent<T extends "escalation.transfer" | "conversation.end"> = Omit<
  MessageOf<T>,
  "conversation" | "sender" | "type"
>;

/** Sends messages. Every failure is a ConversationError. */
export interface Messages {
  /**
   * Sends up to 10 messages, in order, in one call (specification §4.2, vendor). They are accepted
   * or refused together. A message is never sent twice. If it is unknown whether it was sent, the
   * error's `effect` is `unknown`. Types that the specification does not list, your own (`custom.*`)
   * and those that only the vendor lists, can come from any kind of sender (assumed).
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
  send(message: AnyMessage | readonly AnyMessage[], options?: SendOptions): Promise<SentMessages>;
  /**
   * Starts a conversation, with an account, or a survey about a conversation.
   *
   * @throws ConversationError as for `send`
   * @example
   * const { conversationId } = await hub.messages.start({
   *   type: "text",
   *   text: "Where is my order?",
   *   sender: { kind: "customer", name: "Ada Example" },
   *   conversation: { account: { channel: "custom.web", address: "shop-web" } },
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
   * Requests an agent by sending an `escalation.transfer` message, which can name a preferred one.
   * The effect of this type is inferred from its name; its content is not documented.
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

const sendOptions = callOptions.extend({
  metadata: z.record(z.string(), z.string("must be a string")).optional(),
});

const isList = (given: AnyMessage | readonly AnyMessage[]): given is readonly AnyMessage[] =>
  Array.isArray(given);

/** What must be known of a message until the answer is there. */
interface SentParts {
  readonly wire: JsonObject;
  readonly conversationId: string | undefined;
  readonly messageId: string | undefined;
  readonly starts: boolean;
}

/** Returns the message operations for a connection. */
export const createMessages = (request: Request, platformName: string): Messages => {
  const sendAll = async (
    given: () => AnyMessage | readonly AnyMessage[],
    options: SendOptions = {},
  ): Promise<SentMessages> => {
    const { parts, body, signal } = guardInput(sending.title, () => {
      const one = given();
      const { metadata, signal } = checkInput(sending.title, "options", sendOptions, options);
      const messages = isList(one) ? one : [one];
      const about = metadata && { attributes: metadata };
      const broken = about ? checkLimits(metadataFields, about) : [];
      if (broken.length > 0) throw refused("metadata:", broken.join("; "));
      if (messages.length < 1 || messages.length > mostInCall) {
        throw refused("the list of messages", `must have 1 to ${mostInCall} items`);
      }
      // Until the answer is there, the caller may change the messages.
      const parts = messages.map((message, index): SentParts => {
        const which = nameMessage(index, messages);
        const members = checkMembers(which, message);
        const { type, messageId } = message;
        const conversationId = findConversationId(members.conversation);
        const wire = messageToWire(which, type, members, platformName);
        return { wire, conversationId, messageId, starts: startsOne(type, conversationId) };
      });
      const head = about ? { metadata: fieldsToWire(metadataFields, about, { platformName }) } : {};
      const body = { ...head, messages: { message: parts.map(({ wire }) => wire) } };
      return { parts, body, signal };
    });
    const answer = await request(sending, withoutUndefined({ body, signal }));
    const answers = objectsIn(valueAt(answer.body, "messages"), "message");
    const messages = parts.map((known, index): SentMessage => {
      const answered = answers[index];
      const conversationId = textAt(answered, "conversation", "id") ?? known.conversationId;
      if (conversationId === undefined && known.starts) throw unnamed();
      const messageId = textAt(answered, "messageId") ?? known.messageId;
      return withoutUndefined({ id: textAt(answered, "id"), messageId, conversationId });
    });
    return { messages, ...withoutUndefined({ conversationId: messages[0]?.conversationId }) };
  };
  const within = async (given: () => AnyMessage, options?: SendOptions): Promise<Sent> => {
    const { conversationId, messages } = await sendAll(given, options);
    if (conversationId === undefined) throw unnamed();
    return { conversationId, messages };
  };
  return {
    send: (message, options) => sendAll(() => message, options),
    start: (message, options) => within(() => message, options),
    reply: (to, message, options) => within(() => ({ ...message, conversation: to }), options),
    escalate: (conversation, sender, more, options) =>
      within(() => ({ ...more, type: "escalation.transfer", conversation, sender }), options),
    end: (conversation, sender, more, options) =>
      within(() => ({ ...more, type: "conversation.end", conversation, sender }), options),
  };
};
