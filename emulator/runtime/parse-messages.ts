import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { type Switches, vendorWord } from "../control/switches.js";
import { ValidationErrors } from "../http/validation-errors.js";
import { textOnPath, valueOnPath } from "./json-path.js";
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

/** One message of a request: reads its members and says what is wrong with them. */
class MessageParser {
  constructor(
    private readonly value: JsonObject,
    private readonly errors: ValidationErrors,
    private readonly switches: Switches,
  ) {}

  parse(): ParsedMessage {
    const { type, sender } = this.#senderAndType();
    this.#checkContent();
    // The service says these itself.
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

  /** A text that may be there. */
  #optional(...steps: string[]): string | undefined {
    const found = valueOnPath(this.value, ...steps);
    return found === undefined || found === null ? undefined : this.#required(...steps);
  }

  /** A text that must be there. */
  #required(...steps: string[]): string {
    const found = valueOnPath(this.value, ...steps);
    if (typeof found === "string" && found !== "" && found.length <= longestText) return found;
    if (found === undefined || found === null) this.#errorsAt(...steps).missing();
    else this.#errorsAt(...steps).invalid(`must be a text of 1 to ${longestText} characters`);
    return "";
  }

  /** An object that may be there. */
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

  /** A text has a text; what other types carry is open. */
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

/** The messages of a request. @throws HttpError 400 that names everything that breaks a rule */
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
