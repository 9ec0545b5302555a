import fc from "fast-check";
import { expect, test } from "vitest";
import { accountNames } from "../../cli/inventory/stack-accounts.js";
import { configWithoutWaysOut, withoutWaysOut } from "../../cli/rehearse/original-stack.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { providerToken, typeToken } from "../../provider/kernel/pulumi.js";
import { describeSettings, readSettings } from "../../provider/service/settings.js";

const stackWith = (env: NodeJS.ProcessEnv, config: Readonly<Record<string, string>>) => ({
  stack: { env, document: { version: 3, deployment: {} } },
  config: new Map(Object.entries(config).map(([key, text]) => [key, { text, secret: false }])),
});

const profile = fc.constantFrom(undefined, "eu", "my-eu", "us_2");
const setting = fc
  .record({ profile, index: fc.nat(describeSettings().length - 1), inConfig: fc.boolean() })
  .map(({ inConfig, index, profile: of }) => {
    const { config = "", environment = "" } = describeSettings(of)[index] ?? {};
    return inConfig ? { config } : { environment };
  });
const own = fc.constantFrom(
  { environment: "CONVERSATION_DESK_PASSWORD" },
  { environment: "TITLE" },
  { config: "conversation:title" },
  { config: "shop:baseUrl" },
);

const named = (names: readonly { readonly [name: string]: string }[], of: string) =>
  Object.fromEntries(names.flatMap((each) => (each[of] ? [[each[of], "of the tenant"]] : [])));

test("no profile of a copied stack finds a way out, and the program's own values stay", () => {
  fc.assert(
    fc.property(fc.array(setting, { maxLength: 40 }), fc.array(own), (settings, owned) => {
      const all = [...settings, ...owned];
      const original = stackWith(named(all, "environment"), named(all, "config"));
      const environment = withoutWaysOut(original.stack.env);
      const config = configWithoutWaysOut(original.config);
      for (const of of [
        undefined,
        ...accountNames(original.stack, original.config),
        "eu",
        "my-eu",
        "us_2",
      ])
        expect(() =>
          readSettings({ environment, config: (key) => config.get(key)?.text }, of),
        ).toThrow("baseUrl is missing");
      expect(environment).toMatchObject(named(owned, "environment"));
      for (const key of Object.keys(named(owned, "config")))
        expect(config.get(key)?.text).toBe("of the tenant");
    }),
    { numRuns: 300, seed: 5 },
  );
});

test("what the project file says does not come back where the copy has no such setting", () => {
  const { config } = stackWith({}, { "conversation:plan": "basic", "shop:put": "x" });
  expect([...configWithoutWaysOut(config)].map(([key, { text }]) => [key, text])).toEqual([
    ["conversation:plan", ""],
    ["shop:put", "x"],
  ]);
});

test("a profile has the name of its configuration, where the environment gives its address", () => {
  const env = { CONVERSATION_MY_EU_BASE_URL: "a", CONVERSATION_US_BASE_URL: "b" };
  const config = { "conversation:my-eu.clientId": "x" };
  const namesIn = (...given: Parameters<typeof stackWith>) => {
    const { stack, config } = stackWith(...given);
    return accountNames(stack, config);
  };
  expect(namesIn(env, config)).toEqual(["my-eu", "us"]);
  expect(namesIn({}, config)).toEqual([undefined]);
  expect(namesIn({ CONVERSATION_BASE_URL: "a", ...env }, {})).toEqual([undefined, "my_eu", "us"]);
});

test("a stack whose objects all have a profile or a provider needs no account without one", () => {
  const resourceOf = (kind: string, inputs: JsonObject) => {
    const type = typeToken(kind);
    return { urn: `urn:pulumi:prod::shop::${type}::it`, type, inputs };
  };
  const provider = { ...resourceOf("Ownership", {}), type: providerToken };
  const resources = [
    ...[resourceOf("Ownership", {}), resourceOf("Channel", { profile: "us" })],
    { ...provider, urn: `urn:pulumi:prod::shop::${providerToken}::eu` },
  ];
  const document = { version: 3, deployment: { resources } };
  const { config } = stackWith({}, {});
  const names = accountNames({ document, env: { CONVERSATION_BASE_URL: "" } }, config);
  expect(names).toEqual(["us", "provider eu"]);
});
