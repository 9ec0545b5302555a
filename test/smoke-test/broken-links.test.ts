import { expect, test } from "vitest";
import { answering, callbackServer } from "../emulator-runtime/callback-server.js";
import { failureOf } from "../service/support/connected.js";
import { type SmokeHub, smokeHub } from "./smoke-hub.js";

type Objects = Record<string, Record<string, unknown>[]>;

/** Calls that send something. */
const sendsOf = async (live: SmokeHub): Promise<string[]> =>
  (await live.calls()).filter((call) => call.startsWith("POST"));

const without = (collection: string) => (objects: Objects) => {
  objects[collection] = [];
};

const eachRole = (change: Record<string, unknown>) => (objects: Objects) => {
  for (const application of objects.clientapplications ?? []) {
    const roles = application.roles as Record<string, unknown>[];
    application.roles = roles.map((role) => ({ ...role, ...change }));
  }
};

const gone = "00000000-0000-4000-8000-000000000000";

test.each<[string, (objects: Objects) => void, RegExp]>([
  ["the account", without("accounts"), /at the account: there is no account with the id/],
  [
    "the channel",
    without("channels"),
    /at the channel: account ".+" \(id .+\) refers to channel .+, which does not exist/,
  ],
  [
    "the orchestration",
    without("orchestrations"),
    /at the orchestration: account ".+" \(id .+\) refers to orchestration .+, which does not exist/,
  ],
  [
    "the participant",
    without("participants"),
    /at the participant: orchestration ".+" \(id .+\) refers to participant .+, which does not exist/,
  ],
  [
    "the client application",
    without("clientapplications"),
    /at the client application: orchestration ".+" \(id .+\) refers to client application .+, which does not exist/,
  ],
  [
    "the authentication",
    eachRole({ authentication: { id: gone } }),
    /at the authentication: client application ".+" \(id .+\), role custom_bot refers to authentication 0{8}-.+, which does not exist/,
  ],
  [
    "the role",
    eachRole({ name: "customer" }),
    /at the client application: orchestration .+ sends the message to client application ".+" \(id .+\), which has no role custom_bot\./,
  ],
])("%s that is missing is named, and nothing is sent", async (_, change, message) => {
  const live = await smokeHub();
  await live.tamper(change);
  const failure = await failureOf(live.run());
  expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  expect(failure).toMatchObject({ message: expect.stringContaining("Nothing was sent.") });
  expect(failure).not.toHaveProperty("id");
  expect(await sendsOf(live)).toEqual([]);
});

test("a failure tells which links are sound", async () => {
  const live = await smokeHub();
  await live.tamper(without("orchestrations"));
  await expect(live.run()).rejects.toThrow(
    /running the smoke test failed: the chain is broken at .*Sound before it: sign-in, account ".+" \(id .+\), channel "custom\.kiosk" \(id .+\)\./,
  );
});

test("refused credentials are a broken sign-in", async () => {
  const live = await smokeHub({}, { CONVERSATION_CLIENT_SECRET: "canary-wrong-secret" });
  const failure = await failureOf(live.run());
  expect(failure).toMatchObject({ message: expect.stringMatching(/broken at the sign-in: .+/) });
  expect(String(failure)).not.toContain("canary");
  expect(await live.calls()).toEqual([]);
});

test("an orchestration that names nobody for the sender is broken", async () => {
  const live = await smokeHub({ customers: false });
  await expect(live.run({ sender: "custom_bot" })).rejects.toThrow(
    /at the orchestration: .+ names no client application of a customer, so nobody would get the message of a custom_bot/,
  );
});

test("a client without the scope for messages is a broken message", async () => {
  const live = await smokeHub(
    {},
    {
      CONVERSATION_SCOPE: "app.conversation.conversationmgr.manage",
    },
  );
  await expect(live.run()).rejects.toThrow(
    /at the message: a text of a customer to "kiosk-berlin-01" on "custom\.kiosk" was not taken\. Could not send message: .+ is not allowed \(403.+interaction\.manage/,
  );
});

test("an account that is not in use is refused by the service, and the doubt is named", async () => {
  const live = await smokeHub();
  await live.tamper(({ accounts }) => {
    for (const account of accounts ?? []) account.active = false;
  });
  await expect(live.run()).rejects.toThrow(
    /at the message: .+It may also matter that account ".+" \(id .+\) is not active\./,
  );
});

test("what may not be read is a doubt, not a broken link", async () => {
  const live = await smokeHub();
  const on = "GET /orchestrations/{id}";
  await live.hub.service.control("POST", "/faults", [{ on, kind: "status", status: 403 }]);
  expect(await live.run()).toMatchObject({ arrived: false });
});

test("an address where nobody answers is named, with the role it belongs to", async () => {
  const live = await smokeHub();
  await live.tamper(eachRole({ callback: "http://127.0.0.1:1/hub?key=canary" }));
  const probe = await callbackServer();
  probe.answer = answering(404);
  const failure = await failureOf(live.run({ probe: { url: probe.url } }));
  expect(failure).toMatchObject({
    message: expect.stringMatching(
      /at the callback address: .+did not arrive within 30 s.+nobody answers at http:\/\/127\.0\.0\.1:1\/hub, the callback of client application ".+" \(id .+\), role custom_bot: no connection/,
    ),
  });
  expect(String(failure)).not.toContain("canary");
  expect(live.clock.time).toBeGreaterThanOrEqual(30_000);
});

test("a message that was accepted and not seen names where it went, and its conversation ends", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = answering(204);
  await expect(live.run({ timeout: 5, probe: { url: probe.url } })).rejects.toThrow(
    /at the delivery: the service accepted the message to http:\/\/127\.0\.0\.1:\d+\/custom_bot \(client application .+, role custom_bot, without signing in\), but the probe did not show it within 5 s.+message smoke-test-.+ \(202, conversation .+\)/,
  );
  await live.hub.bot.count(3);
  expect(live.hub.bot.received.map(({ message }) => message.type).at(-1)).toEqual({
    value: "conversation.end",
  });
});

test.each([
  ["answers with an error", answering(500), "it answers with the status 500", 30],
  ["refuses the call", answering(401), "it refuses the call (401); check probe.authorization", 0],
] as const)("a probe that %s is the broken link itself", async (_, answer, why, seconds) => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = answer;
  await expect(live.run({ probe: { url: probe.url } })).rejects.toThrow(
    `at the probe: the service accepted the message, but the probe at ${probe.url}/ cannot tell whether it arrived: ${why}`,
  );
  expect(live.clock.time).toBe(seconds * 1000);
});
