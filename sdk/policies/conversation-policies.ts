import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Policies,
  type PolicyResource,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  validateResourceOfType,
} from "@pulumi/policy";
import { textsIn, valuesIn } from "../../provider/definition/fields.js";
import { filledTexts, isObject } from "../../provider/kernel/json.js";
import { docsLink } from "../../provider/kernel/package.js";
import {
  kindOfToken,
  pluginToken,
  projectFile,
  withEnvironmentSecrets,
} from "../../provider/kernel/pulumi.js";
import { wildcardPattern } from "../../provider/kernel/text.js";
import { resources as definitions } from "../../provider/resources/index.js";
import { isLoopback } from "../../provider/service/addresses.js";
import { settingKeys, settingTable } from "../../provider/service/settings.js";
import { Account, Authentication, ClientApplication } from "../resources.js";

/** Returns a policy's metadata, with a link to its section in docs/policies.md. */
const policyNotes = (
  name: string,
  displayName: string,
  description: string,
  remediationSteps: string,
) => ({
  name,
  displayName,
  description,
  remediationSteps,
  enforcementLevel: "advisory" as const,
  url: docsLink(`policies.md#${name}`),
  tags: ["conversation"],
});

/** Reads a value; returns undefined instead of throwing if the value is unknown in a preview. */
const whereKnown = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === "UnknownValueError") return undefined;
    throw error;
  }
};

/** A resource's value for a report, hidden if the program marks something of the resource as secret. */
const shownValue = ({ props }: Pick<PolicyResource, "props">, value: string): string =>
  whereKnown(() => filledTexts(props.markedSecrets)) ? "[secret]" : value;

/** Returns the items in a list that are known in a preview; none if the list itself is unknown. */
const knownItems = <T>(read: () => readonly T[] | undefined): readonly T[] => {
  const list = whereKnown(read) ?? [];
  const places = Array.from({ length: whereKnown(() => list.length) ?? 0 }, (_, place) => place);
  return places.flatMap((place) => whereKnown(() => list[place]) ?? []);
};

/**
 * Returns a class for checking a resource's type: the given class, with the plugin's type token if
 * the resource comes from the plugin. Policies use only the type token.
 */
const classFor = <C extends { readonly __pulumiType: string }>(
  { type }: Pick<PolicyResource, "type">,
  of: C,
): C => {
  const value = pluginToken(kindOfToken(of.__pulumiType) ?? "");
  return type === value ? Object.create(of, { __pulumiType: { value } }) : of;
};

interface StackFile {
  readonly name: string;
  readonly text: string;
}

/** Where a project says that the files of its stacks are. */
const stackFolder = (project: string): string => {
  const lines = readFileSync(project, "utf8").split("\n");
  const line = lines.find((each) => /^\s*"?stackConfigDir"?\s*:/.test(each)) ?? "";
  const value = line.slice(line.indexOf(":") + 1).trim();
  return join(dirname(project), value.replace(/,$/, "").replaceAll(/["']/g, "").trim());
};

/**
 * Returns a stack's configuration file from the project in a folder or the nearest folder above it;
 * undefined if there is none.
 */
const stackFileIn = (folder: string, stack: string): StackFile | undefined => {
  const project = projectFile(folder);
  if (project === undefined) return undefined;
  const place = stackFolder(project);
  const names = ["yaml", "yml", "json"].map((type) => `Pulumi.${stack}.${type}`);
  const name = names.find((one) => existsSync(join(place, one)));
  return name === undefined ? undefined : { name, text: readFileSync(join(place, name), "utf8") };
};

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
          `The callback of the ${whereKnown(() => role.name)} role, ${shownValue(args, callback)}, does not use HTTPS, so customers' messages travel in plain text. Use an HTTPS URL.`,
        );
    }
    const authentication = args.asType(classFor(args, Authentication));
    const address = whereKnown(() => authentication?.oauth2?.tokenRequestUrl);
    if (address !== undefined && isReadable(address))
      report(
        `The callback's token URL, ${shownValue(args, address)}, does not use HTTPS, so the credentials travel in plain text. Use an HTTPS URL.`,
      );
  },
};

/** The domains that RFC 2606 keeps for documentation and tests: nobody reads their mail. */
const forExamples = /(^|\.)(example\.(com|net|org)|example|test|invalid|localhost)$/;

const wrongWith = (address: string, allowed: readonly string[]): string | undefined => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  if (forExamples.test(domain)) return "is an example address that no one reads";
  if (allowed.length === 0) return undefined;
  if (allowed.some((each) => each.toLowerCase() === domain)) return undefined;
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
        if (address === undefined) continue;
        const wrong = wrongWith(address, domains);
        if (wrong)
          report(
            `The notificationEmail of the ${whereKnown(() => role.name)} role, ${shownValue(args, address)}, ${wrong}, so no one would notice a failing callback.`,
          );
      }
    })(of, report),
};

/** `urn:pulumi:<stack>::<project>::…` */
const stackIn = (urn = ""): string => urn.split(":")[2] ?? "";

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
      if (isBasic && stacks.some((pattern) => wildcardPattern(pattern).test(stack)))
        report(
          `Stack ${stack} uses Basic authentication for a callback, so the password never expires. Use oauth2.`,
        );
    })(of, report),
};

/** A shorter text occurs in many files without being the secret. */
const leastLength = 6;

const secretSettings = settingKeys.filter((key) => "secret" in settingTable[key]);

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
const copyKnown = (value: unknown): unknown => {
  if (Array.isArray(value))
    return Array.from({ length: value.length }, (_, place) =>
      whereKnown(() => copyKnown(value[place])),
    );
  if (!isObject(value)) return value;
  const entries = Object.keys(value).map((key) => [key, whereKnown(() => copyKnown(value[key]))]);
  return Object.fromEntries(entries);
};

/** The secret texts of a resource, by where they stand in it. */
const listSecrets = ({ type, props }: PolicyResource): readonly (readonly [string, string])[] => {
  const definition = definitions.find(({ kind }) => kind === kindOfToken(type));
  const values = definition && copyKnown(props);
  if (!definition || !isObject(values)) return [];
  return valuesIn(definition.fields, values).flatMap(({ field, path, value }) => {
    if (field.secret !== true) return [];
    // What comes from the environment is left out: its placeholder is no secret.
    const stored = withEnvironmentSecrets(value, () => "");
    return textsIn(stored).map((text) => [path, text] as const);
  });
};

/** A text without what may follow a value in a line of YAML or JSON. */
const trimValueEnd = (text: string): string => {
  let end = text.length;
  while (end > 0 && `,]} \t\r"'`.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};

/** Whether a secret is the whole of a value in a line of YAML or JSON. */
const standsIn = ({ text }: StackFile, secret: string): boolean => {
  const spellings = [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll("'", "''")];
  const ends = spellings.map((spelling) => trimValueEnd(spelling.trim()));
  return text.split("\n").some((line) => {
    const trimmed = trimValueEnd(line);
    return ends.some(
      (end) =>
        trimmed.endsWith(end) &&
        ` \t:-,[{"'`.includes(trimmed.charAt(trimmed.length - end.length - 1)),
    );
  });
};

const clearInputs = (file: StackFile, resource: PolicyResource): readonly string[] => {
  const found = listSecrets(resource).filter(
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
  accountProtected,
  noClearSecrets,
];
