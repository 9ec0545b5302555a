import { z } from "zod";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { timestamp } from "../clock.js";
import type { Journal } from "../journal.js";
import { DocumentArchive } from "./document-archive.js";

const anyObject = z.record(z.string(), z.unknown());
const date = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

/** A conversation without its messages. */
const conversation = z.object({
  id: z.string(),
  /**
   * Where it is: with its bot, with an agent after an escalation (or from the beginning, where there
   * is no bot), or ended by whoever sent `conversation.end` (assumed).
   */
  phase: z.enum(["bot", "agent", "ended"]),
  /** Id of the account that it was started on. */
  accountId: z.string(),
  /** What its first message said of it: account, entry point, customer, contacts. */
  about: anyObject,
  created: date,
  /** When its last message came. */
  modified: date,
});

/** A message as the emulator keeps it. */
const message = z.object({
  id: z.string(),
  /** The sender's own id; the service's where the sender gave none. */
  messageId: z.string(),
  conversationId: z.string(),
  type: z.string(),
  /** The members that go out as they came in: content, sender, attachments, attributes, parent. */
  body: anyObject,
  recipients: z.array(anyObject),
  /** What stood beside the messages of the request. */
  metadata: z.unknown().optional(),
  created: date,
});

export type StoredConversation = Readonly<z.infer<typeof conversation>>;
export type ConversationPhase = StoredConversation["phase"];
/** A message as the emulator keeps it. */
export type StoredMessage = Readonly<z.infer<typeof message>>;

const isConversation = (value: unknown): value is StoredConversation =>
  conversation.safeParse(value).success;

const isMessage = (value: unknown): value is StoredMessage => message.safeParse(value).success;

/** A message as the service gives it back, with further members. */
export const messageJson = (stored: StoredMessage, further: JsonObject = {}): JsonObject =>
  objectOf([
    ["id", stored.id],
    ["messageId", stored.messageId],
    ...Object.entries(stored.body),
    ...Object.entries(further),
    ["recipients", { recipient: stored.recipients }],
    // The only status that was ever seen; nothing is said of others.
    ["status", "sent"],
    ["created", stored.created],
    ["sent", stored.created],
  ]);

const sections = { conversations: "conversation", messages: "message" } as const;

const documentsIn = <T>(
  journal: Journal,
  section: string,
  isDocument: (value: unknown) => value is T,
): readonly T[] =>
  journal.read(section).map(([key, value]) => {
    if (isDocument(value)) return value;
    throw new Error(`${key.slice(0, 60)} is no ${section} of the service`);
  });

/** A conversation with its messages, as a snapshot holds it. */
export type ConversationDocument = StoredConversation & {
  readonly messages: readonly StoredMessage[];
};

/** Whether a part of a snapshot is a conversation with its messages. */
export const isConversationDocument = (value: unknown): value is ConversationDocument =>
  isConversation(value) &&
  "messages" in value &&
  Array.isArray(value.messages) &&
  value.messages.every((each) => isMessage(each) && each.conversationId === value.id);

/** The conversations that changed. */
export interface ConversationsSince {
  /** Whether these are all there are. */
  readonly isWhole: boolean;
  readonly entries: readonly StoredConversation[];
}

/** What changes of a conversation; the rest never does, and is in the archive. */
interface Entry {
  readonly first: number;
  phase: ConversationPhase;
  modified: number;
  /** The version of the store at its last change. */
  version: number;
  readonly messages: number[];
}

/**
 * All conversations and their messages, in the order in which they came. They are there for good, so
 * all that does not change is kept as text outside the heap, and the text of messages compressed.
 */
export class ConversationStore {
  readonly #beginnings = new DocumentArchive();
  readonly #texts = new DocumentArchive({ isCompressed: true });
  readonly #entries = new Map<string, Entry>();
  #version = 0;
  #replacedAt = 0;

  /** @throws Error where the journal holds something else */
  constructor(private readonly journal: Journal) {
    this.#keep(
      documentsIn(journal, sections.conversations, isConversation),
      documentsIn(journal, sections.messages, isMessage),
    );
  }

  get(id: string): StoredConversation | undefined {
    const entry = this.#entries.get(id);
    return entry && this.#conversation(entry);
  }

  /** How many messages a conversation has. */
  lengthOf(id: string): number {
    return this.#entries.get(id)?.messages.length ?? 0;
  }

  /** @param from place of the first message, from 0 */
  messagesOf(id: string, from = 0): readonly StoredMessage[] {
    const places = this.#entries.get(id)?.messages.slice(from) ?? [];
    return places.map((place) => this.#texts.read(place, isMessage));
  }

  /** Keeps conversations in their new state, and new messages. */
  add(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    for (const one of conversations) this.journal.write(sections.conversations, one.id, one);
    for (const one of messages) this.journal.write(sections.messages, one.id, one);
    this.journal.whenKept(() => this.#keep(conversations, messages));
  }

  /** How many conversations there are. */
  get count(): number {
    return this.#entries.size;
  }

  /** Another, higher number after every change. */
  get version(): number {
    return this.#version;
  }

  /**
   * The conversations that changed after a version, in the order of their last change; all of them
   * where they were replaced since then, or there was no such version.
   *
   * @param most so many of the last
   */
  since(version: number, most: number): ConversationsSince {
    const isWhole = version < this.#replacedAt || version > this.#version;
    const entries = [...this.#entries.values()]
      .filter((entry) => isWhole || entry.version > version)
      .sort((a, b) => a.version - b.version || a.modified - b.modified)
      .slice(-most)
      .map((entry) => this.#conversation(entry));
    return { isWhole, entries };
  }

  all(): readonly ConversationDocument[] {
    return this.#documents([...this.#entries]);
  }

  /** Those that changed at this time or later, in milliseconds since 1970. */
  changedSince(time: number): readonly ConversationDocument[] {
    return this.#documents([...this.#entries].filter(([, { modified }]) => modified >= time));
  }

  /** Puts other conversations in the place of all. */
  replaceAll(documents: readonly ConversationDocument[]): void {
    for (const section of Object.values(sections)) this.journal.clear(section);
    this.journal.whenKept(() => {
      this.#entries.clear();
      this.#beginnings.clear();
      this.#texts.clear();
      this.#version += 1;
      this.#replacedAt = this.#version;
    });
    this.add(
      documents.map(({ messages: _messages, ...conversation }) => conversation),
      documents.flatMap(({ messages }) => messages),
    );
  }

  #documents(entries: readonly (readonly [string, Entry])[]): readonly ConversationDocument[] {
    const places = entries.flatMap(([, { messages }]) => messages);
    const read = this.#texts.readAll(places, isMessage);
    return entries.map(([, entry]) => ({
      ...this.#conversation(entry),
      messages: entry.messages.flatMap((place) => read.get(place) ?? []),
    }));
  }

  #conversation({ first, phase, modified }: Entry): StoredConversation {
    const conversation = this.#beginnings.read(first, isConversation);
    return { ...conversation, phase, modified: timestamp(modified) };
  }

  #keep(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    this.#version += 1;
    const version = this.#version;
    for (const conversation of conversations) {
      const { id, phase } = conversation;
      const modified = Date.parse(conversation.modified);
      const entry = this.#entries.get(id);
      if (entry) Object.assign(entry, { phase, modified, version });
      else {
        const first = this.#beginnings.add(conversation);
        this.#entries.set(id, { first, phase, modified, version, messages: [] });
      }
    }
    for (const message of messages)
      this.#entries.get(message.conversationId)?.messages.push(this.#texts.add(message));
  }
}
