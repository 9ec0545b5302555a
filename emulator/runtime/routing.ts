import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { travelling } from "../http/vendor-word.js";
import type { Store, StoredObject } from "../objects/store.js";
import { storedReferences } from "../objects/stored-references.js";
import type { Conversation, Side } from "./conversation.js";
import { listAt, textAt, valueAt } from "./json-path.js";
import { type SenderKind, senderKinds, sideOf } from "./sender-rules.js";

/** The object of a kind that another refers to. */
const referredTo = (
  store: Store,
  definition: Definition,
  object: StoredObject,
  to: Definition,
): StoredObject | undefined => {
  const found = storedReferences(definition, object).find((reference) => reference.to === to);
  return found && store.get(to.collection, found.id);
};

/** The account in use with this address on the channel of this type; the oldest of several. */
export const accountAt = (
  store: Store,
  channelType: string,
  address: string,
): StoredObject | undefined =>
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

export const accountOf = (store: Store, { accountId }: Conversation): StoredObject | undefined =>
  store.get(account.collection, accountId);

/** The applications that the orchestration of an account names. */
const applicationsOf = (store: Store, owner: StoredObject | undefined): unknown => {
  const flow = owner && referredTo(store, account, owner, orchestration);
  return flow?.applications;
};

/** Whether the orchestration of an account begins with a bot. */
export const beginsWithBot = (store: Store, owner: StoredObject): boolean =>
  listAt(applicationsOf(store, owner), "botConfiguration", "bots").length > 0;

/** A recipient: one role of one client application. */
export interface Recipient {
  readonly applicationId: string;
  readonly role: SenderKind;
  /** Name of the participant. */
  readonly name?: string;
}

/** The role of a client application by its name on the wire. */
export const roleOf = (
  store: Store,
  { applicationId, role }: Recipient,
  platformName: string,
): JsonObject | undefined => {
  const application = store.get(clientApplication.collection, applicationId);
  return listAt(application, "roles").find(
    (entry): entry is JsonObject =>
      isObject(entry) && entry.name === travelling(role, platformName),
  );
};

/** Where the orchestration names the client application of each side. */
const applicationIds: Readonly<Record<Side, (applications: unknown) => string | undefined>> = {
  customer: (applications) => textAt(applications, "customerConfiguration", "customer", "id"),
  bot: (applications) => textAt(applications, "botConfiguration", "bots", 0, "id"),
  agent: (applications) =>
    textAt(applications, "botConfiguration", "bots", 0, "onEscalation", "agent", "id") ??
    textAt(applications, "agentConfiguration", "agents", 0, "id"),
};

/** The registered bot that comes first. */
const botOf = (store: Store, applications: unknown): StoredObject | undefined => {
  const id = textAt(applications, "botConfiguration", "bots", 0, "participant", "id");
  return id === undefined ? undefined : store.get(participant.collection, id);
};

/** The roles of a side, the likeliest first. */
const rolesOf = (side: Side, bot: StoredObject | undefined, platformName: string): SenderKind[] =>
  senderKinds
    .filter((kind) => sideOf(kind) === side)
    .sort((a, b) => rank(a, bot, platformName) - rank(b, bot, platformName));

/** A bot's own type goes first, then what is not the platform's own. */
const rank = (kind: SenderKind, bot: StoredObject | undefined, platformName: string): number => {
  if (bot?.type === travelling(kind, platformName)) return 0;
  return kind.startsWith("custom") ? 1 : 2;
};

const nameOn = (
  side: Side,
  bot: StoredObject | undefined,
  { about }: Conversation,
): string | undefined => {
  if (side === "bot") return textAt(bot, "name");
  return side === "customer" ? textAt(about, "customer", "name") : undefined;
};

/**
 * Who gets the messages for a side of a conversation: account, orchestration, client application,
 * role (specification §6). Where nobody holds the role it is still said who should.
 */
export const recipientOn = (
  store: Store,
  conversation: Conversation,
  side: Side,
  platformName: string,
): Recipient => {
  const applications = applicationsOf(store, accountOf(store, conversation));
  const applicationId = applicationIds[side](applications) ?? "";
  const bot = side === "bot" ? botOf(store, applications) : undefined;
  const roles = rolesOf(side, bot, platformName);
  const candidates = roles.map((role) => ({ applicationId, role }));
  const held = candidates.find((candidate) => roleOf(store, candidate, platformName));
  const name = nameOn(side, bot, conversation);
  const [first = { applicationId, role: "customer" as const }] = candidates;
  return { ...(held ?? first), ...(name === undefined ? {} : { name }) };
};

/** Idle time of an account in milliseconds, after which a new conversation must be started; undefined: none. */
export const idleTimeOf = (owner: StoredObject | undefined): number | undefined => {
  const minutes = valueAt(owner, "chatConfigurations", "timeout");
  return typeof minutes === "number" && minutes > 0 ? minutes * 60_000 : undefined;
};
