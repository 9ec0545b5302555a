import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PolicyResource, ResourceValidation, StackValidationPolicy } from "@pulumi/policy";
import { expect, test } from "vitest";
import { typeToken } from "../../provider/kernel/pulumi.js";
import {
  accountProtected,
  noBasicAuthentication,
  noClearSecrets,
  notificationAddress,
  secureCallbacks,
} from "../../sdk/policies/conversation-policies.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Props = Readonly<Record<string, unknown>>;

const options = {
  protect: false,
  ignoreChanges: [],
  aliases: [],
  additionalSecretOutputs: [],
  customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
};

/** A resource as the engine shows it to a policy of a stack. */
const resource = (kind: string, name: string, props: Props, stack = "prod"): PolicyResource => {
  const type = typeToken(kind);
  const isOf = (of: object): boolean => "__pulumiType" in of && of.__pulumiType === type;
  const shown = {
    type,
    name,
    props,
    urn: `urn:pulumi:${stack}::shop::${type}::${name}`,
    opts: options,
    dependencies: [],
    propertyDependencies: {},
    isType: isOf,
    asType: (of: object) => (isOf(of) ? props : undefined),
  };
  // The typed view of the properties is the properties themselves.
  return shown as PolicyResource;
};

const seen = (
  policy: StackValidationPolicy,
  resources: readonly PolicyResource[],
  config: object = {},
): readonly string[] => {
  const reported: string[] = [];
  policy.validateStack(
    {
      resources: [...resources],
      stackTags: new Map(),
      getConfig: <T extends object>() => config as T,
      notApplicable: (reason) => {
        throw new Error(reason);
      },
    },
    (message) => reported.push(message),
  );
  return reported;
};

const seenIn = (
  policy: { readonly validateResource?: ResourceValidation | ResourceValidation[] },
  of: PolicyResource,
  config: object = {},
): readonly string[] => {
  const reported: string[] = [];
  // As in a pack, where a policy is about another type ends by being thrown.
  class NotApplicable extends Error {}
  const args = {
    ...of,
    // The typed view of the properties is the properties themselves.
    asType: <T>(type: Parameters<PolicyResource["isType"]>[0]) =>
      of.isType(type) ? (of.props as T) : undefined,
    stackTags: new Map<string, string>(),
    getConfig: <T extends object>() => config as T,
    notApplicable: () => {
      throw new NotApplicable();
    },
  };
  for (const validate of [policy.validateResource ?? []].flat())
    try {
      validate(args, (message) => reported.push(message));
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
    }
  return reported;
};

const application = (name: string, roles: readonly Props[]) =>
  resource("ClientApplication", name, { roles });

test("an address of this machine may be http, another may not", () => {
  const of = (callback: string) => application("bot", [{ name: "customer", callback }]);
  expect(seenIn(secureCallbacks, of("http://127.0.0.1:8080/messages"))).toEqual([]);
  expect(seenIn(secureCallbacks, of("https://bot.acme.io/messages"))).toEqual([]);
  expect(seenIn(secureCallbacks, of("http://bot.acme.io/messages"))).toEqual([
    "The callback of the customer role, http://bot.acme.io/messages, does not use HTTPS, so customers' messages travel in plain text. Use an HTTPS URL.",
  ]);
  const token = { oauth2: { tokenRequestUrl: "http://bot.acme.io/token" } };
  expect(seenIn(secureCallbacks, resource("Authentication", "a", token))).toHaveLength(1);
});

test("no report shows what the program marks as secret", () => {
  const role = { callback: "http://canary.acme.io", notificationEmail: "canary@example.com" };
  const bot = { roles: [{ name: "customer", ...role }], markedSecrets: ["roles"] };
  const token = { oauth2: { tokenRequestUrl: role.callback }, markedSecrets: [""] };
  const reports = [
    ...seenIn(secureCallbacks, resource("ClientApplication", "bot", bot)),
    ...seenIn(notificationAddress, resource("ClientApplication", "bot", bot)),
    ...seenIn(secureCallbacks, resource("Authentication", "a", token)),
  ];
  expect(reports).toHaveLength(3);
  expect(reports.join()).not.toContain("canary");
});

