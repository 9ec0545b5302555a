import { afterEach, expect, test, vi } from "vitest";
import { secretSignature } from "../../../provider/kernel/pulumi.js";
import {
  checkedConfiguration,
  configurationChange,
  configurationOf,
} from "../../../provider/plugin/configuration.js";
import { addressesVariable } from "../../../provider/service/emulated-settings.js";
import { readSettings } from "../../../provider/service/settings.js";

const urn = (name: string) => `urn:pulumi:prod::shop::pulumi:providers:conversation::${name}`;

afterEach(() => vi.unstubAllEnvs());

test("the ownership is made once, of project and stack, and kept", () => {
  const first = checkedConfiguration(urn("default"), {}, {}).inputs.ownership;
  expect(first).toMatch(/^shop\/prod\/[0-9a-f]{16}$/);
  expect(checkedConfiguration(urn("default"), {}, {}).inputs.ownership).not.toBe(first);
  const kept = checkedConfiguration(urn("default"), { ownership: first }, { ownership: "x" });
  expect(kept.inputs).toEqual({ ownership: first });
});

test("every broken setting is named, and no value is shown", () => {
  const given = { baseUrl: "http://canary.example/v3", clientSecret: "canary\n", burst: 0 };
  const sealed = Object.entries(given).map(([key, value]) => [key, { ...secretSignature, value }]);
  for (const news of [given, Object.fromEntries(sealed)]) {
    const { failures } = checkedConfiguration(urn("eu"), {}, { ...news, plan: "basic" });
    expect(failures).toEqual([
      expect.stringMatching(/^baseUrl must start with https/),
      expect.stringMatching(/^clientSecret must not contain control/),
      expect.stringMatching(/^burst must be a whole number/),
    ]);
    expect(failures.join()).not.toContain("canary");
  }
});

test("secret settings are sealed, also where the program forgot to", () => {
  const { inputs, failures } = checkedConfiguration(urn("eu"), {}, { clientSecret: "s", burst: 3 });
  expect(failures).toEqual([]);
  expect(inputs).toMatchObject({
    burst: 3,
    clientSecret: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" },
  });
});

const account = {
  baseUrl: "https://a.example.com/v3",
  tokenUrl: "https://a.example.com/token",
  clientId: "a",
  clientSecret: "s",
  ownership: "shop/prod/0123456789abcdef",
};

test("what `pulumi state move` or `stack rename` brought from another stack gets an ownership of its own", () => {
  const here = "urn:pulumi:live::shop::pulumi:providers:conversation::default";
  const { inputs } = checkedConfiguration(here, account, {});
  expect(inputs.ownership).toMatch(/^shop\/live\/[0-9a-f]{16}$/);
  const change = configurationChange(here, account, { ...account, ...inputs });
  expect(change).toEqual({ keys: ["ownership"], isMove: false });
});

test("another ownership is no change, another setting is one, and neither replaces", () => {
  const other = { ...account, ownership: "shop/prod/other", version: "2.0.0" };
  expect(configurationChange(urn("eu"), account, other)).toEqual({ keys: [], isMove: false });
  const slower = configurationChange(urn("eu"), account, { ...account, share: "0.5" });
  expect(slower).toEqual({ keys: ["share"], isMove: false });
});

test("a new address of the same account warns; a resource moves to an explicit provider, not to the default one", () => {
  const moved = { ...account, baseUrl: "https://b.example.com/v3" };
  const same = configurationChange(urn("eu"), account, moved);
  expect(same).toMatchObject({ keys: ["baseUrl"], isMove: false });
  expect(same.warning).toContain("from https://a.example.com/v3 to https://b.example.com/v3");
  const theirs = { ...moved, ownership: "shop/prod/other" };
  expect(configurationChange(urn("eu"), account, theirs)).toMatchObject({ isMove: true });
  expect(() => configurationChange(urn("default_1_0_0"), account, theirs)).toThrow(
    /would move to the default provider, which has https:\/\/b\.example\.com\/v3\. Nothing was changed\./,
  );
  expect(configurationChange(urn("eu"), {}, theirs).isMove).toBe(false);
});

test("an address that comes from the environment counts, and its spelling does not", () => {
  const { baseUrl: _, ...rest } = account;
  const eu = { ...account, ownership: "shop/prod/eu" };
  vi.stubEnv("CONVERSATION_BASE_URL", "https://env.example.com/v3");
  expect(configurationChange(urn("eu"), rest, eu).isMove).toBe(true);
  expect(configurationChange(urn("us"), eu, rest).isMove).toBe(true);
  expect(() => configurationChange(urn("default"), eu, rest)).toThrow("https://env.example.com/v3");
  for (const same of [account.baseUrl, ` ${account.baseUrl}/`]) {
    vi.stubEnv("CONVERSATION_BASE_URL", same);
    expect(configurationChange(urn("eu"), rest, eu).isMove).toBe(false);
  }
  const slash = { ...eu, baseUrl: `${account.baseUrl}/` };
  expect(configurationChange(urn("eu"), account, slash).isMove).toBe(false);
});

test("in a rehearsal, the emulator of an account is no other account", () => {
  const { baseUrl: real, ...rest } = account;
  const baseUrl = "http://127.0.0.1:4010/copy/v3";
  const values = { baseUrl };
  const instead = { [real]: values, [baseUrl]: values };
  vi.stubEnv(
    addressesVariable,
    JSON.stringify({ starts: ["http://127.0.0.1:4010/copy"], instead }),
  );
  vi.stubEnv("CONVERSATION_BASE_URL", baseUrl);
  const eu = { ...rest, ownership: "shop/prod/eu" };
  const none = { keys: ["baseUrl"], isMove: false };
  expect(configurationChange(urn("eu"), account, eu)).toEqual(none);
  expect(configurationChange(urn("default"), account, { ...account, baseUrl })).toEqual(none);
  const far = { ...eu, baseUrl: "https://far.example.com/v3" };
  expect(configurationChange(urn("eu"), account, far).isMove).toBe(true);
});

test("the environment precedes the stack's configuration, and an explicit provider both", () => {
  vi.stubEnv("CONVERSATION_BASE_URL", "https://env.example.com/v3");
  vi.stubEnv("CONVERSATION_PLAN", "basic");
  const at = (name: string) => readSettings(configurationOf(name, account).source);
  expect(at("default")).toMatchObject({ baseUrl: "https://env.example.com/v3", plan: "basic" });
  expect(at("default_0_1_0").baseUrl).toBe("https://env.example.com/v3");
  expect(at("default_us").baseUrl).toBe(account.baseUrl);
  expect(at("default_0_1_0_alpha").baseUrl).toBe("https://env.example.com/v3");
  expect(at("eu")).toMatchObject({ baseUrl: account.baseUrl, plan: "basic", clientId: "a" });
  expect(configurationOf("eu", account).ownership).toBe(account.ownership);
});

test("what an explicit provider lacks is an argument to add, not a key of the stack", () => {
  const { clientSecret: _, ...given } = account;
  const read = (name: string) => () => readSettings(configurationOf(name, given).source);
  expect(read("eu")).toThrow(
    /Settings of provider eu are missing[\s\S]*clientSecret is missing: set it in the program, as an argument of the provider eu, or set CONVERSATION_CLIENT_SECRET\n/,
  );
  expect(read("default")).toThrow(/or run: pulumi config set --secret conversation:clientSecret/);
});
