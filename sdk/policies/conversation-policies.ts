import {
  type Policies,
  type PolicyResource,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  validateResourceOfType,
} from "@pulumi/policy";
import { textsIn, valuesIn } from "../../provider/definition/fields.js";
import { isObject } from "../../provider/kernel/json.js";
import { withEnvironmentSecrets } from "../../provider/kernel/stand-ins.js";
import { kindOfToken } from "../../provider/kernel/type-tokens.js";
import { resources as definitions } from "../../provider/resources/index.js";
import { isLoopback } from "../../provider/service/addresses.js";
import { settingTable } from "../../provider/service/settings.js";
import {
  Account,
  Authentication,
  ClientApplication,
  Orchestration,
  Participant,
} from "../resources.js";
import {
  applicationsById,
  areAllAmong,
  classFor,
  knownItems,
  ownApplication,
  type Place,
  placesOf,
  policyNotes,
  resourcesOfClass,
  rolesOf,
  type StackFile,
  stackFileIn,
  whereKnown,
} from "./policy-parts.js";

/**
 * `account-protected`: accounts have the `protect` option, so that no run deletes them by mistake.
 */
export const accountProtected: ResourceValidationPolicy = {
  ...policyNotes(
    "account-protected",
    "Accounts are protected",
    "Accounts have the protect option set, so that no run deletes them by mistake.",
    "Add { protect: true } to the account's options.",
  ),
  severity: "medium",
  validateResource: (args, report) => {
    if (args.isType(classFor(args, Account)) && !args.opts.protect)
      report(
        "The account is not protected: if the program no longer declares it, the next run deletes it, and customers cannot reach anyone. Add the protect option.",
      );
  },
};

/** What is wrong with a participant by itself; with several applications to choose from, one may fit. */
const wrongRole = (participant: PolicyResource): string | undefined => {
  const type = whereKnown(() => participant.asType(classFor(participant, Participant))?.type);
  const own = resourcesOfClass(ClientApplication, participant.propertyDependencies.application);
  const roles = own.map(rolesOf);
  if (!type || own.length === 0 || roles.some((each) => !each || each.includes(type)))
    return undefined;
  const named = own.map(({ name }) => name).join(" or ");
  return `Participant ${participant.name} is a ${type}, but its client application ${named} has no ${type} role (it has ${roles.flat().join(", ")}), so no messages reach the bot.`;
};

/** Whether a bot of the orchestration may stand for this participant, as far as is known. */
const mayBeNamed = (participant: PolicyResource, orchestration: PolicyResource): boolean => {
  const places = placesOf(orchestration);
  const named = resourcesOfClass(
    ClientApplication,
    orchestration.propertyDependencies.applications,
  );
  const bots = places.find(({ place }) => place === "bot")?.ids ?? [];
  const own = ownApplication(participant);
  if (own !== undefined && bots.length > 0 && !bots.includes(undefined)) return bots.includes(own);
  const resources = resourcesOfClass(
    ClientApplication,
    participant.propertyDependencies.application,
  );
  return (
    resources.length === 0 ||
    resources.some(({ urn }) => named.some((application) => application.urn === urn)) ||
    !areAllAmong(named, places)
  );
};

const applicationName = (participant: PolicyResource): string =>
  resourcesOfClass(ClientApplication, participant.propertyDependencies.application)
    .map(({ name }) => name)
    .join(" or ") || `${ownApplication(participant)}`;

/**
 * `bots-match-participants`: each bot uses its participant's application, which has the role for
 * the participant's type.
 */
export const botsMatchParticipants: StackValidationPolicy = {
  ...policyNotes(
    "bots-match-participants",
    "Bots match their participants",
    "Each bot in an orchestration uses its participant's client application, and that application has the role for the participant's type.",
    "Set the bot's application to its participant's application, and add the role for the participant's type to that application.",
  ),
  severity: "high",
  validateStack: ({ resources }, report) => {
    for (const participant of resourcesOfClass(Participant, resources)) {
      const wrong = wrongRole(participant);
      if (wrong) report(wrong, participant.urn);
    }
    for (const orchestration of resourcesOfClass(Orchestration, resources))
      for (const participant of resourcesOfClass(
        Participant,
        orchestration.propertyDependencies.applications ?? [],
      ))
        if (!mayBeNamed(participant, orchestration))
          report(
            `Bot ${participant.name} belongs to client application ${applicationName(participant)}, but no bot in orchestration ${orchestration.name} uses that application.`,
            orchestration.urn,
          );
  },
};

/** What an orchestration names, and what is known about it. */
interface Named {
  readonly orchestration: PolicyResource;
  readonly places: readonly Place[];
  readonly applications: readonly PolicyResource[];
  readonly byId: ReadonlyMap<string, PolicyResource>;
}

