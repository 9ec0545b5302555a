import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { invalidAttribute, ValidationErrors } from "../http/exchange.js";
import type { StoredObject } from "../objects/store.js";
import { type Switches, vendorWord } from "../service/switches.js";
import { extensionInName } from "./asset-store.js";

/**
 * The part of a JSON value at this path, which consists of member names and list indexes; undefined
 * if a step does not exist.
 */
export const valueOnPath = (value: unknown, ...steps: readonly (string | number)[]): unknown => {
  let here = value;
  for (const step of steps) {
    if (typeof step === "number") here = Array.isArray(here) ? here[step] : undefined;
    else here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
};

/** The string at this path; undefined if there is no string or it is empty. */
export const textOnPath = (
  value: unknown,
  ...steps: readonly (string | number)[]
): string | undefined => {
  const found = valueOnPath(value, ...steps);
  return typeof found === "string" && found !== "" ? found : undefined;
};

/** The list at this path; an empty list if there is no list. */
export const listAt = (
  value: unknown,
  ...steps: readonly (string | number)[]
): readonly unknown[] => {
  const found = valueOnPath(value, ...steps);
  return Array.isArray(found) ? found : [];
};

/**
 * The steps of a simple JSONPath, such as `$.data.accessToken` or `$.tokens[0]`; undefined for any
 * other path.
 */
export const stepsOf = (path: string): readonly (string | number)[] | undefined => {
  if (!/^\$((\.[\w-]+)|(\[\d{1,4}\]))+$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map(([, name, place]) =>
    name === undefined ? Number(place) : name,
  );
};

/**
 * The sender types. On the wire, the vendor's word replaces `platform` (specification §6). This
 * list, like the rules below, is deliberately separate from the client's. Otherwise, the emulator
 * would accept the client's mistakes.
 */
export const senderTypes = [
  "customer",
  "platform_agent",
  "custom_agent",
  "platform_bot",
  "custom_bot",
] as const;

export type SenderType = (typeof senderTypes)[number];

const agents: readonly SenderType[] = ["platform_agent", "custom_agent"];
const bots: readonly SenderType[] = ["platform_bot", "custom_bot"];

/** Which message types which senders may send: the table of the specification's §6. */
const rules: readonly { readonly senders: readonly SenderType[]; readonly types: string }[] = [
  {
    senders: senderTypes,
    types: "text typing.start typing.end customer.info error conversation.end",
  },
  {
    senders: [...agents, ...bots],
    types:
      "escalation.transfer pagePush richMessage.listpicker richMessage.quickreply richMessage.template richMessage.timepicker richMessage.richlink richMessage.form richMessage.payment richMessage.app richMessage.authentication",
  },
  {
    senders: agents,
    types:
      "conversation.state agent.join agent.available agent.unavailable agent.transfer queue.transfer",
  },
  {
    senders: ["customer"],
    types:
      "authentication.success authentication.failure customer.active customer.inactive delete.soft delete.permanent undo",
  },
];

const sendersByType: ReadonlyMap<string, readonly SenderType[]> = new Map(
  rules.flatMap(({ senders, types }) => types.split(" ").map((type) => [type, senders] as const)),
);

/** Every message type. */
const knownMessageTypes: readonly string[] = [...sendersByType.keys()];

/** The message types that a sender of this type may send. */
export const messageTypesOf = (sender: SenderType): readonly string[] =>
  knownMessageTypes.filter((type) => sendersByType.get(type)?.includes(sender));

/** The sender type for a word in the wire format; undefined if there is none. */
export const senderTypeOf = (word: unknown, switches: Switches): SenderType | undefined =>
  senderTypes.find((type) => vendorWord(type, switches) === word);

/** One side of a conversation. */
export type Side = "customer" | "bot" | "agent";

/** The side of a conversation that a sender type belongs to. */
export const sideOf = (sender: SenderType): Side => {
  if (agents.includes(sender)) return "agent";
  return bots.includes(sender) ? "bot" : "customer";
};

/** The details of a new conversation, from its first message. */
export interface ConversationStart {
  readonly channelType: string;
  readonly address: string;
  readonly about: JsonObject;
}

/** One valid message from a request. */
export interface ParsedMessage {
  /** The message's path in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderType;
  readonly messageId?: string;
  /** ID of the conversation to continue; absent if the message starts a new one. */
  readonly conversationId?: string;
  readonly start?: ConversationStart;
  readonly parentId?: string;
  readonly attachments: readonly JsonObject[];
  /** The members that are stored and forwarded. */
  readonly body: JsonObject;
}

/** Maximum number of messages in a call of the older generation (assumed here, too). */
const mostMessages = 1_000;
const longestText = 255;

/** One message of a request: reads its members and reports errors. */
class MessageParser {
  constructor(
    private readonly value: JsonObject,
    private readonly errors: ValidationErrors,
    private readonly switches: Switches,
  ) {}

  parse(): ParsedMessage {
    const { type, sender } = this.#senderAndType();
    this.#checkContent();
    // The service sets these itself.
    const { id, conversation, recipients, status, created, sent, messageId, ...body } = this.value;
    const parent = ["parent", "messageId"] as const;
    const parentId = type === "delete.soft" ? this.#required(...parent) : this.#optional(...parent);
    const ownId = this.#optional("messageId");
    return {
      path: this.errors.path,
      type,
      sender,
      ...this.#conversation(),
      ...(ownId === undefined ? {} : { messageId: ownId }),
      ...(parentId === undefined ? {} : { parentId }),
      attachments: this.#attachments(),
      body: objectOf(Object.entries(body)),
    };
  }

  #errorsAt(...steps: string[]): ValidationErrors {
    return steps.reduce((errors, step) => errors.at(step), this.errors);
  }

  /** An optional text. */
  #optional(...steps: string[]): string | undefined {
    const found = valueOnPath(this.value, ...steps);
    return found === undefined || found === null ? undefined : this.#required(...steps);
  }

  /** A required text. */
  #required(...steps: string[]): string {
    const found = valueOnPath(this.value, ...steps);
    if (typeof found === "string" && found !== "" && found.length <= longestText) return found;
    if (found === undefined || found === null) this.#errorsAt(...steps).missing();
    else this.#errorsAt(...steps).invalid(`must be a string of 1 to ${longestText} characters`);
    return "";
  }

  /** An optional object. */
  #object(name: string): JsonObject | undefined {
    const found = this.value[name];
    if (found === undefined || found === null) return undefined;
    if (isObject(found)) return found;
    this.#errorsAt(name).invalid("must be an object");
    return undefined;
  }

  /** Sender and type, and whether this sender may send this type: specification §6. */
  #senderAndType(): Pick<ParsedMessage, "type" | "sender"> {
    const type = this.#required("type", "value");
    const word = this.#required("sender", "type");
    const sender = senderTypeOf(word, this.switches);
    if (!sender) {
      const words = senderTypes.map((each) => vendorWord(each, this.switches));
      if (textOnPath(this.value, "sender", "type"))
        this.#errorsAt("sender", "type").notAllowed(words);
      return { type, sender: senderTypes[0] };
    }
    const known = knownMessageTypes.includes(type);
    const allowed = known ? messageTypesOf(sender) : knownMessageTypes;
    if (textOnPath(this.value, "type", "value") && !allowed.includes(type))
      this.#errorsAt("type", "value").notAllowed(allowed);
    return { type, sender };
  }

  /** Only the form is checked: which types require content is not documented. */
  #checkContent(): void {
    const { content } = this.value;
    if (content === undefined || content === null || typeof content === "string") return;
    const errors = this.#errorsAt("content");
    if (!isObject(content)) errors.invalid("must be an object");
    else if (content.text !== undefined && typeof content.text !== "string")
      errors.at("text").invalid("must be a string");
  }

  #attachments(): readonly JsonObject[] {
    const holder = this.#object("attachments");
    if (!holder) return [];
    const { attachment: attachments } = holder;
    const errors = this.#errorsAt("attachments", "attachment");
    if (!Array.isArray(attachments) || !attachments.every(isObject)) {
      errors.invalid("must be a list of objects");
      return [];
    }
    attachments.forEach((attachment, place) => {
      if (!textOnPath(attachment, "url") && !textOnPath(attachment, "id"))
        errors.item(place).at("url").missing();
    });
    return attachments;
  }

  /** The conversation that the message continues, or starts. */
  #conversation(): Pick<ParsedMessage, "conversationId" | "start"> {
    const conversation = this.#object("conversation");
    if (!conversation) {
      if (isObject(this.value.conversation ?? {})) this.#errorsAt("conversation").missing();
      return {};
    }
    const conversationId = this.#optional("conversation", "id");
    return conversationId === undefined ? { start: this.#start(conversation) } : { conversationId };
  }

  /** Starting needs an account and a customer (public reference). */
  #start(conversation: JsonObject): ConversationStart {
    const channelType = this.#required("conversation", "account", "channel", "type");
    const address = this.#required("conversation", "account", "address");
    const { account: _account, id: _id, ...about } = conversation;
    const errors = this.#errorsAt("conversation", "customer");
    if (about.customer === undefined || about.customer === null) errors.missing();
    else if (!isObject(about.customer)) errors.invalid("must be an object");
    return {
      channelType,
      address,
      about: { account: { address, channel: { type: channelType } }, ...about },
    };
  }
}

