import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import type { Journal } from "../objects/store.js";
import { type Conversation, isConversation, isMessage, type Message } from "./conversation.js";

const sections = { conversations: "conversation", messages: "message" } as const;

/** A conversation with its messages, as a snapshot holds it. */
export interface ConversationDocument extends Conversation {
  readonly messages: readonly Message[];
}

/** Whether a part of a snapshot is a conversation with its messages. */
export const isConversationDocument = (value: unknown): value is ConversationDocument =>
  isConversation(value) &&
  isObject(value) &&
  Array.isArray(value.messages) &&
  value.messages.every((message) => isMessage(message) && message.conversationId === value.id);

/** What a request adds. */
export interface Additions {
  readonly conversations: readonly Conversation[];
  readonly messages: readonly Message[];
}

/** All conversations and their messages, in the order in which they came. */
export class Conversations {
  readonly #journal: Journal;
  readonly #conversations = new Map<string, Conversation>();
  readonly #messages = new Map<string, Message[]>();

  constructor(journal: Journal) {
    this.#journal = journal;
    const read = (section: string) => journal.read(section).map(([, value]) => value);
    this.#take({
      conversations: read(sections.conversations).filter(isConversation),
      messages: read(sections.messages).filter(isMessage),
    });
  }

  get(id: string): Conversation | undefined {
    return this.#conversations.get(id);
  }

  messagesOf(id: string): readonly Message[] {
    return this.#messages.get(id) ?? [];
  }

  /** Keeps conversations in their new state, and new messages. */
  add(additions: Additions): void {
    this.#write(additions);
    this.#take(additions);
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
    this.add({
      conversations: documents.map(({ messages: _messages, ...conversation }) => conversation),
      messages: documents.flatMap(({ messages }) => messages),
    });
  }

  #write({ conversations, messages }: Additions): void {
    for (const one of conversations) this.#journal.write(sections.conversations, one.id, one);
    for (const one of messages) this.#journal.write(sections.messages, one.id, one);
  }

  #take({ conversations, messages }: Additions): void {
    for (const conversation of conversations)
      this.#conversations.set(conversation.id, conversation);
    for (const message of messages) {
      const list = this.#messages.get(message.conversationId);
      if (list) list.push(message);
      else this.#messages.set(message.conversationId, [message]);
    }
  }
}
