import type { Definition } from "../../provider/definition/define.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import type { Switches } from "../control/switches.js";
import type { Store, StoredObject } from "../objects/store.js";
import { storedReferences } from "../objects/stored-references.js";
import type { ConversationPhase, StoredConversation } from "./conversation-store.js";
import { textOnPath, valueOnPath } from "./json-path.js";
import { type SenderType, type Side, sideOf } from "./sender-rules.js";

/** The next phase, once a message was sent. */
export const phaseAfter = (phase: ConversationPhase, type: string): ConversationPhase => {
  if (type === "conversation.end") return "ended";
  return type === "escalation.transfer" ? "agent" : phase;
};

/**
 * The sides that a message goes to: a customer's to whoever has the conversation, everybody else's
 * to the customer. An escalation reaches the agent too, who learns of the conversation by it (assumed).
 *
 * @param phase before the message
 */
export const sidesFor = (
  sender: SenderType,
  type: string,
  phase: ConversationPhase,
): readonly Side[] => {
  if (sideOf(sender) === "customer") return [phase === "bot" ? "bot" : "agent"];
  const isHandedOver = phase === "bot" && phaseAfter(phase, type) === "agent";
  return isHandedOver ? ["customer", "agent"] : ["customer"];
};

/** What it takes to find out who gets a message. */
export interface SetUp {
  readonly store: Store;
  readonly switches: Switches;
}

/** Whether an object takes part: it is active, or `active` has no effect (by switch). */
export const isActive = ({ switches }: SetUp, object: StoredObject | undefined): boolean =>
  object?.active !== false || switches.inactiveObjects === "used";

/** The object of a kind that another refers to. */
const referredTo = (
  { store }: SetUp,
  definition: Definition,
  object: StoredObject,
  to: Definition,
) => {
  const found = storedReferences(definition, object).find((reference) => reference.to === to);
  return found && store.get(to.collection, found.id);
};

export const channelOf = (setUp: SetUp, owner: StoredObject): StoredObject | undefined =>
  referredTo(setUp, account, owner, channel);

export const orchestrationOf = (setUp: SetUp, owner: StoredObject): StoredObject | undefined =>
  referredTo(setUp, account, owner, orchestration);

/** Whether conversations run over an account: it, its channel and its orchestration are active. */
export const isAccountInUse = (setUp: SetUp, owner: StoredObject): boolean =>
  [owner, channelOf(setUp, owner), orchestrationOf(setUp, owner)].every((object) =>
    isActive(setUp, object),
  );

/** The account in use with this address on the channel of this type; the oldest of several. */
export const accountAt = (setUp: SetUp, channelType: string, address: string) =>
  setUp.store
    .all(account.collection)
    .find(
      (object) =>
        object.address === address &&
        channelOf(setUp, object)?.type === channelType &&
        isAccountInUse(setUp, object),
    );

/** The type of the channel that an account is on. */
export const channelTypeOf = (setUp: SetUp, owner: StoredObject): string | undefined =>
  textOnPath(channelOf(setUp, owner), "type");

/** Whether there is a channel of this type that takes part. */
export const isChannelType = (setUp: SetUp, type: string): boolean =>
  setUp.store
    .all(channel.collection)
    .some((object) => object.type === type && isActive(setUp, object));

export const accountOf = (
  store: Store,
  { accountId }: StoredConversation,
): StoredObject | undefined => store.get(account.collection, accountId);

/** Idle time of an account in milliseconds, after which a new conversation must be started; undefined: none. */
export const idleTimeOf = (owner: StoredObject | undefined): number | undefined => {
  const minutes = valueOnPath(owner, "chatConfigurations", "timeout");
  return typeof minutes === "number" && minutes > 0 ? minutes * 60_000 : undefined;
};
