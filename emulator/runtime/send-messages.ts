import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../provider/kernel/json.js";
import { timestamp } from "../clock.js";
import { type Answer, Refusal } from "../http/refusal.js";
import { travelling } from "../http/vendor-word.js";
import type { StoredObject } from "../objects/store.js";
import type { World } from "../objects/world.js";
import { type Asset, describeAsset } from "./assets/asset.js";
import { assetIdIn } from "./assets/signed-addresses.js";
import { type Conversation, type Message, phaseAfter, sidesFor } from "./conversation.js";
import { textAt } from "./json-path.js";
import { messageOnWire } from "./message-on-wire.js";
import { type ParsedMessage, parseMessages, type Start } from "./parse-messages.js";
import {
  accountAt,
  accountOf,
  beginsWithBot,
  idleTimeOf,
  type Recipient,
  recipientOn,
} from "./routing.js";

/** What a request will have done once all of its messages have been found good. */
interface Draft {
  readonly conversations: Map<string, Conversation>;
  readonly messages: Message[];
  readonly assets: Map<string, Asset>;
  readonly deliveries: { readonly recipient: Recipient; readonly message: Message }[];
}

const invalid = (path: string, rule: string): Refusal =>
  new Refusal(400, "400-152", `${path}: ${rule}.`, [{ key: path, value: rule }]);

/** An ended conversation is completed, and so is one that was idle for longer than its account allows. */
export const isCompleted = (world: World, conversation: Conversation): boolean => {
  if (conversation.phase === "ended") return true;
  if (world.switches.idleTimeout === "ignore") return false;
  const idleMs = idleTimeOf(accountOf(world.store, conversation));
  const since = world.clock.now() - Date.parse(conversation.modified);
  return idleMs !== undefined && since > idleMs;
};

const started = (
  world: World,
  { channelType, address, about }: Start,
  path: string,
  now: string,
): Conversation => {
  const account: StoredObject | undefined = accountAt(world.store, channelType, address);
  if (!account)
    throw invalid(
      `${path}.conversation.account`,
      "there is no account in use with this address on a channel of this type",
    );
  const phase = beginsWithBot(world.store, account) ? "bot" : "agent";
  const at = { created: now, modified: now };
  return { id: randomUUID(), phase, accountId: account.id, about, ...at };
};

/** @throws Refusal 400-630 where there is none, or it is over (public reference) */
const continued = (world: World, draft: Draft, id: string): Conversation => {
  const found = draft.conversations.get(id) ?? world.runtime.conversations.get(id);
  if (found && !isCompleted(world, found)) return found;
  throw new Refusal(400, "400-630", "The conversation can no longer be used; start a new one.");
};

const assertParent = (
  world: World,
  draft: Draft,
  { path, parentId }: ParsedMessage,
  conversationId: string,
): void => {
  if (parentId === undefined) return;
  const earlier = [...world.runtime.conversations.messagesOf(conversationId), ...draft.messages];
  const isThere = earlier.some(
    (message) =>
      message.conversationId === conversationId &&
      (message.id === parentId || message.messageId === parentId),
  );
  if (!isThere)
    throw invalid(`${path}.parent.messageId`, "there is no such message in the conversation");
};

/** An attachment with what its asset says of it; one of another origin stays what it is. */
const attached = (world: World, draft: Draft, attachment: JsonObject, path: string): JsonObject => {
  const named = textAt(attachment, "id");
  const id = named ?? assetIdIn(textAt(attachment, "url"));
  if (id === undefined) return attachment;
  const asset = draft.assets.get(id) ?? world.runtime.assets.get(id);
  if (!asset) {
    if (world.switches.unknownReference === "accept") return attachment;
    throw invalid(path, "there is no asset with this id");
  }
  draft.assets.set(id, { ...asset, used: true });
  return { ...describeAsset(asset), ...attachment };
};

const bodyOf = (world: World, draft: Draft, { path, attachments, body }: ParsedMessage) => {
  if (attachments.length === 0) return body;
  const attachment = attachments.map((each, place) =>
    attached(world, draft, each, `${path}.attachments.attachment[${place}]`),
  );
  return { ...body, attachments: { attachment } };
};

const onWire = ({ role, name }: Recipient, platformName: string): JsonObject => ({
  type: travelling(role, platformName),
  ...(name === undefined ? {} : { participant: { name } }),
});

/** Adds one message to what the request will do. */
const place = (world: World, draft: Draft, parsed: ParsedMessage, metadata: unknown): void => {
  const { type, sender, start, conversationId = "" } = parsed;
  const { platformName } = world.switches;
  const now = timestamp(world.clock.now());
  const conversation = start
    ? started(world, start, parsed.path, now)
    : continued(world, draft, conversationId);
  assertParent(world, draft, parsed, conversation.id);
  const recipients = sidesFor(sender, type, conversation.phase).map((side) =>
    recipientOn(world.store, conversation, side, platformName),
  );
  const id = randomUUID();
  const message: Message = {
    id,
    messageId: parsed.messageId ?? id,
    conversationId: conversation.id,
    type,
    body: bodyOf(world, draft, parsed),
    recipients: recipients.map((recipient) => onWire(recipient, platformName)),
    ...(metadata === undefined ? {} : { metadata }),
    created: now,
  };
  const phase = phaseAfter(conversation.phase, type);
  draft.conversations.set(conversation.id, { ...conversation, phase, modified: now });
  draft.messages.push(message);
  draft.deliveries.push(...recipients.map((recipient) => ({ recipient, message })));
};

/**
 * Sends messages (specification §4.2, §6): all of a request or, where one of them is refused, none.
 */
export const sendMessages = (world: World, body: JsonObject): Answer => {
  const { conversations, assets, courier } = world.runtime;
  const draft: Draft = {
    conversations: new Map(),
    messages: [],
    assets: new Map(),
    deliveries: [],
  };
  for (const parsed of parseMessages(body, world.switches.platformName))
    place(world, draft, parsed, body.metadata);
  world.journal.together(() => {
    conversations.add({
      conversations: [...draft.conversations.values()],
      messages: draft.messages,
    });
    for (const asset of draft.assets.values()) assets.put(asset);
  });
  for (const { recipient, message } of draft.deliveries) courier.take(recipient, message);
  const message = draft.messages.map((each) =>
    messageOnWire(each, { conversation: { id: each.conversationId } }),
  );
  return { status: 202, body: { messages: { message } } };
};