test("a notification address is in one of the domains that the pack allows", () => {
  const of = (notificationEmail: string) =>
    application("bot", [{ name: "customer", notificationEmail }]);
  expect(seenIn(notificationAddress, of("ops@acme.io"))).toEqual([]);
  expect(seenIn(notificationAddress, of("ops@mail.example.com"))).toHaveLength(1);
  expect(seenIn(notificationAddress, of("ops@acme.io"), { domains: ["acme.io"] })).toEqual([]);
  expect(seenIn(notificationAddress, of("ops@ACME.io"), { domains: ["acme.io"] })).toEqual([]);
  expect(seenIn(notificationAddress, of("ops@acme.io"), { domains: ["ACME.io"] })).toEqual([]);
  expect(seenIn(notificationAddress, of("ops@other.io"), { domains: ["acme.io"] })).toHaveLength(1);
});

test.each([
  ["prod", undefined, 1],
  ["production-eu", undefined, 1],
  ["dev", undefined, 0],
  ["dev", ["*"], 1],
  ["prod", ["live", "eu-*"], 0],
  ["eu-1", ["live", "eu-*"], 1],
  ["prod.1", ["prod?1"], 0],
])("Basic authentication in stack %s, chosen %j: %d", (stack, stacks, times) => {
  const basic = resource("Authentication", "a", { basicAuth: {} }, stack);
  expect(seenIn(noBasicAuthentication, basic, { stacks })).toHaveLength(times);
});

const stackFile = (text: string, project = "name: shop\n"): { readonly folder: string } => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), project);
  writeFileSync(join(folder, "Pulumi.prod.yaml"), text);
  return { folder };
};

const signIn = (password: unknown) =>
  resource("Authentication", "auth", { basicAuth: { username: "hub", password } });

test.each([
  ["  conversation:clientSecret: s3cret", 1],
  ["  conversation:eu.clientSecret: s3cret", 1],
  ["  'conversation:clientSecret': 's3cret'", 1],
  ["  conversation:clientSecret:\n    secure: v1:abc", 0],
  ["  conversation:redisUrl: redis://localhost:6379", 0],
  ["  conversation:redisUrl: redis://:pass@localhost:6379", 1],
  ["  conversation:clientId: s3cret", 0],
  ["  shop:password: tr0ub4dor&3", 1],
  ['  shop:password: "tr0ub4dor&3"', 1],
  ['  {"password": "tr0ub4dor&3"},', 1],
  ["    - tr0ub4dor&3", 1],
  ["  shop:password: xtr0ub4dor&3", 0],
  ["  shop:password:\n    secure: tr0ub4dor&3x", 0],
  ["  shop:note: not tr0ub4dor&3 at all", 0],
])("a stack file with %j: %d", (text, times) => {
  const reported = seen(noClearSecrets, [signIn("tr0ub4dor&3")], stackFile(`config:\n${text}\n`));
  expect(reported).toHaveLength(times);
  expect(reported.join()).not.toMatch(/s3cret|tr0ub4dor|:pass@/);
});

test("a short secret is not looked for, and a missing file is said", () => {
  const { folder } = stackFile("config:\n  shop:size: abc\n");
  expect(seen(noClearSecrets, [signIn("abc")], { folder })).toEqual([]);
  const elsewhere = resource("Authentication", "auth", {}, "dev");
  expect(() => seen(noClearSecrets, [elsewhere], { folder })).toThrow("Could not find");
});

test("each policy has its section in the documentation", () => {
  const sections = [
    ...readFileSync(join(__dirname, "../../docs/policies.md"), "utf8").matchAll(/^### `(\S+)`$/gm),
  ].map(([, name]) => name);
  const policies = [
    secureCallbacks,
    notificationAddress,
    noBasicAuthentication,
    accountProtected,
    noClearSecrets,
  ];
  expect(sections).toEqual(policies.map(({ name }) => name));
  for (const { name, url } of policies)
    expect(url).toMatch(new RegExp(`docs/policies\\.md#${name}$`));
});
