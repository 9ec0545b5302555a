import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { Participant } from "../resources.js";
import { whereKnown } from "./known-values.js";
import {
  applicationsAmong,
  areAllAmong,
  orchestrationsAmong,
  ownApplication,
  participantsAmong,
  placesOf,
  rolesOf,
} from "./orchestration-parts.js";
import { policyNotes } from "./policy-notes.js";

/** What is wrong with a participant by itself; with several applications to choose from, one may fit. */
const wrongRole = (participant: PolicyResource): string | undefined => {
  const type = whereKnown(() => participant.asType(Participant)?.type);
  const own = applicationsAmong(participant.propertyDependencies.application);
  const roles = own.map(rolesOf);
  if (!type || own.length === 0 || roles.some((each) => !each || each.includes(type)))
    return undefined;
  const named = own.map(({ name }) => name).join(" or ");
  return `Participant ${participant.name} is a ${type}, but its client application ${named} has no role ${type} (it has ${roles.flat().join(", ")}): nothing reaches the bot.`;
};

/** Whether a bot of the orchestration may stand for this participant, as far as is known. */
const mayBeNamed = (participant: PolicyResource, orchestration: PolicyResource): boolean => {
  const places = placesOf(orchestration);
  const named = applicationsAmong(orchestration.propertyDependencies.applications);
  const bots = places.find(({ place }) => place === "bot")?.ids ?? [];
  const own = ownApplication(participant);
  if (own !== undefined && bots.length > 0 && !bots.includes(undefined)) return bots.includes(own);
  const resources = applicationsAmong(participant.propertyDependencies.application);
  return (
    resources.length === 0 ||
    resources.some(({ urn }) => named.some((application) => application.urn === urn)) ||
    !areAllAmong(named, places)
  );
};

const applicationName = (participant: PolicyResource): string =>
  applicationsAmong(participant.propertyDependencies.application)
    .map(({ name }) => name)
    .join(" or ") || `${ownApplication(participant)}`;

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
    for (const participant of participantsAmong(resources)) {
      const wrong = wrongRole(participant);
      if (wrong) report(wrong, participant.urn);
    }
    for (const orchestration of orchestrationsAmong(resources))
      for (const participant of participantsAmong(
        orchestration.propertyDependencies.applications ?? [],
      ))
        if (!mayBeNamed(participant, orchestration))
          report(
            `Bot ${participant.name} belongs to client application ${applicationName(participant)}, which no bot of orchestration ${orchestration.name} names.`,
            orchestration.urn,
          );
  },
};
