import { z } from "zod";
import { isObject } from "../../provider/kernel/json.js";
import {
  contactSubTypes,
  contactTypes,
  contactWords,
} from "../../provider/resources/message-fields.js";
import {
  type FurtherMessageType,
  isAvailability,
  isMessageType,
  isOwnMessageType,
  type MessageType,
  type MessageTypesOf,
  type OwnMessageType,
  type SenderKind,
  type SendersOf,
} from "../../provider/resources/message-types.js";
import { decided, jsonObject } from "./input-schemas.js";

const notEmpty = "must not be empty";

const words = z.string().min(1, notEmpty);

const assetAttachment = z.looseObject({
  /** ID of the asset that contains the content. */
  id: words,
});

const locatedAttachment = z.strictObject({
  /** File name with its extension. */
  name: words,
  /** Size in bytes. */
  size: z.int().nonnegative(),
  /** Where the recipient fetches the content. */
  url: z.url({ protocol: /^https?$/ }),
  /** Such as `image/png`. */
  contentType: words.optional(),
});

/**
 * A file to attach to a message (vendor): an asset, such as the result of `assets.upload`, or a file
 * at a URL. Of an attachment that has an `id`, only this is sent.
 */
export type Attachment = { readonly id: string } | Readonly<z.input<typeof locatedAttachment>>;

const attachments = z
  .array(
    decided<Attachment>((value) =>
      isObject(value) && "id" in value ? assetAttachment : locatedAttachment,
    ),
  )
  .readonly()
  .optional();

/**
 * An earlier message (vendor): the service's ID for it, or an object with this `id`, such as a
 * received message. Its `messageId` alone is not enough.
 */
export type MessageReference =
  | string
  | { readonly id: string; readonly messageId?: string | undefined };

const parent = decided<MessageReference>(() =>
  z.union([words, z.looseObject({ id: words, messageId: words.optional() })], {
    error: "must be the service's ID of a message, or an object with this id",
  }),
);

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
  status: words,
  /** Default: empty. */
  content: z.string().optional(),
});

/** The content of a `conversation.state` message (from a public reference). */
export type ConversationState = Readonly<z.input<typeof conversationState>>;

const contact = z.strictObject({
  type: z.enum(contactTypes),
  subType: z.enum(contactSubTypes).optional(),
  address: words,
});

/** A way to reach a customer (vendor). */
export type Contact = Readonly<z.input<typeof contact>>;

const customer = z.strictObject({
  name: words.optional(),
  /** Default: `individual`, the only type. */
  type: z.enum(["individual"]).optional(),
  attributes: z.record(z.string(), z.string()).readonly().optional(),
  contacts: z.array(contact).readonly().optional(),
});

/** The customer of a conversation (vendor). */
export type Customer = Readonly<z.input<typeof customer>>;

const contactWord = z.enum(contactWords);

const preferredAgent = z.strictObject({ id: words.optional(), userName: words.optional() });

/** Members of every message that has content. */
const more = {
  /** Hides the content from transcripts. */
  redact: z.boolean().optional(),
  parent: parent.optional(),
};

/** The forms of content, of which a message has one. An object is sent as JSON text. */
const forms = {
  text: words.optional(),
  html: words.optional(),
  content: jsonObject.optional(),
};

const textBody = z.strictObject({ text: forms.text, html: forms.html, attachments, ...more });
const nothing = z.strictObject({});
const jsonBody = z.strictObject({ content: forms.content, ...more });
const deletion = z.strictObject({ parent: parent.optional() });

/** The body of a message of which only the forms of content are documented (vendor). */
const openBody = z.strictObject({ ...forms, ...more });

/** The body of a message of one's own type (vendor). */
const ownBody = openBody.extend({ xml: words.optional(), attachments });

/**
 * The body of each message type: its members beside those that all messages have. The forms of
 * content are the vendor's. The members of list pickers, rich links, and states are from a public
 * reference; those of other JSON contents are not documented.
 */
export const messageBodies = {
  text: textBody,
  "typing.start": nothing,
  "typing.end": nothing,
  "customer.info": openBody.extend({
    customer: customer.optional(),
    lookupContact: contactWord.optional(),
    conversationContact: contactWord.optional(),
  }),
  error: jsonBody,
  "conversation.end": openBody,
  "escalation.transfer": openBody.extend({
    /** The `id` or the `userName` of an agent. */
    preferredAgent: preferredAgent.optional(),
  }),
  pagePush: openBody,
  "richMessage.listpicker": z.strictObject({ content: listPicker, ...more }),
  "richMessage.quickreply": jsonBody,
  "richMessage.template": jsonBody,
  "richMessage.timepicker": jsonBody,
  "richMessage.richlink": z.strictObject({ content: richLink, ...more }),
  "richMessage.form": jsonBody,
  "richMessage.payment": jsonBody,
  "richMessage.app": jsonBody,
  "richMessage.authentication": jsonBody,
  "conversation.state": z.strictObject({ content: conversationState, ...more }),
  "agent.join": openBody,
  "agent.available": openBody,
  "agent.unavailable": openBody,
  "agent.transfer": openBody,
  "queue.transfer": openBody,
  "authentication.success": openBody,
  "authentication.failure": openBody,
  "customer.active": openBody,
  "customer.inactive": openBody,
  "delete.soft": z.strictObject({ parent }),
  "delete.permanent": deletion,
  undo: deletion,
} as const satisfies Readonly<Record<MessageType, z.ZodType<Readonly<Record<string, unknown>>>>>;

