import { z } from "zod";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";

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
/** A message in the store. */
export type StoredMessage = Readonly<z.infer<typeof message>>;
export type StoredStatus = NonNullable<StoredMessage["status"]>;

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
export const transcriptJson = (messages: readonly StoredMessage[]): JsonObject => {
  const listed = messages.filter(({ type }) => !isReceipt(type));
  return {
    paginationInfo: { count: listed.length, pagenum: 1, pagesize: mostInTranscript },
    message: listed
      .slice(0, mostInTranscript)
      // Exactly one recipient, even if the message also went to somebody else (vendor).
      .map((each) => messageJson(each, { recipients: { recipient: each.recipients.slice(0, 1) } })),
  };
};

/** A conversation with its messages, in a snapshot. */
export type ConversationDocument = StoredConversation & {
  readonly messages: readonly StoredMessage[];
};

/** The shape of a conversation with its messages, in a snapshot. */
export const conversationDocument = conversation
  .extend({ messages: z.array(message) })
  .refine(({ id, messages }) => messages.every((each) => each.conversationId === id));

interface Entry {
  readonly conversation: StoredConversation;
  readonly messages: StoredMessage[];
}

/** All conversations and their messages, in order of arrival. */
export class ConversationStore {
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  get count(): number {
    return this.#entries.size;
  }

  /** A number that increases with every change. */
  get version(): number {
    return this.#version;
  }

  get(id: string): StoredConversation | undefined {
    return this.#entries.get(id)?.conversation;
  }

  messagesOf(id: string): readonly StoredMessage[] {
    return this.#entries.get(id)?.messages ?? [];
  }

  /** The conversation that contains a message, found by the service's ID for it. */
  holding(messageId: string): StoredConversation | undefined {
    const entries = [...this.#entries.values()];
    return entries.find(({ messages }) => messages.some(({ id }) => id === messageId))
      ?.conversation;
  }

  all(): readonly ConversationDocument[] {
    return [...this.#entries.values()].map(({ conversation, messages }) => ({
      ...conversation,
      messages,
    }));
  }

  add(conversations: readonly StoredConversation[], messages: readonly StoredMessage[]): void {
    this.#version += 1;
    for (const conversation of conversations) {
      const { id } = conversation;
      const { messages: known = [] } = this.#entries.get(id) ?? {};
      this.#entries.set(id, { conversation, messages: known });
    }
    for (const message of messages)
      this.#entries.get(message.conversationId)?.messages.push(message);
  }

  /** Keeps what became of a message. One that a recipient did not get stays so, even if another gets it. */
  mark({ id, conversationId }: StoredMessage, status: StoredStatus): void {
    const { messages = [] } = this.#entries.get(conversationId) ?? {};
    const place = messages.findLastIndex((each) => each.id === id);
    const { [place]: known } = messages;
    if (!known) return;
    const { status: before = "sent" } = known;
    if (before === status || before === "failed" || before === "skipped") return;
    messages[place] = { ...known, status };
  }

  replaceAll(documents: readonly ConversationDocument[]): void {
    this.#entries.clear();
    this.add(
      documents.map(({ messages: _messages, ...conversation }) => conversation),
      documents.flatMap(({ messages }) => messages),
    );
  }
}