const hasOneOf = (application: PolicyResource, roles: readonly string[]): boolean =>
  rolesOf(application)?.some((role) => roles.includes(role)) ?? true;

/** Applications whose ID is in a place for which they have no role. */
const misplaced = ({ orchestration, places, byId }: Named): readonly string[] =>
  places.flatMap(({ place, roles, ids }) =>
    [...new Set(ids)]
      .flatMap((id) => (id === undefined ? [] : (byId.get(id) ?? [])))
      .filter((application) => !hasOneOf(application, roles))
      .map(
        ({ name }) =>
          `Client application ${name} is the ${place} in orchestration ${orchestration.name}, but does not have the required role (${roles.join(" or ")}).`,
      ),
  );

/** Applications that are named, and fit no place at all. */
const withoutPlace = ({ orchestration, places, applications }: Named): readonly string[] => {
  const roles = places.flatMap((place) => place.roles);
  return applications
    .filter((application) => places.length > 0 && !hasOneOf(application, roles))
    .map(
      (application) =>
        `Orchestration ${orchestration.name} uses client application ${application.name} (${rolesOf(application)?.join(", ")}), but needs none of that application's roles.`,
    );
};

/** Places that no application can fill; one that is not of this stack, or not known yet, may be the one that fits. */
const unfilled = ({ orchestration, places, applications }: Named): readonly string[] => {
  if (applications.length === 0 || !areAllAmong(applications, places)) return [];
  return places
    .filter(({ roles }) => !applications.some((application) => hasOneOf(application, roles)))
    .map(
      ({ place, roles }) =>
        `No client application in orchestration ${orchestration.name} has a role for the ${place} (${roles.join(" or ")}).`,
    );
};

/**
 * `roles-match-orchestration`: each client application in an orchestration has a role for its
 * place.
 */
export const rolesMatchOrchestration: StackValidationPolicy = {
  ...policyNotes(
    "roles-match-orchestration",
    "Roles match the orchestration",
    "The client applications in an orchestration have the roles that the orchestration requires.",
    "Give the application the required role: customer for the customer, custom_bot or platform_bot for a bot, custom_agent or platform_agent for an agent.",
  ),
  severity: "high",
  validateStack: ({ resources }, report) => {
    const byId = applicationsById(resources);
    for (const orchestration of resourcesOfClass(Orchestration, resources)) {
      const applications = resourcesOfClass(
        ClientApplication,
        orchestration.propertyDependencies.applications,
      );
      const named = { orchestration, applications, byId, places: placesOf(orchestration) };
      for (const text of [...misplaced(named), ...withoutPlace(named), ...unfilled(named)])
        report(text, orchestration.urn);
    }
  },
};

/**
 * Whether others on the network can read the traffic to an address; addresses of this machine are
 * fine.
 */
const isReadable = (address: string): boolean => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "http:" && !isLoopback(url.hostname);
};

/** `https-callbacks`: callbacks and token URLs use https, except on this machine. */
export const secureCallbacks: ResourceValidationPolicy = {
  ...policyNotes(
    "https-callbacks",
    "Callbacks use HTTPS",
    "Callbacks and their authentications' token URLs use HTTPS.",
    "Use an HTTPS URL with a certificate that the service trusts.",
  ),
  severity: "high",
  validateResource: (args, report) => {
    for (const role of knownItems(() => args.asType(classFor(args, ClientApplication))?.roles)) {
      const callback = whereKnown(() => role.callback);
      if (callback !== undefined && isReadable(callback))
        report(
          `The callback of the ${whereKnown(() => role.name)} role, ${callback}, does not use HTTPS, so customers' messages travel in plain text. Use an HTTPS URL.`,
        );
    }
    const authentication = args.asType(classFor(args, Authentication));
    const address = whereKnown(() => authentication?.oauth2?.tokenRequestUrl);
    if (address !== undefined && isReadable(address))
      report(
        `The callback's token URL, ${address}, does not use HTTPS, so the credentials travel in plain text. Use an HTTPS URL.`,
      );
  },
};

/** The domains that RFC 2606 keeps for documentation and tests: nobody reads their mail. */
const forExamples = /(^|\.)(example\.(com|net|org)|example|test|invalid|localhost)$/;

const wrongWith = (address: string, allowed: readonly string[]): string | undefined => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  if (forExamples.test(domain)) return "is an example address that no one reads";
  if (allowed.length === 0 || allowed.includes(domain)) return undefined;
  return `is not in ${allowed.join(" or ")}`;
};

