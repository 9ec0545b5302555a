import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { type Switches, vendorWord } from "../control/switches.js";
import { storedReferences } from "../objects/constraints.js";
import type { Store, StoredObject } from "../objects/store.js";
import type { ConversationPhase, StoredConversation } from "./conversation-store.js";
import { listAt, textOnPath, valueOnPath } from "./json-path.js";
import { type SenderType, type Side, senderTypes, sideOf } from "./sender-rules.js";

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

/** The object of a kind that another refers to. */
const referredTo = (store: Store, definition: Definition, object: StoredObject, to: Definition) => {
  const found = storedReferences(definition, object).find((reference) => reference.to === to);
  return found && store.get(to.collection, found.id);
};

/** The account in use with this address on the channel of this type; the oldest of several. */
export const accountAt = (store: Store, channelType: string, address: string) =>
  store
    .all(account.collection)
    .find(
      (object) =>
        object.address === address &&
        object.active !== false &&
        referredTo(store, account, object, channel)?.type === channelType,
    );

/** Whether there is a channel of this type. */
export const isChannelType = (store: Store, type: string): boolean =>
  store.all(channel.collection).some((object) => object.type === type);

export const accountOf = (
  store: Store,
  { accountId }: StoredConversation,
): StoredObject | undefined => store.get(account.collection, accountId);

/** The applications that the orchestration of an account names. */
const applicationsOf = (store: Store, owner: StoredObject | undefined): unknown => {
  const flow = owner && referredTo(store, account, owner, orchestration);
  return flow?.applications;
};

/** Whether the orchestration of an account begins with a bot. */
export const beginsWithBot = (store: Store, owner: StoredObject): boolean =>
  listAt(applicationsOf(store, owner), "botConfiguration", "bots").length > 0;

/** Who gets a message: one role of one client application. */
export interface RecipientRole {
  readonly applicationId: string;
  readonly role: SenderType;
  /** Name of the participant. */
  readonly name?: string;
}

/** What it takes to find out who gets a message. */
interface SetUp {
  readonly store: Store;
  readonly switches: Switches;
}

/** The role of a client application by its name on the wire. */
export const roleOf = ({ store, switches }: SetUp, { applicationId, role }: RecipientRole) => {
  const application = store.get(clientApplication.collection, applicationId);
  return listAt(application, "roles").find(
    (entry): entry is JsonObject => isObject(entry) && entry.name === vendorWord(role, switches),
  );
};

/** Where the orchestration names the client application of each side. */
const applicationIds: Readonly<Record<Side, (applications: unknown) => string | undefined>> = {
  customer: (applications) => textOnPath(applications, "customerConfiguration", "customer", "id"),
  bot: (applications) => textOnPath(applications, "botConfiguration", "bots", 0, "id"),
  agent: (applications) =>
    textOnPath(applications, "botConfiguration", "bots", 0, "onEscalation", "agent", "id") ??
    textOnPath(applications, "agentConfiguration", "agents", 0, "id"),
};

/** The registered bot that comes first. */
const botOf = (store: Store, applications: unknown): StoredObject | undefined => {
  const id = textOnPath(applications, "botConfiguration", "bots", 0, "participant", "id");
  return id === undefined ? undefined : store.get(participant.collection, id);
};

/** The roles of a side: a bot's own type goes first, then what is not the platform's own. */
const rolesOf = (side: Side, bot: StoredObject | undefined, switches: Switches): SenderType[] => {
  const rank = (type: SenderType): number => {
    if (bot?.type === vendorWord(type, switches)) return 0;
    return type.startsWith("custom") ? 1 : 2;
  };
  return senderTypes.filter((type) => sideOf(type) === side).sort((a, b) => rank(a) - rank(b));
};

const nameOn = (side: Side, bot: StoredObject | undefined, { about }: StoredConversation) => {
  if (side === "bot") return textOnPath(bot, "name");
  return side === "customer" ? textOnPath(about, "customer", "name") : undefined;
};

/**
 * Who gets the messages for a side of a conversation: account, orchestration, client application,
 * role (specification §6). Where nobody holds the role it is still said who should.
 */
export const recipientOn = (setUp: SetUp, conversation: StoredConversation, side: Side) => {
  const { store, switches } = setUp;
  const applications = applicationsOf(store, accountOf(store, conversation));
  const applicationId = applicationIds[side](applications) ?? "";
  const bot = side === "bot" ? botOf(store, applications) : undefined;
  const candidates = rolesOf(side, bot, switches).map((role) => ({ applicationId, role }));
  const held = candidates.find((candidate) => roleOf(setUp, candidate));
  const name = nameOn(side, bot, conversation);
  const [first = { applicationId, role: "customer" as const }] = candidates;
  return { ...(held ?? first), ...(name === undefined ? {} : { name }) };
};

/** Idle time of an account in milliseconds, after which a new conversation must be started; undefined: none. */
export const idleTimeOf = (owner: StoredObject | undefined): number | undefined => {
  const minutes = valueOnPath(owner, "chatConfigurations", "timeout");
  return typeof minutes === "number" && minutes > 0 ? minutes * 60_000 : undefined;
};
