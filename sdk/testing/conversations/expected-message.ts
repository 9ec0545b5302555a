import type { MessageType, SenderKind } from "../../runtime/messages/message-types.js";
import type { ReceivedMessage } from "../../runtime/messages/received-message.js";
import { differences, shown } from "../checks/differences.js";

/** A side of a conversation: both kinds of bots, or both kinds of agents. */
export type ConversationSide = "customer" | "bot" | "agent";

/** What is expected of a message; what is left out may be anything. */
export interface ExpectedMessage {
  /** Who says it: a side, or one kind of sender. */
  readonly from?: ConversationSide | SenderKind;
  /** The name of the sender that others see. */
  readonly name?: string | RegExp;
  /** Such as `text`. */
  readonly type?: MessageType;
  /** The text: all of it, or a pattern that it must match. */
  readonly text?: string | RegExp;
  /** Members of the content; of objects only those given count. */
  readonly content?: object;
  /** Longest time between the call of `expect` and the message, on the emulator's clock. Default: 5,000 ms. */
  readonly withinMs?: number;
  /** Whether those it is for must have accepted it. Default: true. */
  readonly reached?: boolean;
}

const isFrom = (kind: string, from: ExpectedMessage["from"]): boolean =>
  from === undefined || kind === from || kind.endsWith(`_${from}`);

/** Whether a message is one that is expected, whatever became of it. */
export const isLike = (message: ReceivedMessage, expected: ExpectedMessage): boolean => {
  const { from, name, type, text, content } = expected;
  if (!isFrom(message.sender.kind, from)) return false;
  if (type !== undefined && message.type !== type) return false;
  const members = {
    ...(text === undefined ? {} : { text }),
    ...(content === undefined ? {} : { content }),
    ...(name === undefined ? {} : { sender: { name } }),
  };
  return differences(members, message).length === 0;
};

/** What is expected, for people: `text from the bot with the text /tomorrow/`. */
export const expectedText = ({ from, name, type, text, content }: ExpectedMessage): string => {
  const side = from === undefined || from.includes("_") ? from : `the ${from}`;
  return [
    type ?? "message",
    side === undefined ? undefined : `from ${side}`,
    name === undefined ? undefined : `named ${shown(name)}`,
    text === undefined ? undefined : `with the text ${shown(text)}`,
    content === undefined ? undefined : `with the content ${shown(content)}`,
  ]
    .filter((word) => word !== undefined)
    .join(" ");
};
