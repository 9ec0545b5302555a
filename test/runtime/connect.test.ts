import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { systemClock } from "../../provider/kernel/clock.js";
import { readRuntimeSettings } from "../../sdk/runtime/connect.js";
import { connect } from "../../sdk/runtime/index.js";
import { running } from "../emulator/running.js";
import { JumpingClock } from "../service/support/clocks.js";
import { json } from "../service/support/fake-hub.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { connectedClient } from "./support/connected-client.js";

const whole = {
  CONVERSATION_BASE_URL: "https://hub.example.com/conversation/v3",
  CONVERSATION_TOKEN_URL: "https://hub.example.com/token",
  CONVERSATION_CLIENT_ID: "id",
  CONVERSATION_CLIENT_SECRET: "canary-secret",
};

test("what is given wins, what is left out comes from the environment", () => {
  const settings = readRuntimeSettings(
    { clientId: "mine", plan: "basic", burst: 7, share: 0.5 },
    { ...whole, CONVERSATION_PLAN: "developer", CONVERSATION_PLATFORM_NAME: "acme" },
  );
  expect(settings).toMatchObject({
    baseUrl: whole.CONVERSATION_BASE_URL,
    clientId: "mine",
    clientSecret: "canary-secret",
    plan: "basic",
    burst: 7,
    share: 0.5,
    platformName: "acme",
  });
});

test("a profile reads its own variables only", () => {
  const environment = Object.fromEntries(
    Object.entries(whole).map(([name, value]) => [name.replace("_", "_STAGING_"), value]),
  );
  expect(readRuntimeSettings({ profile: "staging" }, environment)).toMatchObject({
    clientId: "id",
    profile: "staging",
  });
  expect(() => readRuntimeSettings({ profile: "staging" }, whole)).toThrow(
    "CONVERSATION_STAGING_BASE_URL",
  );
});

test("everything that is missing is named at once, with both ways to give it", () => {
  const { CONVERSATION_CLIENT_ID: _, ...some } = whole;
  expect(() => connect({ tokenUrl: "" }, { environment: some })).toThrow(
    expect.objectContaining({
      code: "SETTINGS_MISSING",
      message: expect.stringMatching(
        /settings are missing or not valid.*\n.*tokenUrl is missing: pass it to connect, or set CONVERSATION_TOKEN_URL\n.*clientId is missing/,
      ),
    }),
  );
});

test.each<[string, object]>([
  ["an unknown name", { baseURL: "x" }],
  ["an address without https", { baseUrl: "http://hub.example.com/v3" }],
  ["another version", { baseUrl: "https://hub.example.com/v4" }],
  ["a share above one", { share: 2 }],
  ["a profile that is no text", { profile: 5 }],
])("%s is refused, and no value is shown", (_, settings) => {
  expect(() =>
    connect({ clientSecret: "canary\nsecret", ...settings }, { environment: whole }),
  ).toThrow(
    expect.objectContaining({
      code: "SETTINGS_INVALID",
      message: expect.not.stringContaining("canary"),
    }),
  );
});

test("connecting sends nothing, and one token serves all calls", async () => {
  await using live = await connectedClient(json(202, {}));
  expect(live.hub.tokenCalls).toHaveLength(0);
  await live.client.messages.end("c-1", "customer");
  await live.client.messages.end("c-2", "customer");
  expect(live.hub.tokenCalls).toHaveLength(1);
  expect(live.hub.calls.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer token-1",
    "Bearer token-1",
  ]);
});

test("after closing nothing is sent any more", async () => {
  await using live = await connectedClient(json(202, {}));
  await live.client.close();
  await expect(live.client.messages.end("c-1", "customer")).rejects.toMatchObject({
    code: "CANCELLED",
    message: "The client was closed. Nothing was sent.",
  });
  expect(live.hub.calls).toEqual([]);
});

test("calls keep to the plan by default, and share its rates with other processes", async () => {
  const folder = temporaryFolder();
  const environment = { XDG_CACHE_HOME: folder };
  await using live = await connectedClient(
    json(202, {}),
    { plan: "enterprise", burst: 1 },
    { pacing: "plan", environment, clock: systemClock },
  );
  await live.client.messages.end("c-1", "customer");
  const before = performance.now();
  await live.client.messages.end("c-1", "customer");
  // 5 per second: specification §8.2.
  expect(performance.now() - before).toBeGreaterThanOrEqual(150);
  // Before Node.js 24, they are shared within a process alone.
  const isShared = Number.parseInt(process.versions.node, 10) >= 24;
  const path = join("pulumi-conversation", "buckets.sqlite");
  expect(existsSync(join(folder, path))).toBe(isShared);
});

test("a running emulator is enough to connect to it, and its calls go at once", async () => {
  await using service = await running();
  const clock = new JumpingClock();
  await using client = connect(service.emulator, { environment: {}, clock });
  const missing = Array.from({ length: 50 }, () => client.conversations.get("c-1"));
  const results = await Promise.allSettled(missing);
  expect(results).toMatchObject(missing.map(() => ({ reason: { code: "NOT_FOUND" } })));
  expect(clock.slept).toEqual([]);
});

test("settings may be given beside those of an emulator, and unknown ones of others are refused", async () => {
  await using emulator = await startEmulator();
  const clock = new JumpingClock();
  const environment = { XDG_CACHE_HOME: temporaryFolder() };
  await using client = connect({ ...emulator, plan: "developer" }, { environment, clock });
  for (const _ of [1, 2])
    await expect(client.conversations.get("c-1")).rejects.toMatchObject({ code: "NOT_FOUND" });
  // The plan's rate is kept: one call in 6.25 s.
  expect(clock.time).toBeGreaterThan(6_000);
  const { controlUrl: _, ...others } = emulator;
  expect(() => connect(others, { environment: {} })).toThrow("there is no setting");
});
