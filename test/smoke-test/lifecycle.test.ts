import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import type { Lifecycle } from "../../provider/lifecycle/index.js";
import { smokeTestLifecycle } from "../../provider/smoke-test/smoke-test-lifecycle.js";
import { answering, callbackServer } from "../emulator-runtime/callback-server.js";
import { unsealed } from "../lifecycle/steps.js";
import { failureOf } from "../service/support/connected.js";
import { smokeHub } from "./smoke-hub.js";

const account = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

/** Fails as soon as anything is to be called. */
const offline: Lifecycle = smokeTestLifecycle({
  session: () => Promise.reject(new Error("a session was asked for")),
});

test.each<[JsonObject, string]>([
  [{}, "account is required"],
  [{ account: "../x" }, "account must be the id of an account"],
  [{ account, enabled: "yes" }, "enabled must be true or false"],
  [{ account, sender: "system" }, "sender must be one of customer, platform_agent"],
  [{ account, text: "" }, "text must have 1 to 1000 characters"],
  [{ account, probe: {} }, "probe.url is required"],
  [{ account, probe: { url: "bot" } }, "probe.url must be an absolute http or https address"],
  [
    { account, probe: { url: "http://bot.example.com/", authorization: "canary" } },
    "probe.url must start with https://",
  ],
  [{ account, timeout: 0 }, "timeout must be 1 to 600"],
  [{ account, timeout: 1.5 }, "timeout must be a whole number"],
  [{ account, adopt: true }, "adopt is not a property of ConversationSmokeTest"],
])("%j is refused: %s", async (inputs, rule) => {
  const { failures } = await offline.check({}, { ...inputs, __provider: "pointer" });
  expect(failures).toEqual([{ property: "", reason: expect.stringContaining(rule) }]);
  expect(JSON.stringify(failures)).not.toContain("canary");
});

test("what is not known yet is forgiven", async () => {
  const probe = { url: unknownValue, authorization: "a" };
  const inputs = { account: unknownValue, triggers: [unknownValue], probe };
  expect(await offline.check({}, inputs)).toMatchObject({ failures: [] });
});

test("it is off unless it is wanted, and does nothing then", async () => {
  const { inputs } = await offline.check({}, { account });
  expect(inputs).toMatchObject({ enabled: false, sender: "customer" });
  const made = await offline.create(inputs);
  expect(made).toMatchObject({ id: expect.stringMatching(/^smoke-test-[0-9a-f]{16}$/) });
  expect(made.outs).not.toHaveProperty("conversationId");
  expect(await offline.update(made.id, made.outs, inputs)).toEqual({ outs: made.outs });
  expect(await offline.read(made.id, made.outs)).toMatchObject({ id: made.id, inputs: made.outs });
  await offline.delete(made.id, made.outs);
});

const off = { account, enabled: false, triggers: ["a"] };
const on = { account, enabled: true, triggers: ["a"] };

test.each<[string, JsonObject, JsonObject, boolean]>([
  ["nothing", on, on, false],
  ["nothing but the outputs", { ...on, conversationId: "c", sentAt: "x" }, on, false],
  ["a trigger", on, { ...on, triggers: ["b"] }, true],
  ["a trigger to an unknown one", on, { ...on, triggers: [unknownValue] }, true],
  ["the account", on, { ...on, account: account.replace("1", "2") }, true],
  ["the profile", on, { ...on, profile: "staging" }, true],
  ["a trigger while it is off", off, { ...off, triggers: ["b"] }, false],
  ["off to on", off, on, true],
  ["off to not known yet", off, { ...on, enabled: unknownValue }, true],
  ["on to off", on, off, true],
])("when %s changes, the comparison says so or not", async (_, olds, news, changes) => {
  const state = { ...olds, __provider: "pointer" };
  const { inputs } = await offline.check({}, news);
  expect(await offline.diff("smoke-test-1", state, unsealed(inputs))).toEqual({ changes });
});

test("a changed test runs again, one that is switched off keeps its last result", async () => {
  const live = await smokeHub();
  const first = await live.run();
  const inputs = { account: live.hub.ids.account, enabled: true, triggers: ["b"] };
  const { outs } = await live.lifecycle.update("x", first, await live.checked(inputs));
  expect(outs.conversationId).not.toBe(first.conversationId);
  await live.calls();
  const switchedOff = await live.checked({ ...inputs, enabled: false });
  const after = await live.lifecycle.update("x", outs, switchedOff);
  expect(after.outs).toMatchObject({ enabled: false, conversationId: outs.conversationId });
  expect(await live.calls()).toEqual([]);
});

test("the credentials of the probe are encrypted in the state and in no message", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = answering(500);
  const inputs = await live.checked({
    account: live.hub.ids.account,
    enabled: true,
    timeout: 1,
    probe: { url: probe.url, authorization: "Bearer canary-probe" },
  });
  const failure = await failureOf(live.lifecycle.create(inputs));
  expect(failure).toMatchObject({ stack: expect.not.stringContaining("canary") });
  const { outs } = await live.lifecycle.create({ ...inputs, enabled: false });
  const sealed = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
  expect(outs.probe).toMatchObject({ authorization: sealed });
  const { props } = await live.lifecycle.read("x", { ...inputs, enabled: false });
  expect(props.probe).toMatchObject({ authorization: sealed });
});

test("a conversation that could not be ended is ended by the deletion", async () => {
  const live = await smokeHub();
  const on = "POST /conversations/messages";
  const rule = { on, kind: "status", status: 500, after: 1, times: 1 };
  await live.hub.service.control("POST", "/faults", [rule]);
  const outs = await live.run();
  expect(outs).toMatchObject({ open: true });
  await live.calls();
  await live.lifecycle.delete("x", outs);
  expect(await live.calls()).toEqual(["POST /conversations/messages 202"]);
  await live.lifecycle.delete("x", { ...outs, open: undefined });
  expect(await live.calls()).toEqual([]);
});

test("a deletion succeeds though the service cannot be reached", async () => {
  const live = await smokeHub();
  const outs = { ...(await live.run()), open: true };
  await live.hub.service.emulator.close();
  await expect(live.lifecycle.delete("x", outs)).resolves.toBeUndefined();
});