type Input<T extends MessageType> = z.input<(typeof messageBodies)[T]>;

/** Without the index signature of an object that has no members. */
type Members<O> = { readonly [K in keyof O as string extends K ? never : K]: O[K] };

/**
 * A text message holds a text or HTML, attachments, or both. The compiler compares a message that lacks
 * something else, such as its sender, with the last of these.
 */
type Filled =
  | { readonly attachments: readonly Attachment[] }
  | { readonly html: string; readonly text?: undefined }
  | { readonly text: string; readonly html?: undefined };

/** The members of a message of type `T`, in addition to those that all messages have. */
export type BodyOf<T extends MessageType> = Members<Input<T>> &
  (T extends "text" ? Filled : unknown);

const account = z.strictObject({ channel: words, address: words }).readonly();

const newConversation = z.strictObject({
  /** The account, identified with its channel's type and its address, not with its ID. */
  account,
  /** Default: a customer of whom nothing is known. */
  customer: customer.readonly().optional(),
  /** ID of the entry point, such as `1007`. */
  entryPoint: words.optional(),
  /** The customer's client; `timeOffset` is in minutes from GMT (the unit is assumed). */
  clientInfo: z
    .strictObject({
      timeOffset: z.int().optional(),
      referrerName: words.optional(),
      referrerUrl: z.string().optional(),
    })
    .readonly()
    .optional(),
  /** Which contact identifies the customer, such as `email` or `phone.mobile`. */
  lookupContact: contactWord.optional(),
  /** Which contact the conversation uses. */
  conversationContact: contactWord.optional(),
});

/** The parameters for starting a conversation (vendor). */
export type NewConversation = Readonly<z.input<typeof newConversation>>;

const surveyConversation = newConversation.extend({
  /** ID of the conversation that the survey is about. */
  survey: words,
  /** Default: the account of that conversation (assumed). */
  account: account.optional(),
});

/** The parameters for starting a survey about a conversation (vendor). */
export type SurveyConversation = Readonly<z.input<typeof surveyConversation>>;

const availability = z.strictObject({ entryPoint: words });

/** Where an agent becomes available or unavailable (vendor): only the ID of an entry point. */
export type Availability = Readonly<z.input<typeof availability>>;

/** The types of messages that belong to an entry point, not to a conversation (vendor). */
type AvailabilityType = "agent.available" | "agent.unavailable";

/**
 * An existing conversation: its ID, or an object with a `conversationId`, such as a received
 * message.
 */
export type ConversationReference = string | { readonly conversationId: string };

const begun = z.union([words, z.looseObject({ conversationId: words })], {
  error:
    "must be a conversation ID, { conversationId: id }, or an object that starts a conversation",
});

const wrongReference = z.never({
  error: "to continue a conversation, pass its ID or { conversationId: id }, not { id }",
});

type AnyConversation = ConversationReference | NewConversation | SurveyConversation;

const conversation = decided<AnyConversation>((value) => {
  if (!isObject(value) || "conversationId" in value) return begun;
  if ("survey" in value) return surveyConversation;
  return "id" in value ? wrongReference : newConversation;
});

const attribute = z.union([
  z.string(),
  z.strictObject({
    value: z.string(),
    /** Default: true. */
    external: z.boolean().optional(),
    /** What the attribute describes. */
    object: z.enum(["activity", "customer"]).optional(),
  }),
]);

/** The members that every message has in addition to its type, sender, conversation, and body. */
const messageFrame = z.strictObject({
  /** The sender's own ID for the message. */
  messageId: words.optional(),
  attributes: z.record(z.string(), attribute).readonly().optional(),
  /**
   * Additional members of the service's JSON that this package does not define. They are merged
   * deeply. The service is documented to refuse members that it does not know (400-420).
   */
  extra: jsonObject.optional(),
});

/** The members that every message has in addition to its type, sender, conversation, and body. */
export type MessageFrame = Readonly<z.input<typeof messageFrame>>;

/** The schema of a message's members beside its type and sender. */
export const schemaFor = (type: string): z.ZodType => {
  const body = isMessageType(type) ? messageBodies[type] : openBody;
  return z.strictObject({
    ...messageFrame.shape,
    ...(isOwnMessageType(type) ? ownBody : body).shape,
    conversation: isAvailability(type) ? availability : conversation,
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
    | ({ readonly type: OwnMessageType } & Readonly<z.input<typeof ownBody>>)
    | ({ readonly type: FurtherMessageType } & Readonly<z.input<typeof openBody>>)
  );

type InConversation = Exclude<Message, { readonly type: AvailabilityType }>;

type WithoutConversation<M> = M extends unknown ? Omit<M, "conversation"> : never;

/** A message without its conversation, which is a separate argument. */
export type Reply = WithoutConversation<InConversation>;

/** A message that starts a conversation. */
export type FirstMessage = InConversation & {
  readonly conversation: NewConversation | SurveyConversation;
};

/** Returns the sender's kind from either form of `Sender`. */
export const kindOf = <K extends SenderKind>(sender: Sender<K>): K =>
  typeof sender === "string" ? sender : sender.kind;
