import { ConversationError } from "../../../provider/kernel/errors.js";
import { isObject } from "../../../provider/kernel/json.js";
import { brokenRules } from "../caller-input.js";
import type { Message } from "./message.js";
import { messageBodies } from "./message-contents.js";
import { messageFrame } from "./message-frame.js";
import {
  isMessageType,
  isSenderKind,
  type MessageType,
  maySend,
  messageTypes,
  type SenderKind,
  senderKinds,
  sendersOf,
} from "./message-types.js";

const refused = (place: string, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not send message: ${place} ${rule}. Nothing was sent. Correct the message and send it again.`,
  );

const typeOf = (place: string, { type }: Readonly<Record<string, unknown>>): MessageType => {
  if (isMessageType(type)) return type;
  throw refused(place, `has no known type; types are ${messageTypes.join(", ")}`);
};

const senderOf = (place: string, { sender }: Readonly<Record<string, unknown>>): SenderKind => {
  const { kind, name, ...rest } = isObject(sender) ? sender : { kind: sender };
  const plain = Object.keys(rest).length === 0 && (name === undefined || typeof name === "string");
  if (isSenderKind(kind) && plain) return kind;
  throw refused(
    place,
    `needs a sender: one of ${senderKinds.join(", ")}, or { kind, name } with such a kind`,
  );
};

const assertBody = (
  place: string,
  type: MessageType,
  members: Readonly<Record<string, unknown>>,
): void => {
  const frame = Object.fromEntries(
    Object.entries(members).filter(([name]) => Object.hasOwn(messageFrame.shape, name)),
  );
  const body = Object.fromEntries(
    Object.entries(members).filter(([name]) => !Object.hasOwn(messageFrame.shape, name)),
  );
  const issues = [
    ...(messageFrame.safeParse(frame).error?.issues ?? []),
    ...(messageBodies[type].schema.safeParse(body).error?.issues ?? []),
  ];
  if (issues.length > 0) throw refused(place, `(${type}) is not valid: ${brokenRules(issues)}`);
};

const assertOne = (place: string, message: unknown): void => {
  if (!isObject(message)) throw refused(place, "is not an object");
  const type = typeOf(place, message);
  const kind = senderOf(place, message);
  if (!maySend(kind, type)) {
    const rule = `is of type ${type}, which a ${kind} may not send: only ${sendersOf(type).join(", ")} may (specification §6)`;
    throw refused(place, rule);
  }
  const { type: _type, sender: _sender, ...members } = message;
  assertBody(place, type, members);
};

/**
 * Refuses messages that break a rule before anything is sent: for callers without type checks, and
 * for rules that types cannot tell.
 *
 * @throws ConversationError `INPUT_INVALID` naming the message and the rule
 */
export const assertMessages = (messages: readonly Message[]): void => {
  if (messages.length === 0) throw refused("the list of messages", "is empty");
  messages.forEach((message, index) => {
    assertOne(messages.length === 1 ? "the message" : `message ${index + 1}`, message);
  });
};
