import fc from "fast-check";
import { expect, test } from "vitest";
import { accountNames } from "../../cli/rehearse/accounts.js";
import { configWithoutWaysOut, withoutWaysOut } from "../../cli/rehearse/original-stack.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { describeSettings, readSettings } from "../../provider/service/settings.js";

const stackWith = (env: NodeJS.ProcessEnv, config: Readonly<Record<string, string>>) => ({
  stack: { env },
  document: { version: 3, deployment: {} },
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
      for (const of of [undefined, ...accountNames(original), "eu", "my-eu", "us_2"])
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
  expect(accountNames(stackWith(env, config))).toEqual(["my-eu", "us"]);
  expect(accountNames(stackWith({}, config))).toEqual([undefined]);
  expect(accountNames(stackWith({ CONVERSATION_BASE_URL: "a", ...env }, {}))).toEqual([
    ...[undefined, "my_eu", "us"],
  ]);
});

test("a stack whose objects all have a profile needs no account without one", () => {
  const resourceOf = (kind: string, inputs: JsonObject) => {
    const type = typeToken(kind);
    return { urn: `urn:pulumi:prod::shop::${type}::it`, type, inputs };
  };
  const resources = [resourceOf("Ownership", {}), resourceOf("Channel", { profile: "us" })];
  const document = { version: 3, deployment: { resources } };
  const original = stackWith({ CONVERSATION_BASE_URL: "" }, {});
  expect(accountNames({ ...original, document })).toEqual(["us"]);
});
