import { z } from "zod";
import { jsonObject } from "../input-schemas.js";
import type { BodyOf } from "./message-contents.js";
import type { MessageType, MessageTypesOf, SenderKind, SendersOf } from "./message-types.js";

const words = z.string().min(1);

const contact = z.strictObject({
  /** `phone` and `email` were seen. */
  type: words,
  /** Such as `mobile`. */
  subType: words.optional(),
  address: words,
});

/** How a customer can be reached (public reference, an example). */
export type Contact = Readonly<z.input<typeof contact>>;

const customer = z.strictObject({
  name: words.optional(),
  /** Default: `individual`. */
  type: words.optional(),
  attributes: z.record(z.string(), z.string()).readonly().optional(),
  contacts: z.array(contact).readonly().optional(),
});

/** The customer of a new conversation (public reference, an example). */
export type Customer = Readonly<z.input<typeof customer>>;

const newConversation = z.strictObject({
  /** The account, named by the type of its channel and its address, not by its id. */
  account: z.strictObject({ channel: words, address: words }).readonly(),
  customer: customer.readonly(),
  /** Id of the entry point, such as `1007`. */
  entryPoint: words.optional(),
  /** Where the customer writes from; `timeOffset` in minutes from GMT (the unit is assumed). */
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
  /** Which contact carries the conversation. */
  conversationContact: words.optional(),
});

/** What a conversation starts with (public reference, an example). */
export type NewConversation = Readonly<z.input<typeof newConversation>>;

/** A conversation that was begun before: its id, or anything received from it. */
export type ConversationReference = string | { readonly conversationId: string };

const begun = z.union([words, z.looseObject({ conversationId: words })]);

/** Either kind; told apart first, so that a mistake is named where it is. */
const conversation = z
  .custom<ConversationReference | NewConversation>()
  .superRefine((value, context) => {
    const starts = typeof value === "object" && value !== null && !("conversationId" in value);
    const { error } = (starts ? newConversation : begun).safeParse(value);
    if (!error) return;
    if (starts && "id" in value) {
      const message =
        "to go on with a conversation give its id itself, or { conversationId: id }, not { id }";
      context.addIssue({ code: "custom", message });
      return;
    }
    for (const { path, message } of starts ? error.issues : []) {
      context.addIssue({ code: "custom", path, message });
    }
    if (!starts) {
      const message =
        "must be the id of a conversation, { conversationId: id }, or an object that starts one";
      context.addIssue({ code: "custom", message });
    }
  });

const attribute = z.union([
  z.string(),
  z.strictObject({ value: z.string(), external: z.boolean().optional() }),
]);

/** The members of every message besides its type, its sender and its body. */
export const messageFrame = z.strictObject({
  /** The conversation to go on with, or what a new one starts with. */
  conversation,
  /** The sender's own id of the message, which later messages can name. */
  messageId: words.optional(),
  attributes: z.record(z.string(), attribute).readonly().optional(),
  /** Further members of the service's JSON that this package does not know, merged in at every depth. */
  extra: jsonObject.optional(),
});

/** The members of every message besides its type, its sender and its body. */
export type MessageFrame = Readonly<z.input<typeof messageFrame>>;

/** Who sends: the kind alone, or with the name that others see. */
export type Sender<K extends SenderKind = SenderKind> =
  | K
  | { readonly kind: K; readonly name?: string | undefined };

/**
 * A message of type `T` from a sender of kind `K`. The kinds are spelled out, so that a compiler's error
 * about a wrong one names those that are right, and not the types that they follow from.
 */
export type MessageOf<T extends MessageType, K extends SenderKind = SendersOf<T>> = MessageFrame & {
  readonly type: T;
  readonly sender:
    | { [S in K]: S }[K]
    | { readonly kind: { [S in K]: S }[K]; readonly name?: string | undefined };
} & BodyOf<T>;

/**
 * A message as a program writes it. The type decides which kinds of senders it may have
 * (specification §6) and which members its body has.
 */
export type Message = { [T in MessageType]: MessageOf<T> }[MessageType];

/** A message that a sender of kind `K` may send. */
export type MessageFrom<K extends SenderKind> = {
  [T in MessageTypesOf<K>]: MessageOf<T, K>;
}[MessageTypesOf<K>];

type WithoutConversation<M> = M extends unknown ? Omit<M, "conversation"> : never;

/** A message whose conversation is given beside it. */
export type Reply = WithoutConversation<Message>;

/** A message that starts a conversation. */
export type FirstMessage = Message & { readonly conversation: NewConversation };

/** The kind of a sender in either form. */
export const kindOf = <K extends SenderKind>(sender: Sender<K>): K =>
  typeof sender === "string" ? sender : sender.kind;
