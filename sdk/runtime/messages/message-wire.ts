import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";
import { withoutUndefined } from "../json-members.js";
import {
  type Customer,
  kindOf,
  type Message,
  type MessageFrame,
  type NewConversation,
} from "./message.js";
import type { ListPicker, RichLink } from "./message-contents.js";
import { senderToWire } from "./message-types.js";

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

/** The id of the conversation that a message goes on with; undefined where it starts one. */
export const conversationIdOf = (given: MessageFrame["conversation"]): string | undefined => {
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

/** Both, at every depth; where both have a value that is no object, the second. */
const merged = (one: JsonObject, other: JsonObject): JsonObject =>
  objectOf([
    ...Object.entries(one),
    ...Object.entries(other).map(([name, value]) => {
      const known = Object.hasOwn(one, name) ? one[name] : undefined;
      return [name, isObject(known) && isObject(value) ? merged(known, value) : value] as const;
    }),
  ]);

/** A message as the service takes it (public reference, examples). */
export const messageToWire = (message: Message, platformName: string): JsonObject => {
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
export const sendBody = (
  messages: readonly Message[],
  platformName: string,
  metadata?: Readonly<Record<string, string>>,
): JsonObject => ({
  ...(metadata ? { metadata: { attributes: pairs(metadata) } } : {}),
  messages: { message: messages.map((message) => messageToWire(message, platformName)) },
});
