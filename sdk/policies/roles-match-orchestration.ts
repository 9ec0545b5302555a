import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import {
  applicationsAmong,
  applicationsById,
  areAllAmong,
  orchestrationsAmong,
  type Place,
  placesOf,
  rolesOf,
} from "./orchestration-parts.js";
import { policyNotes } from "./policy-notes.js";

/** What an orchestration names, and what is known of it. */
interface Named {
  readonly orchestration: PolicyResource;
  readonly places: readonly Place[];
  readonly applications: readonly PolicyResource[];
  readonly byId: ReadonlyMap<string, PolicyResource>;
}

const hasOneOf = (application: PolicyResource, roles: readonly string[]): boolean =>
  rolesOf(application)?.some((role) => roles.includes(role)) ?? true;

/** Applications whose id stands in a place for which they have no role. */
const misplaced = ({ orchestration, places, byId }: Named): readonly string[] =>
  places.flatMap(({ place, roles, ids }) =>
    [...new Set(ids)]
      .flatMap((id) => (id === undefined ? [] : (byId.get(id) ?? [])))
      .filter((application) => !hasOneOf(application, roles))
      .map(
        ({ name }) =>
          `Client application ${name} is the ${place} of orchestration ${orchestration.name}, and has no role for it (${roles.join(" or ")}).`,
      ),
  );

/** Applications that are named, and fit no place at all. */
const withoutPlace = ({ orchestration, places, applications }: Named): readonly string[] => {
  const roles = places.flatMap((place) => place.roles);
  return applications
    .filter((application) => places.length > 0 && !hasOneOf(application, roles))
    .map(
      (application) =>
        `Client application ${application.name} (${rolesOf(application)?.join(", ")}) is named by orchestration ${orchestration.name}, which has no place for its roles.`,
    );
};

/** Places that no application can fill; one that is not of this stack, or not known yet, may be the one that fits. */
const unfilled = ({ orchestration, places, applications }: Named): readonly string[] => {
  if (applications.length === 0 || !areAllAmong(applications, places)) return [];
  return places
    .filter(({ roles }) => !applications.some((application) => hasOneOf(application, roles)))
    .map(
      ({ place, roles }) =>
        `No client application of orchestration ${orchestration.name} has a role for the ${place} (${roles.join(" or ")}).`,
    );
};

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
    const byId = applicationsById(resources);
    for (const orchestration of orchestrationsAmong(resources)) {
      const applications = applicationsAmong(orchestration.propertyDependencies.applications);
      const named = { orchestration, applications, byId, places: placesOf(orchestration) };
      for (const text of [...misplaced(named), ...withoutPlace(named), ...unfilled(named)])
        report(text, orchestration.urn);
    }
  },
};
