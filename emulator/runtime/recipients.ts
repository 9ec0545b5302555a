import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { participant } from "../../provider/resources/participant.js";
import { vendorWord } from "../control/switches.js";
import type { StoredObject } from "../objects/store.js";
import type { StoredConversation } from "./conversation-store.js";
import { listAt, textOnPath } from "./json-path.js";
import { accountOf, isActive, orchestrationOf, type SetUp } from "./routing.js";
import { type SenderType, type Side, senderTypes, sideOf } from "./sender-rules.js";

/** Who gets a message: one role of one client application. */
export interface RecipientRole {
  readonly applicationId: string;
  readonly role: SenderType;
  /** Name of the participant. */
  readonly name?: string;
  /** Named by the orchestration, but not active. */
  readonly isInactive?: true;
}

/** Who stands on a side by the orchestration. */
interface Named {
  readonly applicationId: string;
  /** The registered bot. */
  readonly bot?: StoredObject;
}

const isUsable = (setUp: SetUp, { applicationId, bot }: Named): boolean =>
  isActive(setUp, bot) &&
  isActive(setUp, setUp.store.get(clientApplication.collection, applicationId));

const idsIn = (list: readonly unknown[], ...steps: string[]): readonly Named[] =>
  list.flatMap((item) => {
    const applicationId = textOnPath(item, ...steps);
    return applicationId === undefined ? [] : [{ applicationId }];
  });

const botsOf = ({ store }: SetUp, applications: unknown): readonly Named[] =>
  listAt(applications, "botConfiguration", "bots").map((entry) => {
    const id = textOnPath(entry, "participant", "id") ?? "";
    const bot = store.get(participant.collection, id);
    return { applicationId: textOnPath(entry, "id") ?? "", ...(bot ? { bot } : {}) };
  });

/** Groups of those that the orchestration names for a side; the first group with somebody active has it. */
const groupsOf = (
  setUp: SetUp,
  applications: unknown,
  side: Side,
): readonly (readonly Named[])[] => {
  switch (side) {
    case "customer":
      return [idsIn(listAt([applications]), "customerConfiguration", "customer", "id")];
    case "bot":
      return [botsOf(setUp, applications)];
    case "agent":
      return [
        idsIn(listAt(applications, "botConfiguration", "bots"), "onEscalation", "agent", "id"),
        idsIn(listAt(applications, "agentConfiguration", "agents"), "id"),
      ];
  }
};

/** The applications that the orchestration of an account names. */
const applicationsOf = (setUp: SetUp, owner: StoredObject | undefined): unknown =>
  owner && orchestrationOf(setUp, owner)?.applications;

/** Whether the orchestration of an account begins with a bot that takes part. */
export const beginsWithBot = (setUp: SetUp, owner: StoredObject): boolean =>
  botsOf(setUp, applicationsOf(setUp, owner)).some((named) => isUsable(setUp, named));

/** The role of a client application by its name on the wire. */
export const roleOf = ({ store, switches }: SetUp, { applicationId, role }: RecipientRole) => {
  const application = store.get(clientApplication.collection, applicationId);
  return listAt(application, "roles").find(
    (entry): entry is JsonObject => isObject(entry) && entry.name === vendorWord(role, switches),
  );
};

/** The roles of a side: a bot's own type goes first, then what is not the platform's own. */
const rolesOf = (side: Side, { bot }: Named, { switches }: SetUp): SenderType[] => {
  const rank = (type: SenderType): number => {
    if (bot?.type === vendorWord(type, switches)) return 0;
    return type.startsWith("custom") ? 1 : 2;
  };
  return senderTypes.filter((type) => sideOf(type) === side).sort((a, b) => rank(a) - rank(b));
};

const nameOn = (side: Side, { bot }: Named, { about }: StoredConversation) => {
  if (side === "bot") return textOnPath(bot, "name");
  return side === "customer" ? textOnPath(about, "customer", "name") : undefined;
};

const recipientFor = (
  setUp: SetUp,
  conversation: StoredConversation,
  side: Side,
  named: Named,
): RecipientRole => {
  const { applicationId } = named;
  const candidates = rolesOf(side, named, setUp).map((role) => ({ applicationId, role }));
  const held = candidates.find((candidate) => roleOf(setUp, candidate));
  const name = nameOn(side, named, conversation);
  const [first = { applicationId, role: "customer" as const }] = candidates;
  return {
    ...(held ?? first),
    ...(name === undefined ? {} : { name }),
    ...(isUsable(setUp, named) ? {} : { isInactive: true as const }),
  };
};

/** Those who are active; where nobody is, all who are named, so that the log can say why nothing came. */
const standingOn = (setUp: SetUp, applications: unknown, side: Side): readonly Named[] => {
  const groups = groupsOf(setUp, applications, side);
  const usable = groups.map((group) => group.filter((named) => isUsable(setUp, named)));
  const found =
    usable.find((group) => group.length > 0) ?? groups.find((group) => group.length > 0);
  return found ?? [{ applicationId: "" }];
};

/**
 * Who gets the messages for a side of a conversation: account, orchestration, client applications,
 * roles (specification §6). Where nobody holds the role it is still said who should. One role gets a
 * message once, however often it is named.
 */
export const recipientsOn = (
  setUp: SetUp,
  conversation: StoredConversation,
  side: Side,
): readonly RecipientRole[] => {
  const applications = applicationsOf(setUp, accountOf(setUp.store, conversation));
  const named = standingOn(setUp, applications, side);
  const chosen = setUp.switches.recipients === "first" ? named.slice(0, 1) : named;
  const recipients = chosen.map((each) => recipientFor(setUp, conversation, side, each));
  const keys = recipients.map(({ applicationId, role }) => `${applicationId} ${role}`);
  return recipients.filter((_, place) => keys.indexOf(keys[place] ?? "") === place);
};
