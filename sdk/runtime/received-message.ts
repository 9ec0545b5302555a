import { z } from "zod";
import {
  isObject,
  type JsonObject,
  jsonIn,
  objectsIn,
  textAt,
  valueAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import {
  isMessageType,
  type MessageType,
  type SenderKind,
  senderFromWire,
} from "../../provider/resources/message-types.js";
import { messageBodies } from "./message.js";

/** The same members at every depth, each of which may be missing. */
type Lenient<T> = T extends readonly (infer E)[]
  ? readonly Lenient<E>[]
  : T extends object
    ? {
        readonly [K in keyof T as string extends K ? never : K]?: Lenient<T[K]> | undefined;
      } & JsonObject
    : T;

type Input<T extends MessageType> = z.input<(typeof messageBodies)[T]>;

type Sent<T extends MessageType> =
  Input<T> extends { readonly content: infer C } ? Lenient<C> : JsonObject;

/**
 * The content of a received message of type `T`. It contains the members of a sent message of that
 * type, if the service passed them on with the right type, and any members that the service added.
 */
export type ReceivedContent<T extends string> = T extends "text"
  ? { readonly text?: string | undefined; readonly redact?: boolean | undefined } & JsonObject
  : T extends MessageType
    ? Sent<T>
    : JsonObject;

/** What is sent in this place, but each member may be missing; one of another type counts as missing. */
const lenient = (schema: unknown): z.ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly) {
    return lenient(schema.unwrap());
  }
  if (schema instanceof z.ZodArray) return z.array(lenient(schema.element));
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).map(
      ([name, member]) => [name, lenient(member).optional().catch(undefined)] as const,
    );
    return z.looseObject(Object.fromEntries(members));
  }
  if (schema instanceof z.ZodBoolean) return z.boolean();
  // Whole numbers and addresses are rules for those who send.
  return schema instanceof z.ZodNumber ? z.number() : z.string();
};

const { text, redact } = messageBodies.text.shape;

const schemaOf = (type: MessageType): z.ZodType | undefined => {
  if (type === "text") return lenient(z.object({ text, redact }));
  const shape: Readonly<Record<string, unknown>> = messageBodies[type].shape;
  const { content } = shape;
  return content instanceof z.ZodObject ? lenient(content) : undefined;
};

const schemas = new Map<MessageType, z.ZodType | undefined>();

/** A content as its type has it; what no document shows comes as it is. */
const receivedContent = (type: string, content: JsonObject): JsonObject => {
  if (!isMessageType(type)) return content;
  if (!schemas.has(type)) schemas.set(type, schemaOf(type));
  const { data } = schemas.get(type)?.safeParse(content) ?? {};
  return isObject(data) ? data : content;
};

/** A party to a conversation, as the service describes it. */
export interface Party {
  /** One of the five sender kinds, or another value, such as `system` or (in version v1) `user`. */
  readonly kind: SenderKind | "system" | "user" | (string & {});
  /** The display name. */
  readonly name?: string;
}

/** A file attached to a message. Members that the service omitted are absent. */
export interface ReceivedAttachment {
  /** File name. */
  readonly name?: string;
  /** Content type, such as `image/png`. */
  readonly contentType?: string;
  /** Size in bytes. */
  readonly size?: number;
  /** URL of the content. */
  readonly url?: string;
  /** ID of the asset that contains the content. Download it with `assets.download`. */
  readonly id?: string;
}

/** Members of every message, regardless of type. Members that the service omitted are absent. */
interface ReceivedFrame {
  /** The service's ID for the message. */
  readonly id?: string;
  /** The sender's own ID for the message. */
  readonly messageId?: string;
  /** The service's ID for the conversation. */
  readonly conversationId: string;
  /** The sender of the message. */
  readonly sender: Party;
  /** The recipients of the message. */
  readonly recipients: readonly Party[];
  /** The text that the sender wrote. */
  readonly text?: string;
  /** Whether transcripts hide the text. */
  readonly redact?: boolean;
  /** Attachments; empty if there are none. */
  readonly attachments: readonly ReceivedAttachment[];
  /** Attributes, keyed by name. Includes only those with string values. */
  readonly attributes: Readonly<Record<string, string>>;
  /** `messageId` of the earlier message that this message refers to. */
  readonly parent?: string;
  /** Status of the message, such as `sent`. */
  readonly status?: string;
  /** When the service accepted the message. */
  readonly created?: Date;
  /** When the service sent the message. */
  readonly sent?: Date;
  /** The service's own JSON for the message. */
  readonly raw: JsonObject;
}

interface Received<T extends string> extends ReceivedFrame {
  /** Message type, such as `text`. */
  readonly type: T;
  /**
   * The content, if it is a JSON object or a string that contains one. Its type depends on the
   * message type. For the content as the service wrote it, see `raw`.
   */
  readonly content?: ReceivedContent<T>;
}

