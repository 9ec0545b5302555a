import { ConversationError } from "../../../provider/kernel/errors.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { violations } from "../input-schemas.js";
import { type Message, messageFrame } from "./message.js";
import { messageBodies } from "./message-contents.js";
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

/** @param which such as `message 2` */
const refused = (which: string, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not send message: ${which} ${rule}. Nothing was sent. Correct the message and send it again.`,
  );

const typeOf = (which: string, { type }: JsonObject): MessageType => {
  if (isMessageType(type)) return type;
  throw refused(which, `has no known type; types are ${messageTypes.join(", ")}`);
};

const senderOf = (which: string, { sender }: JsonObject): SenderKind => {
  const { kind, name, ...rest } = isObject(sender) ? sender : { kind: sender };
  const plain = Object.keys(rest).length === 0 && (name === undefined || typeof name === "string");
  if (isSenderKind(kind) && plain) return kind;
  throw refused(
    which,
    `needs a sender: one of ${senderKinds.join(", ")}, or { kind, name } with such a kind`,
  );
};

const assertMembers = (which: string, type: MessageType, members: JsonObject): void => {
  const ofFrame = ([name]: readonly [string, unknown]) => Object.hasOwn(messageFrame.shape, name);
  const all = Object.entries(members);
  const frame = Object.fromEntries(all.filter(ofFrame));
  const body = Object.fromEntries(all.filter((member) => !ofFrame(member)));
  const issues = [
    ...(messageFrame.safeParse(frame).error?.issues ?? []),
    ...(messageBodies[type].schema.safeParse(body).error?.issues ?? []),
  ];
  if (issues.length > 0) throw refused(which, `(${type}) is not valid: ${violations(issues)}`);
};

const assertOne = (which: string, message: unknown): void => {
  if (!isObject(message)) throw refused(which, "is not an object");
  const type = typeOf(which, message);
  const kind = senderOf(which, message);
  if (!maySend(kind, type)) {
    const rule = `is of type ${type}, which a ${kind} may not send: only ${sendersOf(type).join(", ")} may (specification §6)`;
    throw refused(which, rule);
  }
  const { type: _type, sender: _sender, ...members } = message;
  assertMembers(which, type, members);
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
