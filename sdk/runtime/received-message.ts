import {
  isObject,
  type JsonObject,
  jsonIn,
  objectsIn,
  textAt,
  valueAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import { contentForms } from "../../provider/resources/message-fields.js";
import {
  type MessageType,
  type SenderKind,
  senderFromWire,
} from "../../provider/resources/message-types.js";

/** A party to a conversation, as the service describes it. */
export interface Party {
  /** One of the five sender kinds, or another value, such as `system`. */
  readonly kind: SenderKind | "system" | (string & {});
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
  /** URL of the content; in version v1, a relative path. */
  readonly url?: string;
  /** ID of the asset that contains the content. Download it with `assets.download`. */
  readonly id?: string;
}

/** What became of a message (vendor). */
export type MessageStatus = "sent" | "failed" | "retryInProgress" | "skipped" | "unsupported";

/**
 * A message that a callback received or a transcript contains. Members that the service omitted are
 * absent.
 */
export interface ReceivedMessage<T extends string = MessageType | (string & {})> {
  /** Message type, such as `text`. */
  readonly type: T;
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
  /**
   * The content, if the sender wrote text. A message has at most one of `text`, `html`, `json`, and
   * `xml` (vendor).
   */
  readonly text?: string;
  /** The content, if the sender wrote HTML, with whatever the sender put into it. */
  readonly html?: string;
  /** The content, if the sender wrote JSON: its text, even if it is invalid. */
  readonly json?: string;
  /** The object in `json`, if it contains one. `contentSchemas` checks what is known of some types. */
  readonly content?: JsonObject;
  /** The content, if the sender wrote XML. */
  readonly xml?: string;
  /** Whether transcripts hide the content. */
  readonly redact?: boolean;
  /** Attachments; empty if there are none. */
  readonly attachments: readonly ReceivedAttachment[];
  /** Attributes, keyed by name. Includes only those with string values. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The service's ID for the earlier message that this message refers to (vendor). */
  readonly parent?: string;
  /** The participant's intent that the message was found to express (vendor). */
  readonly intent?: string;
  /** Status of the message. Transcripts contain it; callbacks do not (vendor). */
  readonly status?: MessageStatus | (string & {});
  /** When the service accepted the message. */
  readonly created?: Date;
  /** When the service sent the message. */
  readonly sent?: Date;
  /** The service's own JSON for the message. */
  readonly raw: JsonObject;
}

/** ISO 8601, or with a blank for the `T`. A time without a zone is in GMT (vendor). */
export const readDate = (value: unknown): Date | undefined => {
  if (typeof value !== "string") return undefined;
  const hasZone = !/^[\d-]+[T ][\d:.]+$/.test(value);
  const date = new Date(hasZone ? value : `${value.replace(" ", "T")}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

const readParty = (value: unknown, platformName: string): Party => ({
  kind: senderFromWire(textAt(value, "type") ?? "unknown", platformName),
  ...withoutUndefined({ name: textAt(value, "participant", "name") }),
});

/** The form that a MIME type such as `application/json` names; another one is read as text. */
const findForm = (mimeType: string) => {
  const [essence = ""] = mimeType.toLowerCase().split(";");
  const subtype = essence.trim().split(/[/+]/).at(-1);
  return contentForms.find((form) => form === subtype) ?? "text";
};

/** Content as `{ json }` and the like. In version v1 it is `{ type: "application/json", value }`. */
const unwrapContent = (content: unknown): unknown => {
  const mimeType = textAt(content, "type");
  return mimeType === undefined ? content : { [findForm(mimeType)]: valueAt(content, "value") };
};

const readContent = (content: unknown) => {
  const written = unwrapContent(content);
  const json = textAt(written, "json");
  const object = jsonIn(json ?? "");
  const redact = valueAt(content, "redact");
  return withoutUndefined({
    text: textAt(written, "text"),
    html: textAt(written, "html"),
    json,
    xml: textAt(written, "xml"),
    content: isObject(object) ? object : undefined,
    redact: typeof redact === "boolean" ? redact : undefined,
  });
};

const readAttachment = (wire: JsonObject): ReceivedAttachment => {
  const size = valueAt(wire, "size");
  return withoutUndefined({
    name: textAt(wire, "name"),
    contentType: textAt(wire, "contentType") ?? textAt(wire, "mimeType"),
    size: typeof size === "number" && Number.isSafeInteger(size) ? size : undefined,
    url: textAt(wire, "url"),
    id: textAt(wire, "id"),
  });
};

const readAttributes = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    objectsIn(value, "attribute").flatMap((each) => {
      const [name, content] = [textAt(each, "name"), valueAt(each, "value")];
      return name !== undefined && typeof content === "string" ? [[name, content]] : [];
    }),
  );

/**
 * Reads a message in version v3 or v1 (vendor). The versions differ in content, attachments, and
 * times.
 *
 * @param conversationId used if the message itself does not contain one
 * @returns undefined if it is not a message: without a type, or without a conversation
 */
export const readReceivedMessage = (
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
    sender: readParty(valueAt(wire, "sender"), platformName),
    recipients: objectsIn(valueAt(wire, "recipients"), "recipient").map((each) =>
      readParty(each, platformName),
    ),
    attachments: objectsIn(valueAt(wire, "attachments"), "attachment").map(readAttachment),
    attributes: readAttributes(valueAt(wire, "attributes")),
    ...readContent(valueAt(wire, "content")),
    ...withoutUndefined({
      id: textAt(wire, "id"),
      messageId: textAt(wire, "messageId"),
      parent: textAt(wire, "parent", "id"),
      intent: textAt(wire, "intent", "value"),
      status: textAt(wire, "status"),
      created: readDate(valueAt(wire, "created")),
      sent: readDate(valueAt(wire, "sent")),
    }),
    raw: wire,
  };
};

/**
 * Reads the messages in the body of a callback.
 *
 * @returns with the number of entries that are no messages; undefined if it has no list of them
 */
export const readReceivedMessages = (
  body: unknown,
  platformName: string,
): { messages: readonly ReceivedMessage[]; unreadable: number } | undefined => {
  const list = valueAt(body, "messages", "message");
  if (!Array.isArray(list)) return undefined;
  const messages = list.flatMap((entry) => readReceivedMessage(entry, platformName) ?? []);
  return { messages, unreadable: list.length - messages.length };
};
