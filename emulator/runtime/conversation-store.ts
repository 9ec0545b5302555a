import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { timestamp } from "../service/clock.js";
import type { Journal } from "../service/journal.js";

const chunkBytes = 256 * 1024;
const lengthBytes = 4;

/** Number of cached inflated chunks: consecutive documents are mostly in the same chunk. */
const mostAtHand = 4;

/** How documents are stored. */
interface ArchiveOptions {
  /**
   * Takes a tenth of the memory, for rarely read documents; reading then takes up to a millisecond.
   */
  readonly isCompressed?: boolean;
}

/**
 * JSON documents that can be added and read, but never changed. They are stored as text in large
 * chunks outside the heap, so that many small documents take up no more memory than their text.
 */
export class DocumentArchive {
  #chunks: Buffer[] = [];
  /** Bytes used in the last chunk. */
  #taken = 0;
  readonly #inflated = new Map<number, Buffer>();

  constructor(private readonly options: ArchiveOptions = {}) {}

  /** Adds a document and returns its position. */
  add(document: unknown): number {
    const text = JSON.stringify(document);
    const bytes = Buffer.byteLength(text);
    const chunk = this.#chunkFor(bytes + lengthBytes);
    const from = this.#taken;
    chunk.writeUInt32LE(bytes, from);
    chunk.write(text, from + lengthBytes);
    this.#taken += bytes + lengthBytes;
    return (this.#chunks.length - 1) * chunkBytes + from;
  }

  /** The document at a position. @throws Error if there is no document of this shape */
  read<T>(place: number, isDocument: (value: unknown) => value is T): T {
    const document: unknown = JSON.parse(this.#textAt(place));
    if (isDocument(document)) return document;
    throw new Error(`There is no such document at position ${place}.`);
  }

  /**
   * Returns a function that says whether the document at a position may contain a string. It is far
   * quicker than reading the document.
   */
  mayContain(text: string): (place: number) => boolean {
    const escaped = JSON.stringify(text).slice(1, -1);
    return (place) => this.#textAt(place).includes(escaped);
  }

  /** The documents at these positions, in order; each chunk is read once. */
  readAll<T>(
    places: readonly number[],
    isDocument: (value: unknown) => value is T,
  ): ReadonlyMap<number, T> {
    const sorted = [...places].sort((a, b) => a - b);
    return new Map(sorted.map((place) => [place, this.read(place, isDocument)]));
  }

  clear(): void {
    this.#chunks = [];
    this.#inflated.clear();
    this.#taken = 0;
  }

  /**
   * Returns a chunk with at least this much free space at its end. A document larger than a chunk
   * gets its own chunk.
   */
  #chunkFor(bytes: number): Buffer {
    const last = this.#chunks.at(-1);
    if (last && this.#taken + bytes <= last.length) return last;
    if (last && this.options.isCompressed) this.#compressLast(last);
    const next = Buffer.allocUnsafeSlow(Math.max(bytes, chunkBytes));
    this.#chunks.push(next);
    this.#taken = 0;
    return next;
  }

  #textAt(place: number): string {
    const chunk = this.#chunkAt(Math.floor(place / chunkBytes));
    const from = place % chunkBytes;
    const bytes = chunk?.readUInt32LE(from) ?? 0;
    const start = from + lengthBytes;
    return chunk?.toString("utf8", start, start + bytes) ?? "null";
  }

  #compressLast(last: Buffer): void {
    const text = last.subarray(0, this.#taken);
    this.#chunks[this.#chunks.length - 1] = deflateRawSync(text, { level: 1 });
  }

  #chunkAt(place: number): Buffer | undefined {
    const chunk = this.#chunks[place];
    const isLast = place === this.#chunks.length - 1;
    if (!chunk || isLast || !this.options.isCompressed) return chunk;
    const inflated = this.#inflated.get(place) ?? inflateRawSync(chunk);
    // Moved to the end: the first one is the least recently read.
    this.#inflated.delete(place);
    this.#inflated.set(place, inflated);
    const [oldest = 0] = this.#inflated.size > mostAtHand ? this.#inflated.keys() : [-1];
    this.#inflated.delete(oldest);
    return inflated;
  }
}

const anyObject = z.record(z.string(), z.unknown());
const date = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

/** A conversation without its messages. */
const conversation = z.object({
  id: z.string(),
  /**
   * Where it is: with its bot, with an agent after an escalation (or from the beginning, if there
   * is no bot), or ended by whoever sent `conversation.end` (assumed).
   */
  phase: z.enum(["bot", "agent", "ended"]),
  /** ID of the account that it was started on. */
  accountId: z.string(),
  /** The details in its first message: account, entry point, customer, contacts. */
  about: anyObject,
  created: date,
  /** When its last message came. */
  modified: date,
});

