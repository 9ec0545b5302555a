import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Journal } from "../journal.js";

/**
 * Where a conversation is: with its bot, with an agent after an escalation (or from the beginning,
 * where there is no bot), or ended by whoever sent `conversation.end` (assumed).
 */
export type ConversationPhase = "bot" | "agent" | "ended";

/** A conversation without its messages. */
export interface StoredConversation {
  readonly id: string;
  readonly phase: ConversationPhase;
  /** Id of the account that it was started on. */
  readonly accountId: string;
  /** What its first message said of it: account, entry point, customer, contacts. */
  readonly about: JsonObject;
  readonly created: string;
  /** When its last message came. */
  readonly modified: string;
}

/** A message as the emulator keeps it. */
export interface StoredMessage {
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

const phases: readonly unknown[] = ["bot", "agent", "ended"] satisfies ConversationPhase[];

const areTexts = (...values: unknown[]): boolean =>
  values.every((value) => typeof value === "string");

const isDate = (value: unknown): boolean =>
  typeof value === "string" && !Number.isNaN(Date.parse(value));

const isConversation = (value: unknown): value is StoredConversation =>
  isObject(value) &&
  phases.includes(value.phase) &&
  areTexts(value.id, value.accountId) &&
  isObject(value.about) &&
  isDate(value.created) &&
  isDate(value.modified);

const isMessage = (value: unknown): value is StoredMessage =>
  isObject(value) &&
  areTexts(value.id, value.messageId, value.conversationId, value.type) &&
  isObject(value.body) &&
  Array.isArray(value.recipients) &&
  value.recipients.every(isObject) &&
  isDate(value.created);

/** A message as the service gives it back, with further members. */
export const messageJson = (message: StoredMessage, further: JsonObject = {}): JsonObject =>
  objectOf([
    ["id", message.id],
    ["messageId", message.messageId],
    ...Object.entries(message.body),
    ...Object.entries(further),
    ["recipients", { recipient: message.recipients }],
    // The only status that was ever seen; nothing is said of others.
    ["status", "sent"],
    ["created", message.created],
    ["sent", message.created],
  ]);

const sections = { conversations: "conversation", messages: "message" } as const;

/** A conversation with its messages, as a snapshot holds it. */
export interface ConversationDocument extends StoredConversation {
  readonly messages: readonly StoredMessage[];
}

/** Whether a part of a snapshot is a conversation with its messages. */
export const isConversationDocument = (value: unknown): value is ConversationDocument =>
  isConversation(value) &&
  isObject(value) &&
  Array.isArray(value.messages) &&
  value.messages.every((message) => isMessage(message) && message.conversationId === value.id);

/** All conversations and their messages, in the order in which they came. */
export class ConversationStore {
  readonly #journal: Journal;
  readonly #conversations = new Map<string, StoredConversation>();
  readonly #messages = new Map<string, StoredMessage[]>();

  constructor(journal: Journal) {
    this.#journal = journal;
    const read = (section: string) => journal.read(section).map(([, value]) => value);
    this.#keep(
      read(sections.conversations).filter(isConversation),
      read(sections.messages).filter(isMessage),
    );
  }

  get(id: string): StoredConversation | undefined {
    return this.#conversations.get(id);
  }

  messagesOf(id: string): readonly StoredMessage[] {
    return this.#messages.get(id) ?? [];
  }

  /** Keeps conversations in their new state, and new messages. */
  add(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    for (const one of conversations) this.#journal.write(sections.conversations, one.id, one);
    for (const one of messages) this.#journal.write(sections.messages, one.id, one);
    this.#keep(conversations, messages);
  }

  all(): readonly JsonObject[] {
    return [...this.#conversations.values()].map((conversation) => ({
      ...conversation,
      messages: this.messagesOf(conversation.id),
    }));
  }

  /** Puts other conversations in the place of all. */
  replaceAll(documents: readonly ConversationDocument[]): void {
    for (const section of Object.values(sections)) this.#journal.clear(section);
    this.#conversations.clear();
    this.#messages.clear();
    this.add(
      documents.map(({ messages: _messages, ...conversation }) => conversation),
      documents.flatMap(({ messages }) => messages),
    );
  }

  #keep(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    for (const conversation of conversations)
      this.#conversations.set(conversation.id, conversation);
    for (const message of messages) {
      const list = this.#messages.get(message.conversationId);
      if (list) list.push(message);
      else this.#messages.set(message.conversationId, [message]);
    }
  }
}
