import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { ClientApplication, Orchestration, Participant } from "../resources.js";
import { policyNotes, whereKnown } from "./policy-notes.js";

const applicationsAmong = (resources: readonly PolicyResource[] = []): readonly PolicyResource[] =>
  resources.filter((resource) => resource.isType(ClientApplication));

const rolesOf = (application: PolicyResource): readonly string[] | undefined =>
  whereKnown(() => application.asType(ClientApplication)?.roles.map(({ name }) => name));

const orchestrationsAmong = (resources: readonly PolicyResource[]): readonly PolicyResource[] =>
  resources.filter((resource) => resource.isType(Orchestration));

/** Every client application that an orchestration names; undefined where a preview does not know the id yet. */
const namedIds = (orchestration: PolicyResource): readonly unknown[] => {
  const parts = orchestration.asType(Orchestration)?.applications;
  const { bots = [] } = parts?.botConfiguration ?? {};
  const agents = parts?.agentConfiguration?.agents ?? [];
  return [
    ...bots.flatMap((bot) => [
      whereKnown(() => bot.application),
      ...(bot.onEscalation ? [whereKnown(() => bot.onEscalation?.agent)] : []),
    ]),
    ...(parts?.customerConfiguration
      ? [whereKnown(() => parts.customerConfiguration?.customer)]
      : []),
    ...agents.map((_, place) => whereKnown(() => agents[place])),
  ];
};

/** Whether all that an orchestration names is among these resources: an id may be of something else. */
const allAmong = (
  applications: readonly PolicyResource[],
  orchestration: PolicyResource,
): boolean => {
  const ids = namedIds(orchestration);
  const known = new Set(ids.filter((id) => id !== undefined));
  return known.size === 0 || (!ids.includes(undefined) && known.size <= applications.length);
};

/** What an orchestration refers to, and which parts it has. */
const partsOf = (orchestration: PolicyResource) => {
  const uses = orchestration.propertyDependencies.applications ?? [];
  const parts = orchestration.asType(Orchestration)?.applications;
  return {
    applications: applicationsAmong(uses),
    participants: uses.filter((resource) => resource.isType(Participant)),
    customer: parts?.customerConfiguration !== undefined,
    bots: parts?.botConfiguration !== undefined,
    agents:
      parts?.agentConfiguration !== undefined ||
      parts?.botConfiguration?.bots?.some(({ onEscalation }) => onEscalation !== undefined) ===
        true,
  };
};

/** `bots-match-participants`: a bot's messages go where its participant says. */
export const botsMatchParticipants: StackValidationPolicy = {
  ...policyNotes(
    "bots-match-participants",
    "Bots match their participants",
    "A bot of an orchestration names the client application that its participant belongs to, and that application has the participant's role.",
    "Give the bot the application of its participant, and the application a role of the participant's type.",
  ),
  severity: "high",
  validateStack: ({ resources }, report) => {
    for (const bot of resources.filter((resource) => resource.isType(Participant))) {
      const type = whereKnown(() => bot.asType(Participant)?.type);
      for (const application of applicationsAmong(bot.propertyDependencies.application)) {
        const roles = rolesOf(application);
        if (type && roles && !roles.includes(type))
          report(
            `Participant ${bot.name} is a ${type}, but its client application ${application.name} has no role ${type} (it has ${roles.join(", ")}): nothing reaches the bot.`,
            bot.urn,
          );
      }
    }
    for (const orchestration of orchestrationsAmong(resources)) {
      const { applications, participants } = partsOf(orchestration);
      const named = new Set(applications.map(({ urn }) => urn));
      for (const bot of participants)
        for (const own of applicationsAmong(bot.propertyDependencies.application))
          if (!named.has(own.urn))
            report(
              `Bot ${bot.name} belongs to client application ${own.name}, which orchestration ${orchestration.name} does not name.`,
              orchestration.urn,
            );
    }
  },
};

const agentRoles = ["custom_agent", "platform_agent"];
const botRoles = ["custom_bot", "platform_bot"];

/** `roles-match-orchestration`: who sends as what an orchestration expects has the role for it. */
export const rolesMatchOrchestration: StackValidationPolicy = {
  ...policyNotes(
    "roles-match-orchestration",
    "Roles match the orchestration",
    "The client applications of an orchestration have the roles of the places they are in.",
    "Give the client application the role of its place: customer, custom_bot or platform_bot, custom_agent or platform_agent.",
  ),
  severity: "high",
  validateStack: ({ resources }, report) => {
    for (const orchestration of orchestrationsAmong(resources)) {
      const { applications, customer, bots, agents } = partsOf(orchestration);
      const places = [
        { place: "customer", filled: customer, roles: ["customer"] },
        { place: "bot", filled: bots, roles: botRoles },
        { place: "agent", filled: agents, roles: agentRoles },
      ].filter(({ filled }) => filled);
      const known = applications.map((application) => ({
        application,
        roles: rolesOf(application),
      }));
      for (const { application, roles } of known)
        if (roles && !places.some((place) => place.roles.some((role) => roles.includes(role))))
          report(
            `Client application ${application.name} (${roles.join(", ")}) is named by orchestration ${orchestration.name}, which has no place for its roles.`,
            orchestration.urn,
          );
      // One that is not of this stack, or whose roles are not known yet, may be the one that fits.
      if (known.some(({ roles }) => roles === undefined)) continue;
      if (!allAmong(applications, orchestration)) continue;
      for (const { place, roles } of places)
        if (!known.some((one) => roles.some((role) => one.roles?.includes(role))))
          report(
            `No client application of orchestration ${orchestration.name} has a role for the ${place} (${roles.join(" or ")}).`,
            orchestration.urn,
          );
    }
  },
};
