import { randomUUID } from "node:crypto";
import { type JsonObject, textAt } from "../../provider/kernel/json.js";
import { isAvailability, isDeletion } from "../../provider/resources/message-types.js";
import { HttpError, invalidAttribute } from "../http/exchange.js";
import type { StoredObject } from "../objects/objects.js";
import { vendorWord } from "../objects/validate.js";
import type { OperationHandler } from "../service/calls.js";
import { type EmulatorClock, timestamp } from "../service/clock.js";
import { type AssetRecord, type AssetStore, describeAsset } from "./assets.js";
import {
  type ConversationStore,
  type StoredConversation,
  type StoredMessage,
  transcriptJson,
} from "./conversation-store.js";
import type { Deliveries } from "./deliveries.js";
import { assertCarried, type ParsedMessage, parseMessages, sideOf } from "./messages.js";
import {
  accountAt,
  accountOf,
  beginsWithBot,
  channelOf,
  hasSide,
  idleTimeOf,
  isAccountInUse,
  phaseAfter,
  type RecipientRole,
  recipientOn,
  type SetUp,
  sidesFor,
} from "./recipients.js";

/** What the operations on conversations need. */
interface ConversationsHub extends SetUp {
  readonly clock: EmulatorClock;
  readonly conversations: ConversationStore;
  readonly assets: AssetStore;
  readonly deliveries: Deliveries;
}

/**
 * Whether a conversation is completed, because it has ended or has been idle for longer than its
 * account allows.
 */
export const isCompleted = (
  { store, clock }: SetUp & { readonly clock: EmulatorClock },
  conversation: StoredConversation,
): boolean => {
  if (conversation.phase === "ended") return true;
  const idleMs = idleTimeOf(accountOf(store, conversation));
  const since = clock.now() - Date.parse(conversation.modified);
  return idleMs !== undefined && since > idleMs;
};

/** The effects of the messages of a request, applied once all of them are found valid. */
class MessageBatch {
  readonly #now: string;
  readonly #conversations = new Map<string, StoredConversation>();
  readonly #messages: StoredMessage[] = [];
  readonly #answers: JsonObject[] = [];
  readonly #assets = new Map<string, AssetRecord>();
  readonly #deliveries: { readonly recipient: RecipientRole; readonly message: StoredMessage }[] =
    [];

  constructor(private readonly hub: ConversationsHub) {
    this.#now = timestamp(hub.clock.now());
  }

