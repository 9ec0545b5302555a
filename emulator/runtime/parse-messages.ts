import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { Findings } from "../control/findings.js";
import { travelling } from "../http/vendor-word.js";
import { textAt, valueAt } from "./json-path.js";
import {
  messageTypes,
  type SenderKind,
  senderKindOf,
  senderKinds,
  typesOf,
} from "./sender-rules.js";

/** What the first message of a conversation says of it. */
export interface Start {
  readonly channelType: string;
  readonly address: string;
  readonly about: JsonObject;
}

/** One message of a request that breaks no rule of form. */
export interface ParsedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderKind;
  readonly messageId?: string;
  /** Continue this one; left out: start one. */
  readonly conversationId?: string;
  readonly start?: Start;
  readonly parentId?: string;
  readonly attachments: readonly JsonObject[];
  /** What is kept of it and goes out again. */
  readonly body: JsonObject;
}

/** One call of the older generation carries up to so many messages (assumed here too). */
const mostMessages = 1_000;
const longestText = 255;

/** Says what is wrong with one part, below the path of its message. */
class Part {
  constructor(
    readonly value: JsonObject,
    readonly path: string,
    readonly findings: Findings,
  ) {}

  /** A text that must be there. */
  required(...steps: string[]): string {
    const found = valueAt(this.value, ...steps);
    const path = [this.path, ...steps].join(".");
    if (found === undefined || found === null) this.findings.missing(path);
    else if (typeof found !== "string" || found === "" || found.length > longestText)
      this.findings.invalid(path, `must be a text of 1 to ${longestText} characters`);
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
    this.findings.invalid(`${this.path}.${name}`, "must be an object");
    return undefined;
  }

  /** The objects of a list in a box of its own, such as `attachments.attachment`. */
  boxed(name: string, box: string): readonly JsonObject[] {
    const holder = this.object(name);
    if (!holder) return [];
    const items = holder[box];
    if (Array.isArray(items) && items.every(isObject)) return items;
    this.findings.invalid(`${this.path}.${name}.${box}`, "must be a list of objects");
    return [];
  }
}

/** Sender and type, and whether this sender may send this type: specification §6. */
const senderAndType = (part: Part, platformName: string) => {
  const type = part.required("type", "value");
  const word = part.required("sender", "type");
  const sender = senderKindOf(word, platformName);
  if (!sender) {
    const words = senderKinds.map((kind) => travelling(kind, platformName));
    if (textAt(part.value, "sender", "type"))
      part.findings.notAllowed(`${part.path}.sender.type`, words);
    return { type, sender: senderKinds[0] };
  }
  const known = messageTypes.includes(type);
  const allowed = known ? typesOf(sender) : messageTypes;
  if (textAt(part.value, "type", "value") && !allowed.includes(type))
    part.findings.notAllowed(`${part.path}.type.value`, allowed);
  return { type, sender };
};

/** A text has a text; what other types carry is open. */
const checkContent = (part: Part): void => {
  const { content } = part.value;
  if (content === undefined || content === null || typeof content === "string") return;
  if (!isObject(content)) part.findings.invalid(`${part.path}.content`, "must be an object");
  else if (content.text !== undefined && typeof content.text !== "string")
    part.findings.invalid(`${part.path}.content.text`, "must be a string");
};

const attachmentsOf = (part: Part): readonly JsonObject[] => {
  const attachments = part.boxed("attachments", "attachment");
  attachments.forEach((attachment, place) => {
    if (!textAt(attachment, "url") && !textAt(attachment, "id"))
      part.findings.missing(`${part.path}.attachments.attachment[${place}].url`);
  });
  return attachments;
};

/** Starting needs an account and a customer (public reference). */
const startOf = (part: Part, conversation: JsonObject): Start => {
  const channelType = part.required("conversation", "account", "channel", "type");
  const address = part.required("conversation", "account", "address");
  const { customer } = conversation;
  if (customer === undefined || customer === null)
    part.findings.missing(`${part.path}.conversation.customer`);
  else if (!isObject(customer))
    part.findings.invalid(`${part.path}.conversation.customer`, "must be an object");
  const { account: _account, id: _id, ...about } = conversation;
  return {
    channelType,
    address,
    about: { account: { address, channel: { type: channelType } }, ...about },
  };
};

const whereOf = (part: Part): Pick<ParsedMessage, "conversationId" | "start"> => {
  const conversation = part.object("conversation");
  if (!conversation) {
    if (!isObject(part.value.conversation ?? {})) return {};
    part.findings.missing(`${part.path}.conversation`);
    return {};
  }
  const conversationId = part.optional("conversation", "id");
  return conversationId === undefined ? { start: startOf(part, conversation) } : { conversationId };
};

const parentOf = (part: Part, type: string): string | undefined =>
  type === "delete.soft"
    ? part.required("parent", "messageId")
    : part.optional("parent", "messageId");

const messageOf = (part: Part, platformName: string): ParsedMessage => {
  const { type, sender } = senderAndType(part, platformName);
  checkContent(part);
  // The service says these itself.
  const { id, conversation, recipients, status, created, sent, messageId, ...body } = part.value;
  const parentId = parentOf(part, type);
  const ownId = part.optional("messageId");
  return {
    path: part.path,
    type,
    sender,
    ...whereOf(part),
    ...(ownId === undefined ? {} : { messageId: ownId }),
    ...(parentId === undefined ? {} : { parentId }),
    attachments: attachmentsOf(part),
    body: objectOf(Object.entries(body)),
  };
};

/**
 * The messages of a request.
 *
 * @throws Refusal 400 that names everything that breaks a rule
 */
export const parseMessages = (request: JsonObject, platformName: string): ParsedMessage[] => {
  const findings = new Findings();
  const list = valueAt(request, "messages", "message");
  if (list === undefined || list === null) findings.missing("messages.message");
  else if (!Array.isArray(list) || list.length === 0 || list.length > mostMessages)
    findings.invalid("messages.message", `must be a list of 1 to ${mostMessages} messages`);
  findings.assertNone();
  const parsed = (Array.isArray(list) ? list : []).flatMap((value: unknown, place) => {
    const path = `messages.message[${place}]`;
    if (isObject(value)) return [messageOf(new Part(value, path, findings), platformName)];
    findings.invalid(path, "must be an object");
    return [];
  });
  findings.assertNone();
  return parsed;
};
