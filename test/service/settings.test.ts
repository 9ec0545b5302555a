import { afterEach, describe, expect, test, vi } from "vitest";
import { addressesVariable, calledAccount } from "../../provider/service/emulated-settings.js";
import {
  assertDistinctProfiles,
  describeSettings,
  profilePrefix,
  readSettings,
} from "../../provider/service/settings.js";

const complete = {
  CONVERSATION_BASE_URL: "https://hub.example.com/conversation/v3",
  CONVERSATION_TOKEN_URL: "https://id.example.com/oauth/token",
  CONVERSATION_CLIENT_ID: "client-1",
  CONVERSATION_CLIENT_SECRET: "canary-secret",
};

const read = (
  environment: Record<string, string>,
  config: Record<string, string> = {},
  profile?: string,
) => readSettings({ environment, config: (key) => config[key] }, profile);

const withOne = (name: string, value: string) => read({ ...complete, [name]: value });

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  throw new Error("nothing was refused");
};

afterEach(() => vi.unstubAllEnvs());

test.each([undefined, "eu"])(
  "an emulator does not stand for the account that the stack's configuration names (profile %s)",
  (profile) => {
    const there = "http://127.0.0.1:4010/conversation/v3";
    const prefix = profilePrefix(profile);
    const environment = Object.fromEntries(
      Object.entries(complete).map(([name, value]) => [
        name.replace("CONVERSATION_", prefix),
        name.endsWith("URL") ? there : value,
      ]),
    );
    const called = (baseUrl: string | undefined) =>
      calledAccount(
        { environment, config: (key) => (key.endsWith("baseUrl") ? baseUrl : undefined) },
        profile,
      ).baseUrl;
    const real = "https://hub.example.com/conversation/v3";
    expect(called(real)).toBe(there);
    vi.stubEnv(addressesVariable, JSON.stringify({ starts: [], alsoLocal: true }));
    for (const own of [undefined, there]) expect(called(own)).toBe(there);
    expect(() => called(real)).toThrow(/leads to a real account .* Nothing was sent or changed\./);
    vi.stubEnv(addressesVariable, JSON.stringify({ starts: [new URL(there).origin] }));
    expect(called(real)).toBe(there);
  },
);

test("the four required settings are enough; the rest has defaults", () => {
  expect(read(complete)).toEqual({
    baseUrl: "https://hub.example.com/conversation/v3",
    tokenUrl: "https://id.example.com/oauth/token",
    clientId: "client-1",
    clientSecret: "canary-secret",
    scope:
      "app.conversation.conversationmgr.manage app.conversation.conversationmgr.read app.conversation.conversationmgr.interaction.manage app.conversation.conversationmgr.interaction.read",
    share: 1,
    platformName: "platform",
    ownershipMark: "description",
  });
});

test("the environment wins over the configuration", () => {
  const settings = read(complete, { "conversation:clientId": "other" });
  expect(settings.clientId).toBe("client-1");
});

test("all missing settings are named in one error, with both ways to set them", () => {
  expect(() => read({})).toThrow(expect.objectContaining({ code: "SETTINGS_MISSING" }));
  expect(() => read({})).toThrow(
    /\nOr run the command against an emulator: npx pulumi-conversation emulator -- <command>$/,
  );
  const message = messageOf(() => read({}));
  expect(message).toMatch(/^Settings are missing\. Nothing was sent\.\n/);
  expect(messageOf(() => read({ CONVERSATION_BASE_URL: "no URL" }))).toMatch(
    /^The settings are not valid\./,
  );
  for (const line of [
    "set CONVERSATION_BASE_URL, or run: pulumi config set conversation:baseUrl <value>",
    "set CONVERSATION_TOKEN_URL, or run: pulumi config set --plaintext conversation:tokenUrl <value>",
    "set CONVERSATION_CLIENT_ID, or run: pulumi config set conversation:clientId <value>",
    "set CONVERSATION_CLIENT_SECRET, or run: pulumi config set --secret conversation:clientSecret <value>",
  ]) {
    expect(message).toContain(line);
  }
});

describe("a profile", () => {
  test("reads its own names", () => {
    const settings = read(
      {
        CONVERSATION_EU_WEST_BASE_URL: "https://eu.example.com/v3",
        CONVERSATION_EU_WEST_CLIENT_SECRET: "s",
      },
      {
        "conversation:eu-west.tokenUrl": "https://eu.example.com/token",
        "conversation:eu-west.clientId": "c",
      },
      "eu-west",
    );
    expect(settings).toMatchObject({
      baseUrl: "https://eu.example.com/v3",
      tokenUrl: "https://eu.example.com/token",
      clientId: "c",
      clientSecret: "s",
      profile: "eu-west",
    });
  });

  test("takes nothing over from the default settings", () => {
    expect(() => read(complete, {}, "staging")).toThrow(
      /CONVERSATION_STAGING_BASE_URL.*conversation:staging\.baseUrl/,
    );
  });

  test.each(["", "1st", "a.b", "a b", "a:b", "é"])("cannot be called %j", (profile) => {
    expect(() => read(complete, {}, profile)).toThrow(
      expect.objectContaining({ code: "SETTINGS_INVALID" }),
    );
  });
});

