import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { Authentication, ClientApplication } from "../resources.js";
import { policyNotes, whereKnown } from "./policy-notes.js";

/** A role that signs in with an authentication, known by the resource or by the id alone. */
interface SignIn {
  readonly authentication: string;
  readonly role: string;
}

/** The ids that roles name; those that a preview does not know yet are left out. */
const byId = (application: PolicyResource): readonly SignIn[] =>
  (application.asType(ClientApplication)?.roles ?? []).flatMap((role) => {
    const id = whereKnown(() => role.authentication);
    return typeof id === "string"
      ? [{ authentication: id, role: `${application.name}.${role.name}` }]
      : [];
  });

/** The resources that the roles of an application refer to: known before they have an id. */
const byResource = ({ name, propertyDependencies }: PolicyResource): readonly SignIn[] =>
  (propertyDependencies.roles ?? [])
    .filter((used) => used.isType(Authentication))
    .map((used) => ({ authentication: used.name, role: name }));

const shared = (signIns: readonly SignIn[]): readonly (readonly string[])[] =>
  [...Map.groupBy(signIns, ({ authentication }) => authentication).values()]
    .map((users) => users.map(({ role }) => role))
    .filter((roles) => roles.length > 1);

/** `no-shared-authentication`: what leaks at one callback opens no other. */
export const noSharedAuthentication: StackValidationPolicy = {
  ...policyNotes(
    "no-shared-authentication",
    "No shared authentication",
    "Each role signs in with an authentication of its own.",
    "Declare an authentication for each role.",
  ),
  severity: "medium",
  validateStack: ({ resources }, report) => {
    const applications = resources.filter((resource) => resource.isType(ClientApplication));
    const found = shared(applications.flatMap(byId));
    // What roles of one application share shows by id only, what applications share by resource, too.
    for (const roles of found.length > 0 ? found : shared(applications.flatMap(byResource)))
      report(
        `${roles.join(" and ")} sign in with the same authentication: who runs one callback could pass as the service at the other.`,
      );
  },
};
