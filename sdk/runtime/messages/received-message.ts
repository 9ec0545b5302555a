import { isObject, type JsonObject, parseJson } from "../../../provider/kernel/json.js";
import { type ReceivedContent, receivedContent } from "../assets/received-content.js";
import type { MessageType, SenderKind } from "./message-types.js";
import { senderKindOf } from "./sender-word.js";

/** Who takes part in a conversation, as the service tells it. */
export interface Party {
  /** One of the five kinds; other words occur too, such as `system`, or `user` in version v1. */
  readonly kind: SenderKind | "system" | "user" | (string & {});
  readonly name?: string;
}

/** A file that came with a message; only what the service told of it. */
export interface ReceivedAttachment {
  readonly name?: string;
  readonly contentType?: string;
  readonly size?: number;
  /** Where the content is. */
  readonly url?: string;
  /** The asset that holds the content: fetch it with `assets.download`. */
  readonly id?: string;
}

/** What every message has, whatever its type. What the service left out is missing. */
interface ReceivedFrame {
  /** The service's id of the message. */
  readonly id?: string;
  /** The sender's own id of the message. */
  readonly messageId?: string;
  readonly conversationId: string;
  readonly sender: Party;
  readonly recipients: readonly Party[];
  readonly text?: string;
  readonly redact?: boolean;
  readonly attachments: readonly ReceivedAttachment[];
  readonly attributes: Readonly<Record<string, string>>;
  /** `messageId` of the earlier message that this one is about. */
  readonly parent?: string;
  /** Such as `sent`. */
  readonly status?: string;
  readonly created?: Date;
  readonly sent?: Date;
  /** The service's own JSON. */
  readonly raw: JsonObject;
}

interface Received<T extends string> extends ReceivedFrame {
  readonly type: T;
  /**
   * The content where it is a JSON object, or a text that holds one; typed by the type of the
   * message. As the service wrote it: see `raw`.
   */
  readonly content?: ReceivedContent<T>;
}

/**
 * A message as it arrives at a callback or stands in a transcript: one shape for each type, told
 * apart by `type`. What the service left out is missing.
 */
export type ReceivedMessage<T extends string = MessageType | (string & {})> = T extends string
  ? Received<T>
  : never;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const memberOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

/** A list, also where it is boxed as `{ [box]: [ … ] }`; only its objects. */
export const objectsIn = (value: unknown, box: string): readonly JsonObject[] => {
  const list = isObject(value) ? memberOf(value, box) : value;
  return Array.isArray(list) ? list.filter(isObject) : [];
};

const given = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } => {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
};

/** ISO 8601, or milliseconds since 1970 as a number or its digits. */
const dateOf = (value: unknown): Date | undefined => {
  const isMs = typeof value === "number" || (typeof value === "string" && /^\d{1,16}$/.test(value));
  if (!isMs && typeof value !== "string") return undefined;
  const date = new Date(isMs ? Number(value) : value);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

const partyOf = (value: unknown, platformName: string): Party => {
  const name = textOf(memberOf(value, "participant", "name"));
  return {
    kind: senderKindOf(textOf(memberOf(value, "type")) ?? "unknown", platformName),
    ...(name === undefined ? {} : { name }),
  };
};

const objectIn = (text: string): JsonObject | undefined => {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Both forms of content: an object, or plain text, which holds JSON where it is no text message. */
const contentOf = (type: string, content: unknown) => {
  if (typeof content === "string") {
    const object = type === "text" ? undefined : objectIn(content);
    return object ? { content: receivedContent(type, object) } : given({ text: textOf(content) });
  }
  if (!isObject(content)) return {};
  const redact = memberOf(content, "redact");
  return {
    content: receivedContent(type, content),
    ...given({
      text: textOf(memberOf(content, "text")),
      redact: typeof redact === "boolean" ? redact : undefined,
    }),
  };
};

const attachmentOf = (wire: JsonObject): ReceivedAttachment => {
  // One sender is known to give the size as text.
  const told = memberOf(wire, "size");
  const size = typeof told === "string" || typeof told === "number" ? Number(told) : Number.NaN;
  return given({
    name: textOf(memberOf(wire, "name")),
    contentType: textOf(memberOf(wire, "contentType")),
    size: Number.isSafeInteger(size) ? size : undefined,
    url: textOf(memberOf(wire, "url")),
    id: textOf(memberOf(wire, "id")),
  });
};

const attributesOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    objectsIn(value, "attribute").flatMap((each) => {
      const [name, content] = [textOf(memberOf(each, "name")), memberOf(each, "value")];
      return name !== undefined && typeof content === "string" ? [[name, content]] : [];
    }),
  );

/**
 * A message of either version (public reference; v1 from a service of the same family).
 *
 * @param conversationId where the message itself does not tell it
 * @returns undefined where it is no message: no type, or no conversation
 */
export const receivedMessage = (
  wire: unknown,
  platformName: string,
  conversationId?: string,
): ReceivedMessage | undefined => {
  const type = textOf(memberOf(wire, "type", "value"));
  const conversation = textOf(memberOf(wire, "conversation", "id")) ?? conversationId;
  if (!isObject(wire) || type === undefined || conversation === undefined) return undefined;
  return {
    type,
    conversationId: conversation,
    sender: partyOf(memberOf(wire, "sender"), platformName),
    recipients: objectsIn(memberOf(wire, "recipients"), "recipient").map((each) =>
      partyOf(each, platformName),
    ),
    attachments: objectsIn(memberOf(wire, "attachments"), "attachment").map(attachmentOf),
    attributes: attributesOf(memberOf(wire, "attributes")),
    ...contentOf(type, memberOf(wire, "content")),
    ...given({
      id: textOf(memberOf(wire, "id")),
      messageId: textOf(memberOf(wire, "messageId")),
      parent: textOf(memberOf(wire, "parent", "messageId")),
      status: textOf(memberOf(wire, "status")),
      created: dateOf(memberOf(wire, "created")),
      sent: dateOf(memberOf(wire, "sent") ?? memberOf(wire, "timeStamp")),
    }),
    raw: wire,
  };
};
