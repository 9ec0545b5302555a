import { z } from "zod";
import { isKeyOf, type JsonObject } from "../../provider/kernel/json.js";
import type {
  contactSubTypes,
  contactTypes,
  contactWords,
} from "../../provider/resources/message-fields.js";
import {
  type FurtherMessageType,
  isOwnMessageType,
  type MessageType,
  type MessageTypesOf,
  type OwnMessageType,
  type SenderKind,
  type SendersOf,
} from "../../provider/resources/message-types.js";
import { jsonObject, jsonValue } from "./input-schemas.js";

const notEmpty = "must not be empty";

const words = z.string().min(1, notEmpty);

/** A file at a URL (vendor). */
export interface LocatedFile {
  /** File name with its extension. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Where the recipient fetches the content: http or https. */
  readonly url: string;
  /** Such as `image/png`. */
  readonly contentType?: string | undefined;
}

/**
 * A file to attach to a message (vendor): an asset, such as the result of `assets.upload`, or a file
 * at a URL. Of an attachment that has an `id`, only this is sent.
 */
export type Attachment = { readonly id: string } | LocatedFile;

/**
 * An earlier message (vendor): the service's ID for it, or an object with this `id`, such as a
 * received message. Its `messageId` alone is not enough.
 */
export type MessageReference =
  | string
  | { readonly id: string; readonly messageId?: string | undefined };

const listItem = z.strictObject({
  /** Identifies the item in the customer's choice. */
  id: words,
  title: z.string(),
  subtitle: z.string().optional(),
  /** Actions of the item. Default: one `{ type: "postback" }`. */
  actions: z
    .array(z.object({ type: z.string() }).catchall(jsonValue))
    .readonly()
    .default([{ type: "postback" }]),
});

const listSection = z.strictObject({
  title: z.string(),
  /** Position of the section, from 0. Default: its position in the list. */
  order: z.int().optional(),
  /** Default: false. */
  multipleSelection: z.boolean().default(false),
  items: z.array(listItem).min(1, notEmpty).readonly(),
});

const listPicker = z.strictObject({
  /** Default: `list`, the only value. */
  type: z.literal("list").default("list"),
  /** Default: `1`. */
  version: z.string().default("1"),
  title: z.string(),
  subtitle: z.string().optional(),
  list: z.strictObject({
    /** Default: false. */
    multipleSelection: z.boolean().default(false),
    sections: z
      .array(listSection)
      .min(1, notEmpty)
      .transform((sections) => sections.map((section, order) => ({ order, ...section })))
      .readonly(),
  }),
});

/**
 * The content of a `richMessage.listpicker` message (from a public reference). How the customer's choice arrives is not documented: with the emulator,
 * it is whatever the customer sends, such as a text message.
 */
export type ListPicker = Readonly<z.input<typeof listPicker>>;

const richLink = z.strictObject({
  /** Default: `web_url`, the only value. */
  type: z.literal("web_url").default("web_url"),
  /** Default: `1`. */
  version: z.string().default("1"),
  /** The `imageid` of the image to show. */
  imageid: z.string(),
  images: z
    .array(
      z.strictObject({
        imageid: z.string(),
        title: z.string().optional(),
        /** URL of the image. */
        url: z.url(),
        /** URL that the image links to. */
        link: z.url().optional(),
        mimeType: z.string().optional(),
        style: z.string().optional(),
      }),
    )
    .min(1, notEmpty)
    .readonly(),
});

/** The content of a `richMessage.richlink` message (from a public reference). */
export type RichLink = Readonly<z.input<typeof richLink>>;

const conversationState = z.strictObject({
  /** Status; the only known value is `escalated`. */
  status: words,
  /** Default: empty. */
  content: z.string().default(""),
});

/** The content of a `conversation.state` message (from a public reference). */
export type ConversationState = Readonly<z.input<typeof conversationState>>;

/**
 * The content of the types whose JSON is known (from a public reference): what a program sends. The
 * output of these schemas has the defaults.
 */
export const contentSchemas = {
  "richMessage.listpicker": listPicker,
  "richMessage.richlink": richLink,
  "conversation.state": conversationState,
} as const;

/** A way to reach a customer (vendor). */
export interface Contact {
  /** What the address is. */
  readonly type: (typeof contactTypes)[number];
  /** What sort of phone it is. */
  readonly subType?: (typeof contactSubTypes)[number] | undefined;
  /** Such as a phone number: 1 to 255 characters. */
  readonly address: string;
}