/** `notification-address`: no notification address is an example or outside the allowed domains. */
export const notificationAddress: ResourceValidationPolicy = {
  ...policyNotes(
    "notification-address",
    "Notification addresses are monitored",
    "Each role has a monitored notification address.",
    "Set notificationEmail to the address of the team that runs the callback.",
  ),
  severity: "medium",
  configSchema: {
    properties: {
      domains: {
        type: "array",
        items: { type: "string" },
        default: [],
        description:
          "Allowed domains for the address. If empty, any domain except an example domain is allowed.",
      },
    },
  },
  validateResource: (of, report) =>
    validateResourceOfType(classFor(of, ClientApplication), (application, args) => {
      const { domains = [] } = args.getConfig<{ readonly domains?: readonly string[] }>();
      for (const role of knownItems(() => application.roles)) {
        const address = whereKnown(() => role.notificationEmail);
        const wrong = address === undefined ? undefined : wrongWith(address, domains);
        if (wrong)
          report(
            `The notificationEmail of the ${whereKnown(() => role.name)} role, ${address}, ${wrong}, so no one would notice a failing callback.`,
          );
      }
    })(of, report),
};

/** `urn:pulumi:<stack>::<project>::…` */
const stackIn = (urn = ""): string => urn.split(":")[2] ?? "";

/** A text as a pattern that stands for itself; `*` stays. */
const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

/** Whether a name fits a pattern in which `*` stands for any text. */
const fits = (name: string, pattern: string): boolean =>
  new RegExp(`^${escaped(pattern).replaceAll("*", ".*")}$`).test(name);

/**
 * `no-basic-authentication`: callbacks use OAuth, not Basic authentication, in the stacks that you
 * choose.
 */
export const noBasicAuthentication: ResourceValidationPolicy = {
  ...policyNotes(
    "no-basic-authentication",
    "No Basic authentication",
    "Callbacks in production stacks use OAuth, not Basic authentication.",
    "Use oauth2 instead of basicAuth: OAuth tokens expire, but a Basic password does not.",
  ),
  severity: "medium",
  configSchema: {
    properties: {
      stacks: {
        type: "array",
        items: { type: "string" },
        default: ["prod*"],
        description: "Names of the stacks that the policy applies to; * matches any characters.",
      },
    },
  },
  validateResource: (of, report) =>
    validateResourceOfType(classFor(of, Authentication), (authentication, args) => {
      const { stacks = ["prod*"] } = args.getConfig<{ readonly stacks?: readonly string[] }>();
      const stack = stackIn(args.urn);
      const isBasic =
        whereKnown(() => authentication.type) === "basic" ||
        whereKnown(() => authentication.basicAuth) !== undefined;
      if (isBasic && stacks.some((pattern) => fits(stack, pattern)))
        report(
          `Stack ${stack} uses Basic authentication for a callback, so the password never expires. Use oauth2.`,
        );
    })(of, report),
};

/** A role that signs in with an authentication, known by the resource or by the ID alone. */
interface SignIn {
  readonly authentication: string;
  readonly application: string;
  /** The role, or the application if it is not known which role. */
  readonly user: string;
}

/** The IDs that roles name; those that a preview does not know yet are left out. */
const byId = (application: PolicyResource): readonly SignIn[] =>
  knownItems(() => application.asType(classFor(application, ClientApplication))?.roles).flatMap(
    (role) => {
      const { name } = application;
      const authentication = whereKnown(() => role.authentication);
      const user = `${name}.${whereKnown(() => role.name)}`;
      return typeof authentication === "string"
        ? [{ authentication, application: name, user }]
        : [];
    },
  );

/** The resources that the roles of an application refer to: known before they have an ID. */
const byResource = ({ name, propertyDependencies }: PolicyResource): readonly SignIn[] =>
  resourcesOfClass(Authentication, propertyDependencies.roles).map(({ urn }) => ({
    authentication: urn,
    application: name,
    user: name,
  }));

const shared = (signIns: readonly SignIn[]): readonly (readonly SignIn[])[] =>
  [...Map.groupBy(signIns, ({ authentication }) => authentication).values()].filter(
    (users) => users.length > 1,
  );

const applicationsOf = (users: readonly SignIn[]): string =>
  [...new Set(users.map(({ application }) => application))].sort().join();

/** What roles of one application share shows by ID only, what applications share by resource, too. */
const sharedAmong = (applications: readonly PolicyResource[]): readonly (readonly SignIn[])[] => {
  const known = shared(applications.flatMap(byId));
  const seen = new Set(known.map(applicationsOf));
  const others = shared(applications.flatMap(byResource));
  return [...known, ...others.filter((users) => !seen.has(applicationsOf(users)))];
};

/** `no-shared-authentication`: each role has its own authentication. */
export const noSharedAuthentication: StackValidationPolicy = {
  ...policyNotes(
    "no-shared-authentication",
    "No shared authentication",
    "Each role has its own authentication.",
    "Declare an authentication for each role.",
  ),
  severity: "medium",
  validateStack: ({ resources }, report) => {
    for (const users of sharedAmong(resourcesOfClass(ClientApplication, resources)))
      report(
        `${users.map(({ user }) => user).join(" and ")} use the same authentication, so whoever runs one callback can pose as the service to another.`,
      );
  },
};

