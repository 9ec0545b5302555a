import { countCharacters } from "../../provider/definition/violations.js";
import { isObject, type JsonObject, listAt, textAt, valueAt } from "../../provider/kernel/json.js";
import { extensionInName } from "../../provider/resources/content-types.js";
import { fileMembers, sendFields } from "../../provider/resources/message-fields.js";
import {
  type ConversationSide,
  conversationSides,
  isAnyMessageType,
  isAvailability,
  isMessageType,
  isOwnMessageType,
  maySend,
  messageTypes,
  needsParent,
  rolesOnSide,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { invalidAttribute } from "../http/exchange.js";
import type { StoredObject } from "../objects/objects.js";
import { checkFields, oneOf, ValidationErrors, vendorWord } from "../objects/validate.js";
import type { Switches } from "../service/switches.js";

/** The message types of the specification that a sender of this kind may send. */
export const messageTypesOf = (sender: SenderKind): readonly string[] =>
  messageTypes.filter((type) => maySend(sender, type));

/** The kind of sender for a word in the wire format; undefined if there is none. */
const senderKindOf = (word: unknown, switches: Switches): SenderKind | undefined =>
  senderKinds.find((kind) => vendorWord(kind, switches) === word);

export const sideOf = (sender: SenderKind): ConversationSide =>
  conversationSides.find((side) => rolesOnSide[side].some((role) => role === sender)) ?? "customer";

/** One valid message from a request. */
export interface ParsedMessage {
  /** The message's path in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderKind;
  readonly messageId?: string | undefined;
  /** What it says about its conversation, as sent. */
  readonly conversation: JsonObject;
  /** The service's ID of an earlier message. */
  readonly parentId?: string | undefined;
  readonly attachments: readonly JsonObject[];
  /** The members that are stored and forwarded, as sent. */
  readonly body: JsonObject;
}

/** Sender and type, and whether this sender may send this type: specification §6. */
const checkType = (type: string, sender: SenderKind, errors: ValidationErrors): void => {
  const allowed = messageTypesOf(sender);
  if (!isAnyMessageType(type)) errors.at("type").at("value").report("invalid", oneOf(allowed));
  else if (isMessageType(type) && !allowed.includes(type))
    errors
      .at("type")
      .at("value")
      .report("notForSender", `${oneOf(allowed)} for this sender`);
};

/** Only a type of one's own has XML (vendor). */
const checkXml = (content: unknown, type: string, errors: ValidationErrors): void => {
  if (valueAt(content, "xml") === undefined || isOwnMessageType(type)) return;
  errors.at("content").at("xml").report("invalid", "is only for types that begin with custom.");
};

/** An attachment is the ID of an asset alone, or the address of a file with its name and size. */
const checkAttachment = (attachment: JsonObject, errors: ValidationErrors): void => {
  if (attachment.id === undefined) {
    for (const name of fileMembers)
      if (attachment[name] === undefined) errors.at(name).report("missing");
    return;
  }
  for (const name of Object.keys(attachment)) if (name !== "id") errors.at(name).report("unknown");
};

/** A conversation is continued by its ID; otherwise the message says where it begins. */
const checkConversation = (
  { id, account, type: kind, parent, entryPoint }: JsonObject,
  type: string,
  errors: ValidationErrors,
): void => {
  if (id !== undefined) return;
  if (kind !== undefined) {
    if (parent === undefined) errors.at("parent").report("missing");
  } else if (isAvailability(type)) {
    if (entryPoint === undefined) errors.at("entryPoint").report("missing");
  } else if (account === undefined) errors.at("account").report("missing");
};

/** Reads a message whose members have the right form, and reports errors in how they go together. */
const parseMessage = (
  value: JsonObject,
  errors: ValidationErrors,
  switches: Switches,
): ParsedMessage => {
  const type = textAt(value, "type", "value") ?? "";
  const sender = senderKindOf(valueAt(value, "sender", "type"), switches) ?? "customer";
  const attachments = listAt(value, "attachments", "attachment").filter(isObject);
  const parentId = textAt(value, "parent", "id");
  // The service finds the recipients itself.
  const { conversation, recipients, messageId, ...body } = value;
  const about = isObject(conversation) ? conversation : {};
  checkType(type, sender, errors);
  checkXml(value.content, type, errors);
  attachments.forEach((attachment, place) => {
    checkAttachment(attachment, errors.at("attachments").at("attachment").item(place));
  });
  checkConversation(about, type, errors.at("conversation"));
  if (parentId === undefined && needsParent(type, about.id !== undefined))
    errors.at("parent").report("missing");
  return {
    path: errors.path,
    type,
    sender,
    conversation: about,
    messageId: textAt(value, "messageId"),
    parentId,
    attachments,
    body,
  };
};

/**
 * Parses the messages in a request. @throws HttpError 400 that names everything that breaks a rule
 */
export const parseMessages = (request: JsonObject, switches: Switches): ParsedMessage[] => {
  const all = new ValidationErrors();
  checkFields(sendFields, request, all, switches);
  all.assertNone();
  const errors = all.at("messages").at("message");
  const parsed = listAt(request, "messages", "message")
    .filter(isObject)
    .map((message, place) => parseMessage(message, errors.item(place), switches));
  all.assertNone();
  return parsed;
};

/** The parts of a message that a channel may refuse to carry. */
interface CarriedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderKind;
  readonly content: unknown;
  /** With the details of their assets. */
  readonly attachments: readonly JsonObject[];
}

