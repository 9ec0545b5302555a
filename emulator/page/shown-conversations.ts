import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { isCompleted } from "../runtime/conversation-operations.js";
import {
  type ConversationPhase,
  messageJson,
  type StoredConversation,
} from "../runtime/conversation-store.js";
import { textOnPath } from "../runtime/messages.js";
import { channelTypeOf, isAccountInUse, type SetUp } from "../runtime/recipients.js";
import type { EmulatedService } from "../service/service.js";

/** A conversation in the page's list. */
export interface ConversationSummary {
  readonly id: string;
  readonly phase: ConversationPhase;
  readonly customer: string;
  readonly address: string;
  readonly channelType: string;
  readonly messages: number;
  /** When its last message came. */
  readonly modified: string;
}

/** The conversations that changed. */
export interface ChangedConversations {
  /** Whether these are all there are, and take the place of those known before. */
  readonly isWhole: boolean;
  /** How many there are in all. */
  readonly total: number;
  readonly entries: readonly ConversationSummary[];
}

/** What is new in the conversation that the page shows. */
export interface ConversationGrowth {
  readonly id: string;
  readonly isCompleted: boolean;
  /** Place of the first message here within the conversation, from 0: later than asked for where too many came since. */
  readonly from: number;
  /** As the service gives them back. */
  readonly messages: readonly JsonObject[];
}

/** Where a customer can start a conversation. */
export interface ConversationAddress {
  readonly name: string;
  readonly address: string;
  readonly channelType: string;
}

/** As many as a person may want to look through. */
const mostConversations = 2_000;
const mostMessages = 2_000;
const mostAddresses = 1_000;

const summary = (
  { conversations }: Pick<EmulatedService, "conversations">,
  { id, phase, about, modified }: StoredConversation,
): ConversationSummary => ({
  id,
  phase,
  customer: textOnPath(about, "customer", "name") ?? "",
  address: textOnPath(about, "account", "address") ?? "",
  channelType: textOnPath(about, "account", "channel", "type") ?? "",
  messages: conversations.lengthOf(id),
  modified,
});

/** The conversations that changed after a version, the last 2,000. */
export const changedConversations = (
  service: Pick<EmulatedService, "conversations">,
  version: number,
): ChangedConversations => {
  const { isWhole, entries } = service.conversations.since(version, mostConversations);
  return {
    isWhole,
    total: service.conversations.count,
    entries: entries.map((each) => summary(service, each)),
  };
};

/** The messages of a conversation from a place on, the last 2,000; undefined where there is no such conversation. */
export const growthOf = (
  service: EmulatedService,
  id: string,
  from: number,
): ConversationGrowth | undefined => {
  const conversation = service.conversations.get(id);
  if (!conversation) return undefined;
  const first = Math.max(from, service.conversations.lengthOf(id) - mostMessages);
  return {
    id,
    isCompleted: isCompleted(service, conversation),
    from: first,
    messages: service.conversations.messagesOf(id, first).map((each) => messageJson(each)),
  };
};

/** The addresses of the accounts in use. */
export const conversationAddresses = (setUp: SetUp): readonly ConversationAddress[] =>
  setUp.store
    .all(account.collection)
    .filter((object) => isAccountInUse(setUp, object))
    .slice(0, mostAddresses)
    .map((object) => ({
      name: textOnPath(object, "name") ?? "",
      address: textOnPath(object, "address") ?? "",
      channelType: channelTypeOf(setUp, object) ?? "",
    }));