/**
 * A message that a callback received or a transcript contains, with a separate shape for each
 * `type`. Members that the service omitted are absent.
 */
export type ReceivedMessage<T extends string = MessageType | (string & {})> = T extends string
  ? Received<T>
  : never;

/** ISO 8601, or milliseconds since 1970 as a number or its digits. */
const dateOf = (value: unknown): Date | undefined => {
  const isMs = typeof value === "number" || (typeof value === "string" && /^\d{1,16}$/.test(value));
  if (!isMs && typeof value !== "string") return undefined;
  const date = new Date(isMs ? Number(value) : value);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

const partyOf = (value: unknown, platformName: string): Party => ({
  kind: senderFromWire(textAt(value, "type") ?? "unknown", platformName),
  ...withoutUndefined({ name: textAt(value, "participant", "name") }),
});

const objectIn = (text: string): JsonObject | undefined => {
  const value = text.trimStart().startsWith("{") ? jsonIn(text) : undefined;
  return isObject(value) ? value : undefined;
};

/** Both forms of content: an object, or plain text, which holds JSON if it is no text message. */
const contentOf = (type: string, content: unknown) => {
  if (typeof content === "string") {
    const object = type === "text" ? undefined : objectIn(content);
    if (object) return { content: receivedContent(type, object) };
    return content === "" ? {} : { text: content };
  }
  if (!isObject(content)) return {};
  const json = textAt(content, "json");
  const object = json === undefined ? undefined : objectIn(json);
  const redact = valueAt(content, "redact");
  return {
    content: receivedContent(type, object ?? content),
    ...withoutUndefined({
      text: textAt(content, "text"),
      redact: typeof redact === "boolean" ? redact : undefined,
    }),
  };
};

const attachmentOf = (wire: JsonObject): ReceivedAttachment => {
  // One sender is known to give the size as text.
  const stated = valueAt(wire, "size");
  const size =
    typeof stated === "string" || typeof stated === "number" ? Number(stated) : Number.NaN;
  return withoutUndefined({
    name: textAt(wire, "name"),
    contentType: textAt(wire, "contentType"),
    size: Number.isSafeInteger(size) ? size : undefined,
    url: textAt(wire, "url"),
    id: textAt(wire, "id"),
  });
};

const attributesOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    objectsIn(value, "attribute").flatMap((each) => {
      const [name, content] = [textAt(each, "name"), valueAt(each, "value")];
      return name !== undefined && typeof content === "string" ? [[name, content]] : [];
    }),
  );

/**
 * Reads a message in version v3 (public reference) or v1 (from a service in the same family).
 *
 * @param conversationId used if the message itself does not contain one
 * @returns undefined if it is not a message: without a type, or without a conversation
 */
export const receivedMessage = (
  wire: unknown,
  platformName: string,
  conversationId?: string,
): ReceivedMessage | undefined => {
  const type = textAt(wire, "type", "value");
  const conversation = textAt(wire, "conversation", "id") ?? conversationId;
  if (!isObject(wire) || type === undefined || conversation === undefined) return undefined;
  return {
    type,
    conversationId: conversation,
    sender: partyOf(valueAt(wire, "sender"), platformName),
    recipients: objectsIn(valueAt(wire, "recipients"), "recipient").map((each) =>
      partyOf(each, platformName),
    ),
    attachments: objectsIn(valueAt(wire, "attachments"), "attachment").map(attachmentOf),
    attributes: attributesOf(valueAt(wire, "attributes")),
    ...contentOf(type, valueAt(wire, "content")),
    ...withoutUndefined({
      id: textAt(wire, "id"),
      messageId: textAt(wire, "messageId"),
      parent: textAt(wire, "parent", "messageId"),
      status: textAt(wire, "status"),
      created: dateOf(valueAt(wire, "created")),
      sent: dateOf(valueAt(wire, "sent") ?? valueAt(wire, "timeStamp")),
    }),
    raw: wire,
  };
};

/** What the body of a callback holds. */
interface ReceivedMessages {
  readonly messages: readonly ReceivedMessage[];
  /** Entries that are no messages. */
  readonly unreadable: number;
}

/**
 * Reads the messages in the body of a callback: `messages.message` in version v3, or `message` at
 * the top level in version v1.
 *
 * @returns undefined if it has no list of messages in either version
 */
export const receivedMessages = (
  body: unknown,
  platformName: string,
): ReceivedMessages | undefined => {
  const list = valueAt(body, "messages", "message") ?? valueAt(body, "message");
  if (!Array.isArray(list)) return undefined;
  const messages = list.flatMap((entry) => receivedMessage(entry, platformName) ?? []);
  return { messages, unreadable: list.length - messages.length };
};
