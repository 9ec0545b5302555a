import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { type Switches, vendorWord } from "../control/switches.js";
import { ValidationErrors } from "../http/validation-errors.js";
import { textAt, valueAt } from "./json-path.js";
import {
  knownMessageTypes,
  messageTypesOf,
  type SenderType,
  senderTypeOf,
  senderTypes,
} from "./sender-rules.js";

/** What the first message of a conversation says of it. */
export interface ConversationStart {
  readonly channelType: string;
  readonly address: string;
  readonly about: JsonObject;
}

/** One message of a request that breaks no rule of form. */
export interface ParsedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderType;
  readonly messageId?: string;
  /** Continue this one; left out: start one. */
  readonly conversationId?: string;
  readonly start?: ConversationStart;
  readonly parentId?: string;
  readonly attachments: readonly JsonObject[];
  /** What is kept of it and goes out again. */
  readonly body: JsonObject;
}

/** One call of the older generation carries up to so many messages (assumed here too). */
const mostMessages = 1_000;
const longestText = 255;

/** Reads the members of one message and says what is wrong with them. */
class MessageReader {
  constructor(
    readonly value: JsonObject,
    readonly path: string,
    readonly errors: ValidationErrors,
  ) {}

  /** A text that must be there. */
  required(...steps: string[]): string {
    const found = valueAt(this.value, ...steps);
    const path = [this.path, ...steps].join(".");
    if (found === undefined || found === null) this.errors.missing(path);
    else if (typeof found !== "string" || found === "" || found.length > longestText)
      this.errors.invalid(path, `must be a text of 1 to ${longestText} characters`);
    return String(found);
  }

  /** A text that may be there. */
  optional(...steps: string[]): string | undefined {
    const found = valueAt(this.value, ...steps);
    return found === undefined || found === null ? undefined : this.required(...steps);
  }

  /** An object that may be there. */
  object(name: string): JsonObject | undefined {
    const found = this.value[name];
    if (found === undefined || found === null) return undefined;
    if (isObject(found)) return found;
    this.errors.invalid(`${this.path}.${name}`, "must be an object");
    return undefined;
  }

  /** The objects of a list that may be there, such as `attachments.attachment`. */
  objects(name: string, member: string): readonly JsonObject[] {
    const holder = this.object(name);
    if (!holder) return [];
    const items = holder[member];
    if (Array.isArray(items) && items.every(isObject)) return items;
    this.errors.invalid(`${this.path}.${name}.${member}`, "must be a list of objects");
    return [];
  }
}

/** Sender and type, and whether this sender may send this type: specification §6. */
const senderAndType = (message: MessageReader, switches: Switches) => {
  const type = message.required("type", "value");
  const word = message.required("sender", "type");
  const sender = senderTypeOf(word, switches);
  if (!sender) {
    const words = senderTypes.map((type) => vendorWord(type, switches));
    if (textAt(message.value, "sender", "type"))
      message.errors.notAllowed(`${message.path}.sender.type`, words);
    return { type, sender: senderTypes[0] };
  }
  const known = knownMessageTypes.includes(type);
  const allowed = known ? messageTypesOf(sender) : knownMessageTypes;
  if (textAt(message.value, "type", "value") && !allowed.includes(type))
    message.errors.notAllowed(`${message.path}.type.value`, allowed);
  return { type, sender };
};

/** A text has a text; what other types carry is open. */
const checkContent = (message: MessageReader): void => {
  const { content } = message.value;
  if (content === undefined || content === null || typeof content === "string") return;
  if (!isObject(content)) message.errors.invalid(`${message.path}.content`, "must be an object");
  else if (content.text !== undefined && typeof content.text !== "string")
    message.errors.invalid(`${message.path}.content.text`, "must be a string");
};

const attachmentsOf = (message: MessageReader): readonly JsonObject[] => {
  const attachments = message.objects("attachments", "attachment");
  attachments.forEach((attachment, place) => {
    if (!textAt(attachment, "url") && !textAt(attachment, "id"))
      message.errors.missing(`${message.path}.attachments.attachment[${place}].url`);
  });
  return attachments;
};

/** Starting needs an account and a customer (public reference). */
const startOf = (message: MessageReader, conversation: JsonObject): ConversationStart => {
  const channelType = message.required("conversation", "account", "channel", "type");
  const address = message.required("conversation", "account", "address");
  const { customer } = conversation;
  if (customer === undefined || customer === null)
    message.errors.missing(`${message.path}.conversation.customer`);
  else if (!isObject(customer))
    message.errors.invalid(`${message.path}.conversation.customer`, "must be an object");
  const { account: _account, id: _id, ...about } = conversation;
  return {
    channelType,
    address,
    about: { account: { address, channel: { type: channelType } }, ...about },
  };
};

/** Which conversation a message belongs to. */
const conversationOf = (
  message: MessageReader,
): Pick<ParsedMessage, "conversationId" | "start"> => {
  const conversation = message.object("conversation");
  if (!conversation) {
    if (!isObject(message.value.conversation ?? {})) return {};
    message.errors.missing(`${message.path}.conversation`);
    return {};
  }
  const conversationId = message.optional("conversation", "id");
  return conversationId === undefined
    ? { start: startOf(message, conversation) }
    : { conversationId };
};

const parentOf = (message: MessageReader, type: string): string | undefined =>
  type === "delete.soft"
    ? message.required("parent", "messageId")
    : message.optional("parent", "messageId");

const messageOf = (message: MessageReader, switches: Switches): ParsedMessage => {
  const { type, sender } = senderAndType(message, switches);
  checkContent(message);
  // The service says these itself.
  const { id, conversation, recipients, status, created, sent, messageId, ...body } = message.value;
  const parentId = parentOf(message, type);
  const ownId = message.optional("messageId");
  return {
    path: message.path,
    type,
    sender,
    ...conversationOf(message),
    ...(ownId === undefined ? {} : { messageId: ownId }),
    ...(parentId === undefined ? {} : { parentId }),
    attachments: attachmentsOf(message),
    body: objectOf(Object.entries(body)),
  };
};

/**
 * The messages of a request.
 *
 * @throws Refusal 400 that names everything that breaks a rule
 */
export const parseMessages = (request: JsonObject, switches: Switches): ParsedMessage[] => {
  const errors = new ValidationErrors();
  const list = valueAt(request, "messages", "message");
  if (list === undefined || list === null) errors.missing("messages.message");
  else if (!Array.isArray(list) || list.length === 0 || list.length > mostMessages)
    errors.invalid("messages.message", `must be a list of 1 to ${mostMessages} messages`);
  errors.assertNone();
  const parsed = (Array.isArray(list) ? list : []).flatMap((value: unknown, place) => {
    const path = `messages.message[${place}]`;
    if (isObject(value)) return [messageOf(new MessageReader(value, path, errors), switches)];
    errors.invalid(path, "must be an object");
    return [];
  });
  errors.assertNone();
  return parsed;
};