type Restrictions = JsonObject;

const richPrefix = "richMessage.";

const assertText = ({ maxTextLength }: Restrictions, { path, type, content }: CarriedMessage) => {
  if (type !== "text" || typeof maxTextLength !== "number") return;
  if (countCharacters(textAt(content, "text") ?? "") <= maxTextLength) return;
  const rule = `must have at most ${maxTextLength} characters on this channel`;
  throw invalidAttribute(`${path}.content.text`, rule);
};

/**
 * The words of a list. If there is none, a customer may send everything, and nobody else anything
 * (vendor).
 */
const words = (
  restrictions: Restrictions,
  name: string,
  { sender }: CarriedMessage,
): readonly unknown[] | undefined =>
  Array.isArray(restrictions[name]) || sender !== "customer"
    ? listAt(restrictions, name)
    : undefined;

const assertFeature = (restrictions: Restrictions, message: CarriedMessage) => {
  const { path, type, attachments } = message;
  const features = words(restrictions, "features", message);
  if (!features) return;
  if (type.startsWith("typing.") && !features.includes("typing_events"))
    throw invalidAttribute(`${path}.type.value`, "the channel does not support typing_events");
  if (attachments.length > 0 && !features.includes("attachments"))
    throw invalidAttribute(`${path}.attachments`, "the channel does not support attachments");
};

const assertRichMessage = (restrictions: Restrictions, message: CarriedMessage) => {
  const { path, type } = message;
  if (!type.startsWith(richPrefix)) return;
  const types = words(restrictions, "richMessageTypes", message);
  const isListed = types?.includes(type.slice(richPrefix.length)) ?? true;
  const isSignIn = type === `${richPrefix}authentication`;
  if (isListed && !(isSignIn && restrictions.midChatAuth !== true)) return;
  throw invalidAttribute(`${path}.type.value`, `the channel does not support ${type}`);
};

const isBlocked = (policy: JsonObject, { name }: JsonObject): boolean => {
  const extension = typeof name === "string" ? extensionInName(name) : undefined;
  const listed = listAt(policy, "extensions").some(
    (each) => typeof each === "string" && each.toLowerCase() === extension,
  );
  return policy.type === "allow" ? !listed : policy.type === "block" && listed;
};

const assertAttachments = (restrictions: Restrictions, message: CarriedMessage) => {
  const { attachmentPolicy: policy } = restrictions;
  if (!isObject(policy)) return;
  message.attachments.forEach((attachment, place) => {
    const path = `${message.path}.attachments.attachment[${place}]`;
    if (policy.enabled === false)
      throw invalidAttribute(path, "attachments are not enabled on this channel");
    const { maxSize } = policy;
    const { size } = attachment;
    if (typeof maxSize === "number" && typeof size === "number" && size > maxSize)
      throw invalidAttribute(`${path}.size`, `must be at most ${maxSize} on this channel`);
    if (isBlocked(policy, attachment))
      throw invalidAttribute(path, "the channel does not accept files of this type");
  });
};

/**
 * Checks a message against the channel's restrictions for its direction: from or to the customer.
 *
 * @throws HttpError 400-196 that names the restriction that the message breaks (assumed)
 */
export const assertCarried = (channel: StoredObject | undefined, message: CarriedMessage): void => {
  const direction = message.sender === "customer" ? "inbound" : "outbound";
  const restrictions = valueAt(channel, "restrictions", direction);
  if (!isObject(restrictions)) return;
  assertText(restrictions, message);
  assertFeature(restrictions, message);
  assertRichMessage(restrictions, message);
  assertAttachments(restrictions, message);
};