/**
 * What became of a message (vendor). The emulator gives the first four: `failed` once a callback
 * did not accept it, `skipped` if there is no callback (both assumed).
 */
const messageStatuses = ["sent", "retryInProgress", "failed", "skipped", "unsupported"] as const;

/** A message as the emulator keeps it. */
const message = z.object({
  id: z.string(),
  /** The sender's own ID; the service's if the sender gave none. */
  messageId: z.string(),
  conversationId: z.string(),
  type: z.string(),
  /** The members that are passed on unchanged: content, sender, attachments, attributes, parent. */
  body: anyObject,
  /** What it says about its conversation beside the ID, such as a preferred agent. */
  about: anyObject.optional(),
  recipients: z.array(anyObject),
  /** The request's metadata, beside its messages. */
  metadata: z.unknown().optional(),
  /** `sent` if there is none. */
  status: z.enum(messageStatuses).optional(),
  created: date,
});

export type StoredConversation = Readonly<z.infer<typeof conversation>>;
export type ConversationPhase = StoredConversation["phase"];
/** A message in the store. */
export type StoredMessage = Readonly<z.infer<typeof message>>;
export type StoredStatus = NonNullable<StoredMessage["status"]>;

const isConversation = (value: unknown): value is StoredConversation =>
  conversation.safeParse(value).success;

const isMessage = (value: unknown): value is StoredMessage => message.safeParse(value).success;

/** A message as the service returns it, with further members or others in place of its own. */
export const messageJson = (stored: StoredMessage, further: JsonObject = {}): JsonObject =>
  objectOf(
    Object.entries({
      id: stored.id,
      messageId: stored.messageId,
      ...stored.body,
      recipients: { recipient: stored.recipients },
      status: stored.status ?? "sent",
      created: stored.created,
      sent: stored.created,
      ...further,
    }),
  );

/** Whether a type is a receipt, which neither callbacks nor transcripts have (vendor). */
export const isReceipt = (type: string): boolean => type.startsWith("status.");

/** At most so many messages are in a transcript (vendor): the first ones (assumed). */
const mostInTranscript = 200;

/** The messages of a completed conversation, as the service returns them. */
export const transcriptJson = (messages: readonly StoredMessage[]): JsonObject => ({
  paginationInfo: { count: messages.length, pagenum: 1, pagesize: mostInTranscript },
  message: messages
    .filter(({ type }) => !isReceipt(type))
    .slice(0, mostInTranscript)
    // Exactly one recipient, even if the message also went to somebody else (vendor).
    .map((each) => messageJson(each, { recipients: { recipient: each.recipients.slice(0, 1) } })),
});

/** A short number for a string; different strings rarely have the same. */
const hashOf = (text: string): number => {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return hash;
};

const sections = { conversations: "conversation", messages: "message" } as const;

const documentsIn = <T>(
  journal: Journal,
  section: string,
  isDocument: (value: unknown) => value is T,
): readonly T[] =>
  journal.read(section).map(([key, value]) => {
    if (isDocument(value)) return value;
    throw new Error(`${key.slice(0, 60)} is not a valid entry in ${section}`);
  });

/** A conversation with its messages, in a snapshot. */
export type ConversationDocument = StoredConversation & {
  readonly messages: readonly StoredMessage[];
};

/** Whether part of a snapshot is a valid conversation with its messages. */
export const isConversationDocument = (value: unknown): value is ConversationDocument =>
  isConversation(value) &&
  "messages" in value &&
  Array.isArray(value.messages) &&
  value.messages.every((each) => isMessage(each) && each.conversationId === value.id);

/** The conversations that changed. */
interface ConversationsSince<T> {
  /** Whether these are all conversations. */
  readonly isWhole: boolean;
  readonly entries: readonly T[];
}

/** The part of a conversation that changes; the rest never does and is in the archive. */
interface Entry {
  readonly first: number;
  phase: ConversationPhase;
  modified: number;
  /** The version of the store at its last change. */
  version: number;
  readonly messages: number[];
  /** A hash of each message's own ID: a repeat is found without reading every message. */
  readonly ownIds: number[];
}

/**
 * All conversations and their messages, in order of arrival. Because they accumulate, everything
 * that does not change is stored as text outside the heap, with messages compressed.
 */
export class ConversationStore {
  readonly #beginnings = new DocumentArchive();
  readonly #texts = new DocumentArchive({ isCompressed: true });
  readonly #entries = new Map<string, Entry>();
  /** Of messages whose status changed, by the service's ID. */
  readonly #statuses = new Map<string, StoredStatus>();
  #version = 0;
  #replacedAt = 0;

  /** @throws Error if the journal contains anything else */
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

