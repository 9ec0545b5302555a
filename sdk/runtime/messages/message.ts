import type { BodyOf } from "./message-contents.js";
import type { MessageFrame, NewConversation } from "./message-frame.js";
import type { MessageType, MessageTypesOf, SenderKind, SendersOf } from "./message-types.js";

/** Who sends: the kind alone, or with the name that others see. */
export type Sender<K extends SenderKind = SenderKind> =
  | K
  | { readonly kind: K; readonly name?: string | undefined };

/** A message of type `T` from a sender of kind `K`. */
export type MessageOf<T extends MessageType, K extends SenderKind = SendersOf<T>> = MessageFrame & {
  readonly type: T;
  readonly sender: Sender<K>;
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