/** The customer of a conversation (vendor). */
export interface Customer {
  /** 1 to 255 characters. */
  readonly name?: string | undefined;
  /** Default: `individual`, the only type. */
  readonly type?: "individual" | undefined;
  /** Up to 10, keyed by name, each value of 1 to 1,023 characters. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** 1 to 25 contacts. */
  readonly contacts?: readonly Contact[] | undefined;
}

/** A type of contact, such as `email` or `phone.mobile` (vendor). */
type ContactWord = (typeof contactWords)[number];

/** The agent to transfer a conversation to (vendor): the `id`, the `userName`, or both. */
export interface PreferredAgent {
  /** The service's ID for the agent. */
  readonly id?: string | undefined;
  /** 1 to 255 characters. */
  readonly userName?: string | undefined;
}

/** The members of which each type of message has some (vendor). */
interface BodyMembers {
  /** The content as text. A message has at most one of `text`, `html`, `content`, and `xml`. */
  readonly text?: string | undefined;
  /** The content as HTML. */
  readonly html?: string | undefined;
  /** The content as an object, which is sent as JSON text. */
  readonly content?: JsonObject | undefined;
  /** The content as XML. */
  readonly xml?: string | undefined;
  /** Hides the content from transcripts. */
  readonly redact?: boolean | undefined;
  readonly parent?: MessageReference | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly customer?: Customer | undefined;
  /** Which contact identifies the customer. */
  readonly lookupContact?: ContactWord | undefined;
  /** Which contact the conversation uses. */
  readonly conversationContact?: ContactWord | undefined;
  readonly preferredAgent?: PreferredAgent | undefined;
}

const json = ["content", "redact", "parent"] as const;

/** What a message can hold of which only the forms of content are documented (vendor). */
const open = ["text", "html", ...json] as const;

/** What a message of one's own type can hold (vendor). */
const own = [...open, "xml", "attachments"] as const;

/** The types with other members: rich messages hold `json`, and all the rest what is `open` (vendor). */
const bodyMembers = {
  text: ["text", "html", "attachments", "redact", "parent"],
  "typing.start": [],
  "typing.end": [],
  "customer.info": [...open, "customer", "lookupContact", "conversationContact"],
  error: json,
  "escalation.transfer": [...open, "preferredAgent"],
  "conversation.state": json,
  "delete.soft": ["parent"],
  "delete.permanent": ["parent"],
  undo: ["parent"],
} as const satisfies Readonly<Partial<Record<MessageType, readonly (keyof BodyMembers)[]>>>;

type HasOwnMembers = keyof typeof bodyMembers;

type NamesOf<T extends MessageType> = T extends HasOwnMembers
  ? (typeof bodyMembers)[T][number]
  : T extends `richMessage.${string}`
    ? (typeof json)[number]
    : (typeof open)[number];

/** A type whose JSON is known. */
type TypedContent = keyof typeof contentSchemas;

/**
 * A text message holds a text or HTML, attachments, or both. The compiler compares a message that lacks
 * something else, such as its sender, with the last of these.
 */
type Filled =
  | { readonly attachments: readonly Attachment[] }
  | { readonly html: string; readonly text?: undefined }
  | { readonly text: string; readonly html?: undefined };

/** The members that messages of some types must have. */
type NeededMembers<T extends MessageType> = T extends TypedContent
  ? { readonly content: Readonly<z.input<(typeof contentSchemas)[T]>> }
  : T extends "delete.soft"
    ? { readonly parent: MessageReference }
    : T extends "text"
      ? Filled
      : unknown;

/** The members of a message of type `T`, in addition to those that all messages have. */
export type BodyOf<T extends MessageType> = Pick<
  BodyMembers,
  Exclude<NamesOf<T>, T extends TypedContent ? "content" : never>
> &
  NeededMembers<T>;

/** An account, identified with its channel's type and its address, not with its ID. */
interface AccountReference {
  readonly channel: string;
  readonly address: string;
}

/** The parameters for starting a conversation (vendor). */
export interface NewConversation {
  /** The account that the customer writes to. */
  readonly account: AccountReference;
  /** Default: a customer of whom nothing is known. */
  readonly customer?: Customer | undefined;
  /** ID of the entry point, such as `1007`. */
  readonly entryPoint?: string | undefined;
  /** The customer's client; `timeOffset` is in minutes from GMT (the unit is assumed). */
  readonly clientInfo?:
    | {
        readonly timeOffset?: number | undefined;
        readonly referrerName?: string | undefined;
        readonly referrerUrl?: string | undefined;
      }
    | undefined;
  /** Which contact identifies the customer, such as `email` or `phone.mobile`. */
  readonly lookupContact?: ContactWord | undefined;
  /** Which contact the conversation uses. */
  readonly conversationContact?: ContactWord | undefined;
}

