import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { type SenderKind, sideOf } from "./sender-rules.js";

/**
 * Where a conversation is: with its bot, with an agent after an escalation (or from the beginning,
 * where there is no bot), or ended by whoever sent `conversation.end` (assumed).
 */
export type Phase = "bot" | "agent" | "ended";

/** A conversation without its messages. */
export interface Conversation {
  readonly id: string;
  readonly phase: Phase;
  /** Id of the account that it was started on. */
  readonly accountId: string;
  /** What its first message said of it: account, entry point, customer, contacts. */
  readonly about: JsonObject;
  readonly created: string;
  /** When its last message came. */
  readonly modified: string;
}

/** A message as the emulator keeps it. */
export interface Message {
  readonly id: string;
  /** The sender's own id; the service's where the sender gave none. */
  readonly messageId: string;
  readonly conversationId: string;
  readonly type: string;
  /** The members that go out as they came in: content, sender, attachments, attributes, parent. */
  readonly body: JsonObject;
  readonly recipients: readonly JsonObject[];
  /** What stood beside the messages of the request. */
  readonly metadata?: unknown;
  readonly created: string;
}

const phases: readonly unknown[] = ["bot", "agent", "ended"] satisfies Phase[];

const areTexts = (...values: unknown[]): boolean =>
  values.every((value) => typeof value === "string");

const isTime = (value: unknown): boolean =>
  typeof value === "string" && !Number.isNaN(Date.parse(value));

/** Whether something read back is a conversation. */
export const isConversation = (value: unknown): value is Conversation =>
  isObject(value) &&
  phases.includes(value.phase) &&
  areTexts(value.id, value.accountId) &&
  isObject(value.about) &&
  isTime(value.created) &&
  isTime(value.modified);

/** Whether something read back is a message. */
export const isMessage = (value: unknown): value is Message =>
  isObject(value) &&
  areTexts(value.id, value.messageId, value.conversationId, value.type) &&
  isObject(value.body) &&
  Array.isArray(value.recipients) &&
  value.recipients.every(isObject) &&
  isTime(value.created);

/** The next phase, once a message was sent. */
export const phaseAfter = (phase: Phase, type: string): Phase => {
  if (type === "conversation.end") return "ended";
  return type === "escalation.transfer" ? "agent" : phase;
};

/** One side of a conversation that a message goes to. */
export type Side = "customer" | "bot" | "agent";

/**
 * The sides that a message goes to: a customer's to whoever has the conversation, everybody else's
 * to the customer. An escalation reaches the agent too, who learns of the conversation by it (assumed).
 *
 * @param phase before the message
 */
export const sidesFor = (sender: SenderKind, type: string, phase: Phase): readonly Side[] => {
  if (sideOf(sender) === "customer") return [phase === "bot" ? "bot" : "agent"];
  const isHandedOver = phase === "bot" && phaseAfter(phase, type) === "agent";
  return isHandedOver ? ["customer", "agent"] : ["customer"];
};
