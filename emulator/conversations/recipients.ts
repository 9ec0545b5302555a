import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject, listAt, textAt, valueAt } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import {
  type ConversationSide,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { findReferences, type Store, type StoredObject } from "../objects/objects.js";
import { vendorWord } from "../objects/validate.js";
import type { Switches } from "../service/switches.js";
import { isReceipt, type StoredConversation } from "./conversation-store.js";
import { sideOf } from "./messages.js";

type ConversationPhase = StoredConversation["phase"];

export const phaseAfter = (phase: ConversationPhase, type: string): ConversationPhase => {
  if (type === "conversation.end") return "ended";
  return type === "escalation.transfer" ? "agent" : phase;
};

/**
 * The sides that receive a message: a customer's message goes to the side that handles the
 * conversation, and all other messages go to the customer. Agents also receive the escalation that
 * hands a conversation over to them (assumed).
 *
 * @param phase before the message
 */
export const sidesFor = (
  sender: SenderKind,
  type: string,
  phase: ConversationPhase,
): readonly ConversationSide[] => {
  if (isReceipt(type)) return [];
  if (sideOf(sender) === "customer") return [phase === "bot" ? "bot" : "agent"];
  const isHandedOver = phase === "bot" && phaseAfter(phase, type) === "agent";
  return isHandedOver ? ["customer", "agent"] : ["customer"];
};

/** The data that determines who receives a message. */
export interface SetUp {
  readonly store: Store;
  readonly switches: Switches;
}

/** Whether an object takes part (assumed): one that is not active is as if it were not there. */
export const isActive = (object: StoredObject | undefined): boolean => object?.active !== false;

/** The object of a kind that another refers to. */
const referredTo = (
  { store }: SetUp,
  definition: Definition,
  object: StoredObject,
  to: Definition,
) => {
  const found = findReferences(definition, object).find((reference) => reference.to === to);
  return found && store.get(to.collection, found.id);
};

export const channelOf = (setUp: SetUp, owner: StoredObject): StoredObject | undefined =>
  referredTo(setUp, account, owner, channel);

const orchestrationOf = (setUp: SetUp, owner: StoredObject): StoredObject | undefined =>
  referredTo(setUp, account, owner, orchestration);

/**
 * Whether an account can be used for conversations: the account, its channel, and its orchestration
 * must be active.
 */
export const isAccountInUse = (setUp: SetUp, owner: StoredObject): boolean =>
  [owner, channelOf(setUp, owner), orchestrationOf(setUp, owner)].every(isActive);

/**
 * The active account with this address on a channel of this type; the oldest such account if there
 * are several.
 */
export const accountAt = (setUp: SetUp, channelType: string, address: string) =>
  setUp.store
    .all(account.collection)
    .find(
      (object) =>
        object.address === address &&
        channelOf(setUp, object)?.type === channelType &&
        isAccountInUse(setUp, object),
    );

export const channelTypeOf = (setUp: SetUp, owner: StoredObject): string | undefined =>
  textAt(channelOf(setUp, owner), "type");

/** Whether there is an active channel of this type. */
export const isChannelType = (setUp: SetUp, type: unknown): boolean =>
  setUp.store.all(channel.collection).some((object) => object.type === type && isActive(object));

export const accountOf = (
  store: Store,
  { accountId }: StoredConversation,
): StoredObject | undefined => store.get(account.collection, accountId);

/**
 * The idle time of an account's conversations, in milliseconds, after which a customer must start a
 * new conversation; undefined if unlimited.
 */
export const idleTimeOf = (owner: StoredObject | undefined): number | undefined => {
  const minutes = valueAt(owner, "chatConfigurations", "timeout");
  return typeof minutes === "number" && minutes > 0 ? minutes * 60_000 : undefined;
};

/** The recipient of a message: one role of one client application. */
export interface RecipientRole {
  /** Empty if the orchestration names no active party. */
  readonly applicationId: string;
  readonly role: SenderKind;
  /** Name of the participant. */
  readonly name?: string;
}

/** A party that the orchestration names for a side. */
interface Named {
  readonly applicationId: string;
  readonly bot?: StoredObject;
}

const isUsable = ({ store }: SetUp, { applicationId, bot }: Named): boolean =>
  isActive(bot) && isActive(store.get(clientApplication.collection, applicationId));

/** Those that the orchestration names for a side; the first active one has it. */
const namedFor = (
  { store }: SetUp,
  applications: unknown,
  side: ConversationSide,
): readonly Named[] => {
  const [bot] = listAt(applications, "botConfiguration", "bots");
  const [agent] = listAt(applications, "agentConfiguration", "agents");
  switch (side) {
    case "customer":
      return partyOf(textAt(applications, "customerConfiguration", "customer", "id"));
    case "bot": {
      const id = textAt(bot, "participant", "id") ?? "";
      return partyOf(textAt(bot, "id"), store.get(participant.collection, id));
    }
    case "agent":
      return [
        ...partyOf(textAt(bot, "onEscalation", "agent", "id")),
        ...partyOf(textAt(agent, "id")),
      ];
  }
};

const partyOf = (applicationId: string | undefined, bot?: StoredObject): readonly Named[] =>
  applicationId === undefined ? [] : [{ applicationId, ...(bot ? { bot } : {}) }];

/** The applications that the orchestration of an account names. */
const applicationsOf = (setUp: SetUp, owner: StoredObject | undefined): unknown =>
  owner && orchestrationOf(setUp, owner)?.applications;

/** Whether the orchestration of an account names somebody for a side. */
export const hasSide = (setUp: SetUp, owner: StoredObject, side: ConversationSide): boolean =>
  namedFor(setUp, applicationsOf(setUp, owner), side).length > 0;

/** Whether an account's orchestration starts with an active bot. */
export const beginsWithBot = (setUp: SetUp, owner: StoredObject): boolean =>
  namedFor(setUp, applicationsOf(setUp, owner), "bot").some((named) => isUsable(setUp, named));

/** A client application's role, found by its wire name; undefined if there is none. */
export const roleOf = ({ store, switches }: SetUp, { applicationId, role }: RecipientRole) => {
  const application = store.get(clientApplication.collection, applicationId);
  return listAt(application, "roles").find(
    (entry): entry is JsonObject => isObject(entry) && entry.name === vendorWord(role, switches),
  );
};

/** The roles of a side: a bot's own type first, then the types that are not the platform's. */
const rolesOf = (side: ConversationSide, { bot }: Named, { switches }: SetUp): SenderKind[] => {
  const rank = (type: SenderKind): number => {
    if (bot?.type === vendorWord(type, switches)) return 0;
    return type.startsWith("custom") ? 1 : 2;
  };
  return senderKinds.filter((type) => sideOf(type) === side).sort((a, b) => rank(a) - rank(b));
};

const nameOn = (side: ConversationSide, { bot }: Named, { about }: StoredConversation) => {
  if (side === "bot") return textAt(bot, "name");
  return side === "customer" ? textAt(about, "customer", "name") : undefined;
};

/**
 * The recipient for a side of a conversation, found through the account, its orchestration, client
 * applications, and roles (specification §6). If no active client application has the role, the
 * result still shows which is meant, so that the log can say why nothing arrived.
 */
export const recipientOn = (
  setUp: SetUp,
  conversation: StoredConversation,
  side: ConversationSide,
): RecipientRole => {
  const applications = applicationsOf(setUp, accountOf(setUp.store, conversation));
  const named = namedFor(setUp, applications, side).find((each) => isUsable(setUp, each)) ?? {
    applicationId: "",
  };
  const { applicationId } = named;
  const candidates = rolesOf(side, named, setUp).map((role) => ({ applicationId, role }));
  const held = candidates.find((candidate) => roleOf(setUp, candidate));
  const name = nameOn(side, named, conversation);
  const [first = { applicationId, role: "customer" as const }] = candidates;
  return { ...(held ?? first), ...(name === undefined ? {} : { name }) };
};
