import { isObject, type JsonObject, listAt, textAt, valueAt } from "../../provider/kernel/json.js";
import { contentForms, fileMembers, sendFields } from "../../provider/resources/message-fields.js";
import {
  isAnyMessageType,
  isAvailability,
  isMessageType,
  isOwnMessageType,
  needsParent,
  type SenderKind,
} from "../../provider/resources/message-types.js";
import { ValidationErrors } from "../http/exchange.js";
import { checkFields } from "../objects/validate.js";
import type { Switches } from "../service/switches.js";
import { messageTypesOf, senderKindOf } from "./messages.js";

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
  if (!isAnyMessageType(type)) errors.at("type").at("value").notAllowed(allowed);
  else if (isMessageType(type) && !allowed.includes(type))
    errors.at("type").at("value").notForSender(allowed);
};

/** Content has exactly one form, and a member of another one is none of its members. */
const checkContent = (content: JsonObject, type: string, errors: ValidationErrors): void => {
  const [form, ...others] = contentForms.filter((each) => content[each] !== undefined);
  if (form === undefined) errors.at(contentForms.join(" or ")).missing();
  for (const other of others) errors.at(other).unknown();
  if (form === "xml" && !isOwnMessageType(type))
    errors.at(form).invalid("is only for types that begin with custom.");
};

/** An attachment is the ID of an asset alone, or the address of a file with its name and size. */
const checkAttachment = (attachment: JsonObject, errors: ValidationErrors): void => {
  if (attachment.id === undefined) {
    for (const name of fileMembers) if (attachment[name] === undefined) errors.at(name).missing();
    return;
  }
  for (const name of Object.keys(attachment)) if (name !== "id") errors.at(name).unknown();
};

/** A conversation is continued by its ID; otherwise the message says where it begins. */
const checkConversation = (
  { id, account, type: kind, parent, entryPoint }: JsonObject,
  type: string,
  errors: ValidationErrors,
): void => {
  if (id !== undefined) return;
  if (kind !== undefined) {
    if (parent === undefined) errors.at("parent").missing();
  } else if (isAvailability(type)) {
    if (entryPoint === undefined) errors.at("entryPoint").missing();
  } else if (account === undefined) errors.at("account").missing();
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
  if (isObject(value.content)) checkContent(value.content, type, errors.at("content"));
  attachments.forEach((attachment, place) => {
    checkAttachment(attachment, errors.at("attachments").at("attachment").item(place));
  });
  checkConversation(about, type, errors.at("conversation"));
  if (parentId === undefined && needsParent(type, about.id !== undefined))
    errors.at("parent").missing();
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
