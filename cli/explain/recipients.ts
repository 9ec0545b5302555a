import { isHttpUrl } from "../../provider/definition/violations.js";
import {
  type ConversationSide,
  namedOnSide,
  rolesOnSide,
  type SenderKind,
} from "../../provider/service/message-types.js";
import type {
  AccountObject,
  ApplicationObject,
  OrchestrationObject,
  ParticipantObject,
  SetUpObjects,
} from "./set-up-objects.js";

/** Who gets the messages for a side: a role of a client application, or why nobody does. */
export interface ExplainedRecipient {
  readonly side: ConversationSide;
  /** Id of the client application; left out where none is named. */
  readonly applicationId?: string | undefined;
  /** Its name. */
  readonly application?: string | undefined;
  /** Name of the bot. */
  readonly participant?: string | undefined;
  readonly role?: string | undefined;
  /** Where its messages go. */
  readonly callback?: string | undefined;
  /** Why it gets nothing; left out: it does. */
  readonly unreached?: string | undefined;
}

/** Somebody whom an orchestration names. */
interface NamedParty {
  readonly applicationId: string;
  readonly application: ApplicationObject | undefined;
  readonly participant?: ParticipantObject | undefined;
}

/** Those named for a side, in groups: the first group in which somebody takes part has the side. */
const groupsFor = (
  { applications, participants }: SetUpObjects,
  orchestration: OrchestrationObject | undefined,
  side: ConversationSide,
): readonly (readonly NamedParty[])[] =>
  namedOnSide(orchestration?.applications ?? {}, side).map((group) =>
    group.map(({ application, participant }) => ({
      applicationId: application,
      application: applications.get(application),
      participant: participants.get(participant ?? ""),
    })),
  );

const inactiveText = ({ application, participant }: NamedParty): string | undefined => {
  if (participant?.active === false) return `the participant ${participant.name} is not active`;
  if (application?.active === false)
    return `the client application ${application.name} is not active`;
  return undefined;
};

/** A bot is addressed by the role of its own type, if its application has it. */
const orderedRoles = (
  side: ConversationSide,
  participant: ParticipantObject | undefined,
): readonly SenderKind[] =>
  [...rolesOnSide[side]].sort(
    (a, b) => Number(b === participant?.type) - Number(a === participant?.type),
  );

const recipientOf = (side: ConversationSide, party: NamedParty): ExplainedRecipient => {
  const { applicationId, application, participant } = party;
  const roles = orderedRoles(side, participant);
  const held = roles.flatMap(
    (name) => application?.roles.find((role) => role.name === name) ?? [],
  )[0];
  const role = roles.find((name) => name === held?.name) ?? roles[0];
  const known = {
    side,
    applicationId,
    ...(application ? { application: application.name } : {}),
    ...(participant ? { participant: participant.name } : {}),
    ...(role ? { role } : {}),
    ...(held ? { callback: held.callback } : {}),
  };
  const unreached = unreachedText(side, party, held?.callback);
  return unreached === undefined ? known : { ...known, unreached };
};

const unreachedText = (
  side: ConversationSide,
  party: NamedParty,
  callback: string | undefined,
): string | undefined => {
  const { application, applicationId } = party;
  if (!application) return `there is no client application with the id ${applicationId}`;
  const inactive = inactiveText(party);
  if (inactive !== undefined) return inactive;
  if (callback === undefined)
    return `the client application ${application.name} has no role ${rolesOnSide[side].join(" or ")}`;
  return isHttpUrl(callback) ? undefined : `its callback is no http or https address`;
};

const keyOf = ({ applicationId, role }: ExplainedRecipient): string => `${applicationId} ${role}`;

const nobody = (side: ConversationSide): ExplainedRecipient => ({
  side,
  unreached: `the orchestration names nobody for the ${side}'s side`,
});

const takesPart = (party: NamedParty): boolean => inactiveText(party) === undefined;

/** The orchestration that an account's conversations follow. */
export const orchestrationFor = (
  { orchestrations }: SetUpObjects,
  { chatConfigurations }: AccountObject,
): OrchestrationObject | undefined => orchestrations.get(chatConfigurations.orchestration ?? "");

/**
 * Who gets the messages for a side of an account's conversations. All who are named and take part get
 * them (assumed: the specification speaks of lists, and of no choice among them), one role once.
 */
export const recipientsFor = (
  objects: SetUpObjects,
  account: AccountObject,
  side: ConversationSide,
): readonly ExplainedRecipient[] => {
  const groups = groupsFor(objects, orchestrationFor(objects, account), side);
  const active = groups.map((group) => group.filter(takesPart));
  const found =
    active.find((group) => group.length > 0) ?? groups.find((group) => group.length > 0);
  if (!found) return [nobody(side)];
  const all = found.map((party) => recipientOf(side, party));
  const keys = all.map(keyOf);
  return all.filter((each, place) => keys.indexOf(keyOf(each)) === place);
};

/** Whether a conversation of the account begins with a bot. */
export const beginsWithBots = (objects: SetUpObjects, account: AccountObject): boolean =>
  groupsFor(objects, orchestrationFor(objects, account), "bot").some((group) =>
    group.some(takesPart),
  );