/** The parameters for starting a survey about a conversation (vendor). */
export interface SurveyConversation extends Omit<NewConversation, "account"> {
  /** ID of the conversation that the survey is about. */
  readonly survey: string;
  /** Default: the account of that conversation (assumed). */
  readonly account?: AccountReference | undefined;
}

/** Where an agent becomes available or unavailable (vendor): only the ID of an entry point. */
export interface Availability {
  /** ID of the entry point, such as `1007`. */
  readonly entryPoint: string;
}

/** The types of messages that belong to an entry point, not to a conversation (vendor). */
type AvailabilityType = "agent.available" | "agent.unavailable";

/**
 * An existing conversation: its ID, or an object with a `conversationId`, such as a received
 * message.
 */
export type ConversationReference = string | { readonly conversationId: string };

type AnyConversation = ConversationReference | NewConversation | SurveyConversation;

/** A value of an attribute, if there is more to say than the value. */
interface AttributeValue {
  readonly value: string;
  /** Default: true. */
  readonly external?: boolean | undefined;
  /** What the attribute describes. */
  readonly object?: "activity" | "customer" | undefined;
}

/** The members that every message has in addition to its type, sender, conversation, and body. */
export interface MessageFrame {
  /** The sender's own ID for the message. */
  readonly messageId?: string | undefined;
  /** Up to 75, keyed by name, each value of 1 to 2,048 characters (vendor). */
  readonly attributes?: Readonly<Record<string, string | AttributeValue>> | undefined;
}

const common = ["type", "sender", "conversation", "messageId", "attributes"] as const;

const listMembers = (type: string): readonly string[] => {
  if (isKeyOf(bodyMembers, type)) return bodyMembers[type];
  if (type.startsWith("richMessage.")) return json;
  return isOwnMessageType(type) ? own : open;
};

/** What the JSON of a type has in it; undefined if that is not known. */
const contentSchemaOf = (type: string): z.ZodObject | undefined =>
  isKeyOf(contentSchemas, type) ? contentSchemas[type] : undefined;

/** The schema of a message: which members it has, and those that `message-fields.ts` leaves open. */
export const schemaFor = (type: string): z.ZodType<JsonObject> => {
  const members = [...common, ...listMembers(type)];
  const content = contentSchemaOf(type) ?? jsonObject.optional();
  return z.strictObject({
    ...Object.fromEntries(members.map((name) => [name, z.unknown().optional()])),
    ...(members.includes("content") ? { content } : {}),
  });
};

/** A message's sender: its kind and, optionally, its display name. */
export type Sender<K extends SenderKind = SenderKind> =
  | K
  | { readonly kind: K; readonly name?: string | undefined };

/** The conversation that a message of type `T` continues or starts. */
type ConversationOf<T extends MessageType> = T extends AvailabilityType
  ? Availability
  : AnyConversation;

/**
 * A message of type `T` from a sender of kind `K`. The kinds are spelled out, so that a compiler
 * error about a wrong kind lists the valid ones rather than the types that contain them.
 */
export type MessageOf<T extends MessageType, K extends SenderKind = SendersOf<T>> = MessageFrame & {
  readonly type: T;
  readonly conversation: ConversationOf<T>;
  readonly sender:
    | { [S in K]: S }[K]
    | { readonly kind: { [S in K]: S }[K]; readonly name?: string | undefined };
} & BodyOf<T>;

/**
 * A message to send. Its type determines which kinds of senders may send it (specification §6) and
 * which members its body has.
 */
export type Message = { [T in MessageType]: MessageOf<T> }[MessageType];

/** A message that a sender of kind `K` may send. */
export type MessageFrom<K extends SenderKind> = {
  [T in MessageTypesOf<K>]: MessageOf<T, K>;
}[MessageTypesOf<K>];

/**
 * A message of a type that the specification does not list: one of your own (`custom.*`), or one
 * that only the vendor lists. Any kind of sender can send it (assumed).
 */
export type OtherMessage = MessageFrame & {
  readonly sender: Sender;
  readonly conversation: AnyConversation;
} & (
    | ({ readonly type: OwnMessageType } & Pick<BodyMembers, (typeof own)[number]>)
    | ({ readonly type: FurtherMessageType } & Pick<BodyMembers, (typeof open)[number]>)
  );

type InConversation = Exclude<Message | OtherMessage, { readonly type: AvailabilityType }>;

type WithoutConversation<M> = M extends unknown ? Omit<M, "conversation"> : never;

/** A message without its conversation, which is a separate argument. */
export type Reply = WithoutConversation<InConversation>;

/** A message that starts a conversation. */
export type FirstMessage = InConversation & {
  readonly conversation: NewConversation | SurveyConversation;
};
