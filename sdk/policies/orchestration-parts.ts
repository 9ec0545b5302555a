import type { PolicyResource } from "@pulumi/policy";
import { ClientApplication, Orchestration, Participant } from "../resources.js";
import { knownItems, whereKnown } from "./known-values.js";

export const applicationsAmong = (
  resources: readonly PolicyResource[] = [],
): readonly PolicyResource[] => resources.filter((resource) => resource.isType(ClientApplication));

export const participantsAmong = (
  resources: readonly PolicyResource[],
): readonly PolicyResource[] => resources.filter((resource) => resource.isType(Participant));

export const orchestrationsAmong = (
  resources: readonly PolicyResource[],
): readonly PolicyResource[] => resources.filter((resource) => resource.isType(Orchestration));

/** The roles of an application; undefined while a preview does not know all of them. */
export const rolesOf = (application: PolicyResource): readonly string[] | undefined =>
  whereKnown(() => application.asType(ClientApplication)?.roles.map(({ name }) => name));

const idOf = (read: () => unknown): string | undefined => {
  const id = whereKnown(read);
  return typeof id === "string" ? id : undefined;
};

/** The client application that a participant belongs to, as far as it is known. */
export const ownApplication = (participant: PolicyResource): string | undefined =>
  idOf(() => participant.asType(Participant)?.application);

/** The places of an orchestration, each with the roles that serve it. */
const placeRoles = {
  customer: ["customer"],
  bot: ["custom_bot", "platform_bot"],
  agent: ["custom_agent", "platform_agent"],
} as const;

/** A place that an orchestration fills. */
export interface Place {
  readonly place: keyof typeof placeRoles;
  /** Roles of which an application has one there. */
  readonly roles: readonly string[];
  /** Ids of the applications in it; undefined for one that a preview does not know yet. */
  readonly ids: readonly (string | undefined)[];
}

/** The ids of a list, each as far as it is known: a walk over the list would stop at one that is not. */
const idsIn = (read: () => readonly unknown[] | undefined): readonly (string | undefined)[] => {
  const list = whereKnown(read) ?? [];
  return Array.from({ length: list.length }, (_, at) => idOf(() => list[at]));
};

/** The places that an orchestration fills, with the ids that stand in them. */
export const placesOf = (orchestration: PolicyResource): readonly Place[] => {
  const parts = orchestration.asType(Orchestration)?.applications;
  const customer = whereKnown(() => parts?.customerConfiguration);
  const bots = knownItems(() => parts?.botConfiguration?.bots);
  const escalations = bots.flatMap((bot) => whereKnown(() => bot.onEscalation) ?? []);
  const ids = {
    customer: customer ? [idOf(() => customer.customer)] : [],
    bot: bots.map((bot) => idOf(() => bot.application)),
    agent: [
      ...idsIn(() => parts?.agentConfiguration?.agents),
      ...escalations.map((escalation) => idOf(() => escalation.agent)),
    ],
  };
  return (["customer", "bot", "agent"] as const)
    .map((place) => ({ place, roles: placeRoles[place], ids: ids[place] }))
    .filter(({ ids: filled }) => filled.length > 0);
};

/**
 * The applications of a stack by their ids, as far as something tells them: a participant knows the
 * resource that it belongs to, and its id.
 */
export const applicationsById = (
  resources: readonly PolicyResource[],
): ReadonlyMap<string, PolicyResource> =>
  new Map(
    participantsAmong(resources).flatMap((participant) => {
      const id = ownApplication(participant);
      const [application, ...others] = applicationsAmong(
        participant.propertyDependencies.application,
      );
      return id !== undefined && application && others.length === 0
        ? [[id, application] as const]
        : [];
    }),
  );

/** Whether all that an orchestration names is among these resources: an id may be of something else. */
export const areAllAmong = (
  applications: readonly PolicyResource[],
  places: readonly Place[],
): boolean => {
  const ids = places.flatMap((place) => place.ids);
  const known = new Set(ids.filter((id) => id !== undefined));
  return known.size === 0 || (!ids.includes(undefined) && known.size <= applications.length);
};
