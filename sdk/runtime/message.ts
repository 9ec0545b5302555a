import { z } from "zod";
import type {
  MessageType,
  MessageTypesOf,
  SenderKind,
  SendersOf,
} from "../../provider/service/message-types.js";
import { jsonObject } from "./input-schemas.js";

const notEmpty = "must not be empty";

const attachment = z
  .strictObject({
    /** File name with its extension. */
    name: z.string().min(1, notEmpty),
    /** Such as `image/png`. */
    contentType: z.string().min(1, notEmpty),
    /** Size in bytes. */
    size: z.int().nonnegative(),
    /** Where the recipient fetches the content. */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** The asset that contains the content, in place of an address (assumed). */
    id: z.string().min(1, notEmpty).optional(),
  })
  .refine(({ url, id }) => url !== undefined || id !== undefined, {
    message: 'needs "url" or "id"',
  });

type Located = { readonly url: string } | { readonly id: string };

/**
 * A file to attach to a text message: a file at a URL (public reference), or the result of
 * `assets.upload` (attaching an asset by its ID is assumed to work).
 */
export type Attachment = Readonly<z.input<typeof attachment>> & Located;

const listItem = z.strictObject({
  /** Identifies the item in the customer's choice. */
  id: z.string().min(1, notEmpty),
  title: z.string(),
  subtitle: z.string().optional(),
  /** Actions of the item. Default: one `{ type: "postback" }`. */
  actions: z
    .array(z.looseObject({ type: z.string() }))
    .readonly()
    .optional(),
});

const listSection = z.strictObject({
  title: z.string(),
  /** Position of the section, from 0. Default: its position in the list. */
  order: z.int().optional(),
  /** Default: false. */
  multipleSelection: z.boolean().optional(),
  items: z.array(listItem).min(1, notEmpty).readonly(),
});

const listPicker = z.strictObject({
  /** Default: `1`. */
  version: z.string().optional(),
  title: z.string(),
  subtitle: z.string().optional(),
  list: z.strictObject({
    /** Default: false. */
    multipleSelection: z.boolean().optional(),
    sections: z.array(listSection).min(1, notEmpty).readonly(),
  }),
});

/**
 * The content of a `richMessage.listpicker` message, without its `type`, which the client adds
 * (from a public reference). How the customer's choice arrives is not documented: with the emulator,
 * it is whatever the customer sends, such as a text message.
 */
export type ListPicker = Readonly<z.input<typeof listPicker>>;