  /** @throws HttpError if the message does not fit the existing objects */
  add(parsed: ParsedMessage, metadata: unknown): void {
    const { type, sender } = parsed;
    const id = randomUUID();
    const { messageId = id } = parsed;
    const conversation = this.#conversationOf(parsed);
    this.#answers.push({
      id,
      messageId,
      ...(conversation ? { conversation: { id: conversation.id } } : {}),
    });
    if (!conversation) return;
    this.#assertNew(parsed, conversation.id);
    const attachments = parsed.attachments.map((each, place) =>
      this.#attachment(each, `${parsed.path}.attachments.attachment[${place}]`),
    );
    this.#assertCarried(parsed, attachments, conversation);
    const recipients = sidesFor(sender, type, conversation.phase).map((side) =>
      recipientOn(this.hub, conversation, side),
    );
    const { id: known, ...about } = parsed.conversation;
    const message: StoredMessage = {
      id,
      messageId,
      conversationId: conversation.id,
      type,
      body:
        attachments.length > 0
          ? { ...parsed.body, attachments: { attachment: attachments } }
          : parsed.body,
      // What starts a conversation is kept there.
      ...(known === undefined || Object.keys(about).length === 0 ? {} : { about }),
      recipients: recipients.map((recipient) => this.#recipientJson(recipient)),
      ...(metadata === undefined ? {} : { metadata }),
      created: this.#now,
    };
    const phase = phaseAfter(conversation.phase, type);
    this.#conversations.set(conversation.id, { ...conversation, phase, modified: this.#now });
    this.#messages.push(message);
    this.#deliveries.push(...recipients.map((recipient) => ({ recipient, message })));
  }

  /** Stores everything, starts the deliveries, and returns the answers. */
  commit(): readonly JsonObject[] {
    const { conversations, assets, deliveries } = this.hub;
    conversations.add([...this.#conversations.values()], this.#messages);
    for (const asset of this.#assets.values()) assets.put(asset);
    for (const { recipient, message } of this.#deliveries) deliveries.add(recipient, message);
    return this.#answers;
  }

  /** The conversation of a message; undefined if it belongs to an entry point. */
  #conversationOf(parsed: ParsedMessage): StoredConversation | undefined {
    const { type, conversation } = parsed;
    const id = textAt(conversation, "id");
    if (id !== undefined) return this.#continued(id, parsed);
    if (textAt(conversation, "type") !== undefined) return this.#survey(parsed);
    if (isAvailability(type)) return undefined;
    const account = this.#account(parsed);
    return isDeletion(type) ? this.#completed(account, parsed) : this.#started(account, parsed);
  }

  #account({ path, conversation }: ParsedMessage): StoredObject {
    const channelType = textAt(conversation, "account", "channel", "type") ?? "";
    const address = textAt(conversation, "account", "address") ?? "";
    const account = accountAt(this.hub, channelType, address);
    if (account) return account;
    throw invalidAttribute(
      `${path}.conversation.account`,
      "no active account has this address on a channel of this type",
    );
  }

  /** @throws HttpError 403-103 if the sender may not start a conversation (vendor) */
  #started(owner: StoredObject, { sender, conversation }: ParsedMessage): StoredConversation {
    if (!this.#takesPart(owner, sender))
      throw new HttpError(403, "403-103", "This sender may not start a conversation.");
    return {
      id: randomUUID(),
      phase: beginsWithBot(this.hub, owner) ? "bot" : "agent",
      accountId: owner.id,
      about: conversation,
      created: this.#now,
      modified: this.#now,
    };
  }

  /** A survey takes place on the account of the conversation that it is about, or another one. */
  #survey(parsed: ParsedMessage): StoredConversation {
    const { path, conversation } = parsed;
    if (conversation.account !== undefined) return this.#started(this.#account(parsed), parsed);
    const { store, conversations } = this.hub;
    const subject = conversations.get(textAt(conversation, "parent", "id") ?? "");
    const owner = subject && accountOf(store, subject);
    if (!subject || !owner)
      throw invalidAttribute(`${path}.conversation.parent.id`, "there is no such conversation");
    const about = { ...conversation, account: subject.about.account };
    return this.#started(owner, { ...parsed, conversation: about });
  }

  /** The completed conversation with the message to delete; it stays completed. */
  #completed(owner: StoredObject, { path, parentId = "" }: ParsedMessage): StoredConversation {
    const found = this.hub.conversations.holding(parentId);
    if (found?.accountId === owner.id && isCompleted(this.hub, found))
      return { ...found, phase: "ended" };
    const rule = "no completed conversation on this account has such a message";
    throw invalidAttribute(`${path}.parent.id`, rule);
  }

  /** Whether the orchestration names somebody for the sender's side (assumed to be the reason). */
  #takesPart(owner: StoredObject, sender: ParsedMessage["sender"]): boolean {
    const side = sideOf(sender);
    return side === "customer" || hasSide(this.hub, owner, side);
  }

  /** @throws HttpError 400-630 if the conversation does not exist or has ended (public reference) */
  #continued(id: string, { path, sender }: ParsedMessage): StoredConversation {
    const found = this.#conversations.get(id) ?? this.hub.conversations.get(id);
    if (!found || isCompleted(this.hub, found) || !this.#isInUse(found))
      throw new HttpError(
        400,
        "400-630",
        "The conversation does not exist or has ended; start a new one.",
      );
    const owner = accountOf(this.hub.store, found);
    if (!owner || this.#takesPart(owner, sender)) return found;
    throw new HttpError(400, "400-240", `${path}.sender: does not take part in the conversation.`);
  }

  /** An account that was deleted since blocks nothing. */
  #isInUse(conversation: StoredConversation): boolean {
    const account = accountOf(this.hub.store, conversation);
    return account === undefined || isAccountInUse(this.hub, account);
  }

  #assertCarried(
    { path, type, sender, body }: ParsedMessage,
    attachments: readonly JsonObject[],
    conversation: StoredConversation,
  ): void {
    const account = accountOf(this.hub.store, conversation);
    if (!account) return;
    const carried = { path, type, sender, content: body.content, attachments };
    assertCarried(channelOf(this.hub, account), carried);
  }

  /** @throws HttpError 400-138 if the conversation has a message with this ID of its sender (vendor) */
  #assertNew({ path, messageId, parentId }: ParsedMessage, conversationId: string): void {
    const earlier = this.hub.conversations.messagesOf(conversationId);
    const isKnown = [...earlier, ...this.#messages].some(
      (each) => each.conversationId === conversationId && each.messageId === messageId,
    );
    if (isKnown) {
      const rule = "the conversation already has a message with this ID";
      throw invalidAttribute(`${path}.messageId`, rule, "400-138");
    }
    if (parentId === undefined || earlier.some(({ id }) => id === parentId)) return;
    throw invalidAttribute(`${path}.parent.id`, "the conversation has no such message");
  }

  /** An attachment with the details of its asset; one with an address stays unchanged. */
  #attachment(attachment: JsonObject, path: string): JsonObject {
    const id = textAt(attachment, "id");
    if (id === undefined) return attachment;
    const asset = this.#assets.get(id) ?? this.hub.assets.get(id);
    if (!asset) {
      if (this.hub.switches.unknownReference === "accept") return attachment;
      throw invalidAttribute(path, "no asset has this ID");
    }
    this.#assets.set(id, { ...asset, used: true });
    return describeAsset(asset);
  }

  #recipientJson({ role, name }: RecipientRole): JsonObject {
    return {
      type: vendorWord(role, this.hub.switches),
      ...(name === undefined ? {} : { participant: { name } }),
    };
  }
}

/**
 * Sends messages (specification §4.2, §6): either all messages in a request or, if one is refused,
 * none.
 */
export const sendMessages: OperationHandler<ConversationsHub> = (hub, call) => {
  const body = call.body();
  const batch = new MessageBatch(hub);
  for (const parsed of parseMessages(body, hub.switches)) batch.add(parsed, body.metadata);
  return { status: 202, body: { messages: { message: batch.commit() } } };
};

/**
 * Returns the details of a completed conversation (specification §4.2). For an ongoing
 * conversation, the response is 404 (assumed).
 */
export const getConversation: OperationHandler<ConversationsHub> = (hub, { id }) => {
  const conversation = hub.conversations.get(id);
  if (!conversation) throw new HttpError(404, "404-101", "There is no conversation with this ID.");
  if (!isCompleted(hub, conversation))
    throw new HttpError(404, "404-101", "The conversation has not completed yet.");
  const { preferredAgent: _, ...about } = conversation.about;
  const messages = transcriptJson(hub.conversations.messagesOf(id));
  return { status: 200, body: { ...about, id, messages } };
};