/** A shorter text occurs in many files without being the secret. */
const leastLength = 6;

const secretSettings = Object.entries(settingTable)
  .filter(([, setting]) => "secret" in setting)
  .map(([name]) => name);

const settingLine = new RegExp(
  String.raw`^\s*["']?(conversation:(?:[\w-]+\.)?(?:${secretSettings.join("|")}))["']?[ \t]*:[ \t]*["']?([^\s"'{][^"'\n]*)`,
  "gm",
);

/** An address without a password is no secret. */
const isSecret = (text: string): boolean =>
  !URL.canParse(text) || new URL(text).password !== "" || !text.includes("://");

const clearSettings = ({ name, text }: StackFile): readonly string[] =>
  [...text.matchAll(settingLine)]
    .filter(([, , value = ""]) => isSecret(value.trim()))
    .map(
      ([, key = ""]) =>
        `${key} is in plain text in ${name}. To encrypt it, run: pulumi config set --secret ${key}`,
    );

/** A copy without what a preview does not know yet. */
const knownPart = (value: unknown): unknown => {
  if (Array.isArray(value))
    return Array.from({ length: value.length }, (_, place) =>
      whereKnown(() => knownPart(value[place])),
    );
  if (!isObject(value)) return value;
  const entries = Object.keys(value).map((key) => [key, whereKnown(() => knownPart(value[key]))]);
  return Object.fromEntries(entries);
};

/** The secret texts of a resource, by where they stand in it. */
const secretsOf = ({ type, props }: PolicyResource): readonly (readonly [string, string])[] => {
  const definition = definitions.find(({ kind }) => kind === kindOfToken(type));
  const values = definition && knownPart(props);
  if (!definition || !isObject(values)) return [];
  return valuesIn(definition.fields, values).flatMap(({ field, path, value }) => {
    if (field.secret !== true) return [];
    // What comes from the environment is left out: its placeholder is no secret.
    const stored = withEnvironmentSecrets(value, () => "");
    return textsIn(stored).map((text) => [path, text] as const);
  });
};

/** Whether a secret is the whole of a value in a line of YAML or JSON. */
const standsIn = ({ text }: StackFile, secret: string): boolean =>
  [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll("'", "''")].some((spelling) =>
    new RegExp(
      `(^|[:\\-,[\\s])["']?${escaped(spelling.trim()).replaceAll("*", "\\*")}["']?[,\\]}\\s]*$`,
      "m",
    ).test(text),
  );

const clearInputs = (file: StackFile, resource: PolicyResource): readonly string[] => {
  const found = secretsOf(resource).filter(
    ([, text]) => text.length >= leastLength && standsIn(file, text),
  );
  return [...new Set(found.map(([path]) => path))].map(
    (path) =>
      `${path} of ${resource.name} is in plain text in ${file.name}. To encrypt it, run: pulumi config set --secret`,
  );
};

/** `no-clear-secrets`: the stack's configuration file contains no credentials in plain text. */
export const noClearSecrets: StackValidationPolicy = {
  ...policyNotes(
    "no-clear-secrets",
    "No plain-text secrets in the configuration",
    "The stack's configuration file contains no secret settings or resource secrets in plain text.",
    "Set the value again with pulumi config set --secret, and replace the secret itself: the old value was readable in the file.",
  ),
  severity: "critical",
  configSchema: {
    properties: {
      folder: {
        type: "string",
        description: "The Pulumi project folder. Default: the folder in which Pulumi was started.",
      },
    },
  },
  validateStack: (args, report) => {
    const { folder = process.env.PWD ?? process.cwd() } = args.getConfig<{
      readonly folder?: string;
    }>();
    const stack = stackIn(args.resources[0]?.urn);
    const file = stack && stackFileIn(folder, stack);
    if (!file) return args.notApplicable("Could not find the stack's configuration file.");
    for (const text of clearSettings(file)) report(text);
    for (const resource of args.resources)
      for (const text of clearInputs(file, resource)) report(text, resource.urn);
  },
};

/**
 * Policies for stacks with conversation accounts, for use in a `PolicyPack` from `@pulumi/policy`
 * (1.21 or later). All are advisory unless the pack or its configuration specifies otherwise. Each
 * links to the page that explains it and its options. They make no calls to the service. Values
 * that are unknown in a preview do not cause failures; `up` checks them.
 *
 * @example
 * new PolicyPack("conversation", { policies: [...conversationPolicies] });
 */
export const conversationPolicies: Policies = [
  secureCallbacks,
  notificationAddress,
  noBasicAuthentication,
  noSharedAuthentication,
  accountProtected,
  noClearSecrets,
  botsMatchParticipants,
  rolesMatchOrchestration,
];