test.each([
  ["https://hub.example.com/v3/", "https://hub.example.com/v3"],
  ["http://localhost:4010/conversation/v3", "http://localhost:4010/conversation/v3"],
  ["http://127.0.0.1:4010/v3", "http://127.0.0.1:4010/v3"],
  ["http://[::1]:4010/v3", "http://[::1]:4010/v3"],
])("the base address %s is taken as %s", (given, taken) => {
  expect(withOne("CONVERSATION_BASE_URL", given).baseUrl).toBe(taken);
});

test.each([
  ["BASE_URL", "https://hub.example.com/conversation", /version segment \/v3/],
  ["BASE_URL", "http://hub.example.com/v3", /must start with https/],
  ["BASE_URL", "http://127.0.0.1.example.com/v3", /must start with https/],
  // A proxy would get the credentials in plain text.
  ["BASE_URL", "http://127.0.0.2/v3", /must start with https/],
  ["BASE_URL", "https://u:canary-pass@hub.example.com/v3", /not contain a user name or password/],
  ["BASE_URL", "https://hub.example.com/v3?a=canary-pass", /not contain "\?"/],
  ["BASE_URL", "https://hub.example.com/v3#canary-pass", /not contain "#"/],
  ["BASE_URL", "canary-pass", /starts with https/],
  ["TOKEN_URL", "http://id.example.com/token", /must start with https/],
  ["PLAN", "gold", /one of: developer, basic, enterprise/],
  ["BURST", "0", /whole number of at least 1/],
  ["SHARE", "0", /greater than 0 and at most 1/],
  ["SHARE", "half", /greater than 0 and at most 1/],
  ["PLATFORM_NAME", "Platform", /lowercase letters/],
  ["OWNERSHIP_MARK", "name", /one of: description, none/],
  ["PUT", "merge", /one of: keep, replace/],
  ["REDIS_URL", "http://u:canary-pass@redis/", /redis:\/\//],
  ["CLIENT_SECRET", "canary-pass\n", /not contain control characters/],
])("%s=%j breaks a rule that the error names, without the value", (suffix, value, rule) => {
  const message = messageOf(() => withOne(`CONVERSATION_${suffix}`, value));
  expect(message).toMatch(rule);
  expect(message).toContain(`CONVERSATION_${suffix}`);
  expect(message).not.toContain("canary");
});

test("burst and share are numbers, the plan is taken in any case", () => {
  const given = { BURST: "20", SHARE: ".5", PLAN: "Enterprise" };
  const named = Object.entries(given).map(([name, value]) => [`CONVERSATION_${name}`, value]);
  const settings = read({ ...complete, ...Object.fromEntries(named) });
  expect(settings).toMatchObject({ burst: 20, share: 0.5, plan: "enterprise" });
});

test("every setting is described with both names and whether it is secret", () => {
  expect(describeSettings("staging")).toContainEqual({
    key: "clientSecret",
    config: "conversation:staging.clientSecret",
    environment: "CONVERSATION_STAGING_CLIENT_SECRET",
    doc: expect.any(String),
    required: true,
    secret: true,
  });
});

test.each([
  ["PLAN", "gold", ', not "gold"'],
  ["PLAN", "Enterprse", ', not "Enterprse"; did you mean enterprise?'],
  ["PUT", "x".repeat(300), `, not "${"x".repeat(40)}"… (300 characters)`],
  ["PUT", "\u202ekeep\u0007!!", ', not "\\u202ekeep\\u0007!!"'],
])("%s=%j is shown, with the word that was probably meant", (suffix, value, shown) => {
  const lines = messageOf(() => withOne(`CONVERSATION_${suffix}`, value)).split("\n");
  expect(lines.at(-1)).toMatch(/^ {2}conversation:.*must be one of: /);
  expect(lines.at(-1)?.endsWith(shown)).toBe(true);
});

describe("profiles", () => {
  test.each([
    ["my-eu", "my_eu"],
    ["my_eu", "MY-EU"],
    ["eu", "EU"],
  ])("%s and %s would share their variables, so the second is refused", (one, other) => {
    expect(profilePrefix(one)).toBe(profilePrefix(other));
    expect(() => assertDistinctProfiles(one, [undefined, "us", other])).toThrow(
      expect.objectContaining({
        code: "SETTINGS_INVALID",
        message: expect.stringMatching(
          new RegExp(`"${other}" and "${one}" .*${profilePrefix(one)}BASE_URL`),
        ),
      }),
    );
  });

  test("of different variables stand side by side, and each beside itself", () => {
    const all = [undefined, "eu", "eu-west", "us"];
    for (const profile of all) expect(assertDistinctProfiles(profile, all)).toBeUndefined();
    expect([profilePrefix(), profilePrefix("eu-west")]).toEqual([
      "CONVERSATION_",
      "CONVERSATION_EU_WEST_",
    ]);
  });
});