const richLink = z.strictObject({
  /** Default: `1`. */
  version: z.string().optional(),
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

/**
 * The content of a `richMessage.richlink` message, without its `type`, which the client adds (from a
 * public reference).
 */
export type RichLink = Readonly<z.input<typeof richLink>>;

const conversationState = z.strictObject({
  /** Status; the only known value is `escalated`. */
  status: z.string().min(1, notEmpty),
  /** Default: empty. */
  content: z.string().optional(),
});

/** The content of a `conversation.state` message (from a public reference). */
export type ConversationState = Readonly<z.input<typeof conversationState>>;

const textBody = z
  .strictObject({
    text: z.string().min(1, notEmpty).optional(),
    redact: z.boolean().optional(),
    attachments: z.array(attachment).min(1, notEmpty).readonly().optional(),
  })
  .refine(({ text, attachments }) => text !== undefined || attachments !== undefined, {
    message: "needs text, attachments, or both",
  });

const nothing = z.strictObject({});
const parent = z.string().min(1, notEmpty);
const openBody = z.strictObject({ content: jsonObject.optional() });

/** What is known about the body of a message type. */
interface Body {
  /** The members of a message of this type beside those that all messages have. */
  readonly schema: z.ZodType<Readonly<Record<string, unknown>>>;
  /** `public`: seen in examples of public references. `assumed`: no document shows it. */
  readonly basis: "public" | "assumed";
  readonly doc: string;
}

const unseen = {
  schema: openBody,
  basis: "assumed",
  doc: "Not documented. Can have `content` (any JSON object).",
} as const satisfies Body;

const unseenAboutMessage = {
  schema: z.strictObject({ content: jsonObject.optional(), parent: parent.optional() }),
  basis: "assumed",
  doc: "Not documented. Can have `content` (any JSON object) and `parent` (the `messageId` of an earlier message).",
} as const satisfies Body;

const typing = { schema: nothing, basis: "public", doc: "No content." } as const satisfies Body;

/** Each message type's body: its schema, its description, and how certain its format is. */
export const messageBodies = {
  text: {
    schema: textBody,
    basis: "public",
    doc: "`text`, `attachments`, or both; `redact` hides the text from transcripts.",
  },
  "typing.start": typing,
  "typing.end": typing,
  "customer.info": unseen,
  error: unseen,
  "conversation.end": unseen,
  "escalation.transfer": unseen,
  pagePush: unseen,
  "richMessage.listpicker": {
    schema: z.strictObject({ content: listPicker }),
    basis: "public",
    doc: "`content`: sections with items to choose from.",
  },
  "richMessage.quickreply": unseen,
  "richMessage.template": unseen,
  "richMessage.timepicker": unseen,
  "richMessage.richlink": {
    schema: z.strictObject({ content: richLink }),
    basis: "public",
    doc: "`content`: pictures that link to a URL.",
  },
  "richMessage.form": unseen,
  "richMessage.payment": unseen,
  "richMessage.app": unseen,
  "richMessage.authentication": unseen,
  "conversation.state": {
    schema: z.strictObject({ content: conversationState }),
    basis: "public",
    doc: "`content.status`, such as `escalated`.",
  },
  "agent.join": unseen,
  "agent.available": unseen,
  "agent.unavailable": unseen,
  "agent.transfer": unseen,
  "queue.transfer": unseen,
  "authentication.success": unseen,
  "authentication.failure": unseen,
  "customer.active": unseen,
  "customer.inactive": unseen,
  "delete.soft": {
    schema: z.strictObject({ parent }),
    basis: "public",
    doc: "`parent`: the `messageId` of the message to delete.",
  },
  "delete.permanent": unseenAboutMessage,
  undo: unseenAboutMessage,
} as const satisfies Readonly<Record<MessageType, Body>>;

type Input<T extends MessageType> = z.input<(typeof messageBodies)[T]["schema"]>;

/** Without the index signature of an object that has no members. */
type Members<O> = { readonly [K in keyof O as string extends K ? never : K]: O[K] };

/**
 * A text message holds a text, attachments, or both. The compiler compares a message that lacks
 * something else, such as its sender, with the last of these.
 */
type Filled =
  | { readonly attachments: readonly Attachment[] }
  | { readonly text: string; readonly attachments?: readonly Attachment[] | undefined };

/** The members of a message of type `T`, in addition to those that all messages have. */
export type BodyOf<T extends MessageType> = Members<Input<T>> &
  (T extends "text" ? Filled : unknown);

const words = z.string().min(1, notEmpty);

const contact = z.strictObject({
  /** Type of contact; known values are `phone` and `email`. */
  type: words,
  /** Subtype of the contact, such as `mobile`. */
  subType: words.optional(),
  address: words,
});

/** A way to reach a customer (from a public reference). */
export type Contact = Readonly<z.input<typeof contact>>;

const customer = z.strictObject({
  name: words.optional(),
  /** Default: `individual`. */
  type: words.optional(),
  attributes: z.record(z.string(), z.string()).readonly().optional(),
  contacts: z.array(contact).readonly().optional(),
});

/** The customer in a new conversation (from a public reference). */
export type Customer = Readonly<z.input<typeof customer>>;

const newConversation = z.strictObject({
  /** The account, identified with its channel's type and its address, not with its ID. */
  account: z.strictObject({ channel: words, address: words }).readonly(),
  customer: customer.readonly(),
  /** ID of the entry point, such as `1007`. */
  entryPoint: words.optional(),
  /** The customer's client; `timeOffset` is in minutes from GMT (the unit is assumed). */
  clientInfo: z
    .strictObject({
      timeOffset: z.number().optional(),
      referrerName: z.string().optional(),
      referrerUrl: z.string().optional(),
    })
    .readonly()
    .optional(),
  /** Which contact identifies the customer, such as `email` or `phone.mobile`. */
  lookupContact: words.optional(),
  /** Which contact the conversation uses. */
  conversationContact: words.optional(),
});

/** The parameters for starting a conversation (from a public reference). */
export type NewConversation = Readonly<z.input<typeof newConversation>>;

/**
 * An existing conversation: its ID, or an object with a `conversationId`, such as a received
 * message.
 */
export type ConversationReference = string | { readonly conversationId: string };

const begun = z.union([words, z.looseObject({ conversationId: words })]);

/** Either kind; decided first, so that a mistake is named at its place. */
const conversation = z
  .custom<ConversationReference | NewConversation>()
  .superRefine((value, context) => {
    const starts = typeof value === "object" && value !== null && !("conversationId" in value);
    const { error } = (starts ? newConversation : begun).safeParse(value);
    if (!error) return;
    if (starts && "id" in value) {
      const message =
        "to continue a conversation, pass its ID or { conversationId: id }, not { id }";
      context.addIssue({ code: "custom", message });
      return;
    }
    for (const { path, message } of starts ? error.issues : []) {
      context.addIssue({ code: "custom", path, message });
    }
    if (!starts) {
      const message =
        "must be a conversation ID, { conversationId: id }, or an object that starts a conversation";
      context.addIssue({ code: "custom", message });
    }
  });

const attribute = z.union([
  z.string(),
  z.strictObject({ value: z.string(), external: z.boolean().optional() }),
]);

/** The members that every message has in addition to its type, sender, and body. */
export const messageFrame = z.strictObject({
  /** The conversation to continue, or the details of a new one. */
  conversation,
  /** The sender's own ID for the message. Later messages can refer to it. */
  messageId: words.optional(),
  attributes: z.record(z.string(), attribute).readonly().optional(),
  /**
   * Additional members of the service's JSON that this package does not define. They are merged
   * deeply.
   */
  extra: jsonObject.optional(),
});

/** The members that every message has in addition to its type, sender, and body. */
export type MessageFrame = Readonly<z.input<typeof messageFrame>>;

/** A message's sender: its kind and, optionally, its display name. */
export type Sender<K extends SenderKind = SenderKind> =
  | K
  | { readonly kind: K; readonly name?: string | undefined };

/**
 * A message of type `T` from a sender of kind `K`. The kinds are spelled out, so that a compiler
 * error about a wrong kind lists the valid ones rather than the types that contain them.
 */
export type MessageOf<T extends MessageType, K extends SenderKind = SendersOf<T>> = MessageFrame & {
  readonly type: T;
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

type WithoutConversation<M> = M extends unknown ? Omit<M, "conversation"> : never;

/** A message without its conversation, which is a separate argument. */
export type Reply = WithoutConversation<Message>;

/** A message that starts a conversation. */
export type FirstMessage = Message & { readonly conversation: NewConversation };

/** Returns the sender's kind from either form of `Sender`. */
export const kindOf = <K extends SenderKind>(sender: Sender<K>): K =>
  typeof sender === "string" ? sender : sender.kind;