/**
 * Parses the messages in a request. @throws HttpError 400 that names everything that breaks a rule
 */
export const parseMessages = (request: JsonObject, switches: Switches): ParsedMessage[] => {
  const all = new ValidationErrors();
  const errors = all.at("messages").at("message");
  const list = valueOnPath(request, "messages", "message");
  if (list === undefined || list === null) errors.missing();
  else if (!Array.isArray(list) || list.length === 0 || list.length > mostMessages)
    errors.invalid(`must be a list of 1 to ${mostMessages} messages`);
  all.assertNone();
  const parsed = (Array.isArray(list) ? list : []).flatMap((value: unknown, place) => {
    if (isObject(value)) return [new MessageParser(value, errors.item(place), switches).parse()];
    errors.item(place).invalid("must be an object");
    return [];
  });
  all.assertNone();
  return parsed;
};

/** The parts of a message that a channel may refuse to carry. */
interface CarriedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderType;
  readonly content: unknown;
  /** With the details of their assets. */
  readonly attachments: readonly JsonObject[];
}

type Restrictions = JsonObject;

const richPrefix = "richMessage.";

const textIn = (content: unknown): string =>
  typeof content === "string" ? content : (textOnPath(content, "text") ?? "");

const assertText = ({ maxTextLength }: Restrictions, { path, type, content }: CarriedMessage) => {
  if (type !== "text" || typeof maxTextLength !== "number") return;
  // Characters as people count them: one outside the Basic Multilingual Plane counts once.
  if ([...textIn(content)].length <= maxTextLength) return;
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

const extensionOf = (attachment: JsonObject): string | undefined => {
  const { name, url } = attachment;
  if (typeof name === "string") return extensionInName(name);
  return typeof url === "string" && URL.canParse(url)
    ? extensionInName(new URL(url).pathname.split("/").at(-1) ?? "")
    : undefined;
};

const isBlocked = (policy: JsonObject, attachment: JsonObject): boolean => {
  const extension = extensionOf(attachment);
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
    // Some callers give the size as text (public reference).
    if (typeof maxSize === "number" && Number(textOrNumber(attachment.size)) > maxSize)
      throw invalidAttribute(`${path}.size`, `must be at most ${maxSize} on this channel`);
    if (isBlocked(policy, attachment))
      throw invalidAttribute(path, "the channel does not accept files of this type");
  });
};

const textOrNumber = (value: unknown): string | number =>
  typeof value === "string" || typeof value === "number" ? value : 0;

/**
 * Checks a message against the channel's restrictions for its direction: from or to the customer.
 *
 * @throws HttpError 400-196 that names the restriction that the message breaks (assumed)
 */
export const assertCarried = (channel: StoredObject | undefined, message: CarriedMessage): void => {
  const direction = message.sender === "customer" ? "inbound" : "outbound";
  const restrictions = valueOnPath(channel, "restrictions", direction);
  if (!isObject(restrictions)) return;
  assertText(restrictions, message);
  assertFeature(restrictions, message);
  assertRichMessage(restrictions, message);
  assertAttachments(restrictions, message);
};