  /** The number of messages in a conversation. */
  lengthOf(id: string): number {
    return this.#entries.get(id)?.messages.length ?? 0;
  }

  /** @param from index of the first message, from 0 */
  messagesOf(id: string, from = 0): readonly StoredMessage[] {
    const places = this.#entries.get(id)?.messages.slice(from) ?? [];
    return places.map((place) => this.#message(place));
  }

  /** Whether a conversation has a message with this ID of its sender. */
  hasMessage(id: string, messageId: string): boolean {
    const { ownIds = [], messages = [] } = this.#entries.get(id) ?? {};
    const hash = hashOf(messageId);
    return messages.some(
      (place, at) => ownIds[at] === hash && this.#message(place).messageId === messageId,
    );
  }

  /** Keeps what became of a message. One that a recipient did not get stays so, even if another gets it. */
  mark(message: StoredMessage, status: StoredStatus): void {
    const known = this.#statuses.get(message.id) ?? "sent";
    const isLost = known === "failed" || known === "skipped";
    if (known === status || isLost || !this.#entries.has(message.conversationId)) return;
    this.journal.write(sections.messages, message.id, { ...message, status });
    this.journal.whenKept(() => this.#statuses.set(message.id, status));
  }

  /** The conversation that contains a message, found by the service's ID for it. */
  holding(messageId: string): StoredConversation | undefined {
    const mayContain = this.#texts.mayContain(messageId);
    const found = [...this.#entries.values()].find(({ messages }) =>
      messages.some(
        (place) => mayContain(place) && this.#texts.read(place, isMessage).id === messageId,
      ),
    );
    return found && this.#conversation(found);
  }

  /** Stores changed conversations and new messages. */
  add(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    for (const one of conversations) this.journal.write(sections.conversations, one.id, one);
    for (const one of messages) this.journal.write(sections.messages, one.id, one);
    this.journal.whenKept(() => this.#keep(conversations, messages));
  }

  /** The number of conversations. */
  get count(): number {
    return this.#entries.size;
  }

  /** A number that increases with every change. */
  get version(): number {
    return this.#version;
  }

  /**
   * Returns the conversations that have changed since a given version, ordered by their last
   * change. Returns all conversations if they have been replaced since that version or if the
   * version is unknown.
   *
   * @param most maximum number of conversations to return; earlier ones are omitted
   */
  since(version: number, most: number): ConversationsSince<StoredConversation> {
    const { isWhole, entries } = this.#since(version);
    return { isWhole, entries: entries.slice(-most).map((entry) => this.#conversation(entry)) };
  }

  all(): readonly ConversationDocument[] {
    return this.#documents([...this.#entries]);
  }

  /** The conversations that changed at this time (in milliseconds since 1970) or later. */
  changedSince(time: number): readonly ConversationDocument[] {
    return this.#documents([...this.#entries].filter(([, { modified }]) => modified >= time));
  }

  /** Replaces all conversations. */
  replaceAll(documents: readonly ConversationDocument[]): void {
    for (const section of Object.values(sections)) this.journal.clear(section);
    this.journal.whenKept(() => {
      this.#entries.clear();
      this.#beginnings.clear();
      this.#texts.clear();
      this.#statuses.clear();
      this.#version += 1;
      this.#replacedAt = this.#version;
    });
    this.add(
      documents.map(({ messages: _messages, ...conversation }) => conversation),
      documents.flatMap(({ messages }) => messages),
    );
  }

  #since(version: number): ConversationsSince<Entry> {
    const isWhole = version < this.#replacedAt || version > this.#version;
    const entries = [...this.#entries.values()]
      .filter((entry) => isWhole || entry.version > version)
      .sort((a, b) => a.version - b.version || a.modified - b.modified);
    return { isWhole, entries };
  }

  #documents(entries: readonly (readonly [string, Entry])[]): readonly ConversationDocument[] {
    const places = entries.flatMap(([, { messages }]) => messages);
    const read = this.#texts.readAll(places, isMessage);
    return entries.map(([, entry]) => ({
      ...this.#conversation(entry),
      messages: entry.messages.flatMap((place) => this.#marked(read.get(place)) ?? []),
    }));
  }

  #message(place: number): StoredMessage {
    return this.#marked(this.#texts.read(place, isMessage));
  }

  #marked<M extends StoredMessage | undefined>(message: M): M {
    const status = message && this.#statuses.get(message.id);
    return status === undefined ? message : { ...message, status };
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
        this.#entries.set(id, { first, phase, modified, version, messages: [], ownIds: [] });
      }
    }
    for (const message of messages) {
      const entry = this.#entries.get(message.conversationId);
      entry?.messages.push(this.#texts.add(message));
      entry?.ownIds.push(hashOf(message.messageId));
    }
  }
}
