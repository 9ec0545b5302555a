import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { Authentication, ClientApplication } from "../resources.js";
import { knownItems, whereKnown } from "./known-values.js";
import { policyNotes } from "./policy-notes.js";

/** A role that signs in with an authentication, known by the resource or by the id alone. */
interface SignIn {
  readonly authentication: string;
  readonly application: string;
  /** The role, or the application where it is not known which role. */
  readonly user: string;
}

/** The ids that roles name; those that a preview does not know yet are left out. */
const byId = (application: PolicyResource): readonly SignIn[] =>
  knownItems(() => application.asType(ClientApplication)?.roles).flatMap((role) => {
    const { name } = application;
    const authentication = whereKnown(() => role.authentication);
    const user = `${name}.${whereKnown(() => role.name)}`;
    return typeof authentication === "string" ? [{ authentication, application: name, user }] : [];
  });

/** The resources that the roles of an application refer to: known before they have an id. */
const byResource = ({ name, propertyDependencies }: PolicyResource): readonly SignIn[] =>
  (propertyDependencies.roles ?? [])
    .filter((used) => used.isType(Authentication))
    .map(({ urn }) => ({ authentication: urn, application: name, user: name }));

const shared = (signIns: readonly SignIn[]): readonly (readonly SignIn[])[] =>
  [...Map.groupBy(signIns, ({ authentication }) => authentication).values()].filter(
    (users) => users.length > 1,
  );

const applicationsOf = (users: readonly SignIn[]): string =>
  [...new Set(users.map(({ application }) => application))].sort().join();

/** What roles of one application share shows by id only, what applications share by resource, too. */
const sharedAmong = (applications: readonly PolicyResource[]): readonly (readonly SignIn[])[] => {
  const known = shared(applications.flatMap(byId));
  const told = new Set(known.map(applicationsOf));
  const others = shared(applications.flatMap(byResource));
  return [...known, ...others.filter((users) => !told.has(applicationsOf(users)))];
};

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
    for (const users of sharedAmong(applications))
      report(
        `${users.map(({ user }) => user).join(" and ")} sign in with the same authentication: who runs one callback could pass as the service at the other.`,
      );
  },
};
