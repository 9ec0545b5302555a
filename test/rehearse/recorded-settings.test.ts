import { expect, test } from "vitest";
import {
  recordedSettings,
  resolvedSettings,
  settingChanges,
} from "../../cli/rehearse/change-record.js";
import { readSettings } from "../../provider/service/settings.js";

type Texts = Readonly<Record<string, string>>;

const usual: Texts = {
  CONVERSATION_BASE_URL: "https://hub.example.com/conversation/v3",
  CONVERSATION_TOKEN_URL: "https://hub.example.com/token",
  CONVERSATION_CLIENT_ID: "the-client",
  CONVERSATION_CLIENT_SECRET: "canary-secret",
  CONVERSATION_REDIS_URL: "redis://:canary-password@redis.example.com",
};

/** The settings of an environment, and of encrypted configuration. */
const resolve = (environment: Texts, secret: Texts = {}, profile?: string) =>
  resolvedSettings([readSettings({ environment, config: (key) => secret[key] }, profile)], {
    config: new Map(Object.entries(secret).map(([key, text]) => [key, { text, secret: true }])),
  });

const withoutClient = ({ CONVERSATION_CLIENT_ID: _, ...others }: Texts = usual): Texts => others;

test("a record holds what decides the outcome as it resolves, and no secret", () => {
  const record = recordedSettings(resolve(usual));
  expect(record).toEqual({
    "conversation:baseUrl": "https://hub.example.com/conversation/v3",
    "conversation:tokenUrl": "https://hub.example.com/token",
    "conversation:clientId": "the-client",
    "conversation:scope": expect.stringContaining("conversationmgr.manage"),
    "conversation:share": "1",
    "conversation:platformName": "platform",
    "conversation:ownershipMark": "description",
  });
  const rotated = { CONVERSATION_CLIENT_SECRET: "b", CONVERSATION_REDIS_URL: "redis://c" };
  expect(settingChanges(record, resolve({ ...usual, ...rotated }))).toEqual([]);
});

test.each([
  ["CONVERSATION_BASE_URL", "https://x.example.com/v3", /baseUrl.* is https:.*; it was https:/],
  ["CONVERSATION_TOKEN_URL", "https://x.example.com/t", /tokenUrl.* is https:.*; it was https:/],
  [
    "CONVERSATION_CLIENT_ID",
    "another",
    /clientId.* is another; it was the-client \(.*--as-scopes\)$/,
  ],
  ["CONVERSATION_SCOPE", "a", /scope.* is a; it was /],
  ["CONVERSATION_PLAN", "basic", /plan.* is basic; it was not set$/],
  ["CONVERSATION_BURST", "3", /burst.* is 3; it was not set$/],
  ["CONVERSATION_SHARE", "0.5", /share.* is 0.5; it was 1$/],
  ["CONVERSATION_PLATFORM_NAME", "acme", /platformName.* is acme; it was platform$/],
  ["CONVERSATION_OWNERSHIP_MARK", "none", /ownershipMark.* is none; it was description$/],
  ["CONVERSATION_PUT", "keep", /put.* is keep; it was not set$/],
])("%s is named when it changes, comes or goes", (name, value, said) => {
  const record = recordedSettings(resolve(usual));
  const now = resolve({ ...usual, [name]: value });
  expect(settingChanges(record, now)).toEqual([expect.stringMatching(said)]);
  expect(settingChanges(recordedSettings(now), resolve(usual))).toHaveLength(1);
  expect(settingChanges(recordedSettings(now), now)).toEqual([]);
});

test("what the configuration keeps as a secret is recognized, and stands in no record or message", () => {
  const before = resolve(withoutClient(), { "conversation:clientId": "canary-client" });
  const record = recordedSettings(before);
  expect(JSON.stringify(record)).not.toContain("canary");
  expect(settingChanges(record, before)).toEqual([]);
  const now = resolve(withoutClient(), { "conversation:clientId": "canary-other" });
  expect(settingChanges(record, now)).toEqual([
    expect.stringMatching(/^conversation:clientId \(CONVERSATION_CLIENT_ID\) changed \(if/),
  ]);
});

test("an address with a key behind it is not shown", () => {
  const withKey = (key: string) => ({
    ...usual,
    CONVERSATION_TOKEN_URL: `https://hub.example.com/token?code=${key}`,
  });
  const record = recordedSettings(resolve(withKey("canary-1")));
  expect(JSON.stringify(record)).not.toContain("canary");
  expect(settingChanges(record, resolve(withKey("canary-1")))).toEqual([]);
  expect(settingChanges(record, resolve(withKey("canary-2")))).toEqual([
    "conversation:tokenUrl (CONVERSATION_TOKEN_URL) changed",
  ]);
});

test("a setting of a profile is another one than that of the default account", () => {
  const eu = Object.fromEntries(
    Object.entries(usual).map(([name, value]) => [name.replace("TION_", "TION_EU_"), value]),
  );
  const record = recordedSettings(resolve(eu, {}, "eu"));
  expect(settingChanges(record, resolve({ ...eu, CONVERSATION_PUT: "keep" }, {}, "eu"))).toEqual(
    [],
  );
  expect(settingChanges(record, resolve({ ...eu, CONVERSATION_EU_PUT: "keep" }, {}, "eu"))).toEqual(
    ["conversation:eu.put (CONVERSATION_EU_PUT) is keep; it was not set"],
  );
});
