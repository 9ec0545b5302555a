import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import type { Lifecycle } from "../../provider/lifecycle/index.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";
import { smokeTestLifecycle } from "../../provider/smoke-test/smoke-test-lifecycle.js";
import { answering, callbackServer } from "../emulator-runtime/callback-server.js";
import { type Hub, type HubOptions, hub } from "../emulator-runtime/hub.js";
import { unsealed } from "../lifecycle/steps.js";
import { JumpingClock } from "../service/support/clocks.js";
import { failureOf } from "../service/support/connected.js";

/** A whole account at the emulator, and the life cycle of smoke tests in front of it. */
interface SmokeHub {
  readonly hub: Hub;
  readonly lifecycle: Lifecycle;
  readonly clock: JumpingClock;
  /** What was shown in the row of the resource. */
  readonly said: string[];
  /** Ends the run as Ctrl-C does. */
  readonly cancel: AbortController;
  /** Checks inputs as the engine does; fails where a rule is broken. */
  checked(inputs: JsonObject): Promise<JsonObject>;
  /** Makes an enabled test of the account with these inputs besides; gives back its outputs. */
  run(inputs?: JsonObject): Promise<JsonObject>;
  /** Calls to the service without those for a token since the last look, such as `GET /accounts/{id} 200`. */
  calls(): Promise<string[]>;
  /** Changes the objects in the service behind everybody's back. */
  tamper(change: (objects: Record<string, Record<string, unknown>[]>) => void): Promise<void>;
}

const smokeHub = async (
  options: HubOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<SmokeHub> => {
  const made = await hub(options);
  const { emulator } = made.service;
  const settings = readSettings({
    environment: { ...emulatorEnvironment(emulator), ...environment },
    config: () => undefined,
  });
  const [clock, cancel, said] = [new JumpingClock(), new AbortController(), [] as string[]];
  const { signal } = cancel;
  const retry = { minTimeoutMs: 0, maxTimeoutMs: 0 };
  const service = connectService(settings, { clock, signal, retry });
  onTestFinished(() => service.close());
  const say = (text: string) => void said.push(text);
  const lifecycle = smokeTestLifecycle({
    session: async () => ({ settings, service, clock, signal, say }),
  });
  const log = async (): Promise<string[]> => {
    const { items } = (await made.service.control("GET", "/log")).json;
    const entries = Array.isArray(items) ? items.filter(isObject) : [];
    return entries
      .filter(({ template }) => String(template).startsWith("/"))
      .map(({ method, template, status }) => `${method} ${template} ${status}`);
  };
  let seen = (await log()).length;
  const checked: SmokeHub["checked"] = async (inputs) => {
    const { inputs: result, failures } = await lifecycle.check({}, inputs);
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("\n"));
    return { ...unsealed(result), __provider: "pointer" };
  };
  return {
    hub: made,
    lifecycle,
    clock,
    said,
    cancel,
    checked,
    run: async (inputs = {}) => {
      const properties = await checked({ account: made.ids.account, enabled: true, ...inputs });
      const { outs } = await lifecycle.create(properties);
      return { ...unsealed(outs), __provider: "pointer" };
    },
    calls: async () => {
      const all = await log();
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
    tamper: async (change) => {
      const { json } = await made.service.control("GET", "/snapshot");
      change(json.objects as Record<string, Record<string, unknown>[]>);
      const { status, text } = await made.service.control("PUT", "/snapshot", json);
      if (status >= 300) throw new Error(text);
    },
  };
};

const account = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

/** Fails as soon as anything is to be called. */
const offline: Lifecycle = smokeTestLifecycle({
  session: () => Promise.reject(new Error("a session was asked for")),
});

test.each<[JsonObject, string]>([
  [{}, "account is required"],
  [{ account: "../x" }, "account must be the ID of an account"],
  [{ account, enabled: "yes" }, "enabled must be true or false"],
  [{ account, sender: "system" }, "sender must be one of customer, platform_agent"],
  [{ account, text: "" }, "text must have 1 to 1000 characters"],
  [{ account, probe: {} }, "probe.url is required"],
  [{ account, probe: { url: "bot" } }, "probe.url must be an absolute http or https URL"],
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

const chain = [
  "GET /accounts/{id} 200",
  "GET /channels/{id} 200",
  "GET /orchestrations/{id} 200",
  "GET /participants/{id} 200",
  "GET /clientapplications/{id} 200",
];
const oneConversation = ["POST /conversations/messages 202", "POST /conversations/messages 202"];

/** A probe that answers what the bot has got, once it has got something. */
const probeOf = async (live: Awaited<ReturnType<typeof smokeHub>>) => {
  const probe = await callbackServer();
  probe.answer = (_received, response) => {
    void live.hub.bot.count(1).then(() => {
      const seen = live.hub.bot.received.map(({ message }) => message.conversation);
      response.writeHead(200).end(JSON.stringify({ seen }));
    });
  };
  return probe;
};

test("a message that arrives at the bot is seen at the probe, and its conversation ends", async () => {
  const live = await smokeHub();
  const probe = await probeOf(live);
  const outs = await live.run({
    text: "Hello?",
    probe: { url: `${probe.url}/seen?key=7`, authorization: "Bearer canary-probe" },
  });
  expect(outs).toMatchObject({ arrived: true, enabled: true, text: "Hello?" });
  await live.hub.bot.count(2);
  const [first, last] = live.hub.bot.received.map(({ message }) => message);
  expect(first).toMatchObject({
    messageId: outs.messageId,
    type: { value: "text" },
    content: { text: "Hello?" },
    conversation: { id: outs.conversationId },
    sender: { type: "customer", participant: { name: "Smoke test" } },
  });
  expect(last).toMatchObject({ type: { value: "conversation.end" } });
  expect(await live.calls()).toEqual([...chain, ...oneConversation]);
  expect(probe.received[0]).toMatchObject({
    method: "GET",
    path: "/seen?key=7",
    headers: { authorization: "Bearer canary-probe" },
  });
  expect(new Date(String(outs.sentAt)).toISOString()).toBe(outs.sentAt);
});

test("without a probe the service's 202 is enough", async () => {
  const live = await smokeHub();
  expect(await live.run()).toMatchObject({ arrived: false, conversationId: expect.any(String) });
  expect(await live.calls()).toEqual([...chain, ...oneConversation]);
});

test("a message of an agent goes to the customer's application, in the vendor's own word", async () => {
  const live = await smokeHub({}, { CONVERSATION_PLATFORM_NAME: "acme" });
  await live.hub.service.control("PUT", "/switches", { platformName: "acme" });
  await live.run({ sender: "platform_agent" });
  await live.hub.customer.count(1);
  expect(live.hub.customer.received[0]?.message).toMatchObject({
    sender: { type: "acme_agent" },
  });
  expect(await live.calls()).toEqual([
    ...chain.filter((call) => !call.includes("participants")),
    ...oneConversation,
  ]);
});

test("without a bot the agents get the customer's message", async () => {
  const live = await smokeHub({ bots: false });
  await live.run();
  await live.hub.agent.count(1);
  expect(live.hub.agent.received[0]?.message).toMatchObject({ type: { value: "text" } });
});

test("the row of the resource says what is waited for", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = (_received, response, place) => {
    const seen = live.hub.bot.received.map(({ message }) => message.id);
    const answer = () => response.writeHead(200).end(JSON.stringify(place > 2 ? seen : []));
    void live.hub.bot.count(1).then(answer);
  };
  await live.run({ probe: { url: probe.url } });
  expect(live.said[0]).toBe("waiting for the message to arrive at the probe, for up to 30 s");
  expect(probe.received).toHaveLength(3);
  expect(live.clock.slept).toEqual([250, 500]);
});

test("a run that is cancelled stops waiting at once", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = (_received, response) => {
    live.cancel.abort();
    response.writeHead(404).end();
  };
  await expect(live.run({ probe: { url: probe.url } })).rejects.toThrow("was canceled");
  expect(probe.received).toHaveLength(1);
});

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
  ["the account", without("accounts"), /at the account: there is no account with the ID/],
  [
    "the channel",
    without("channels"),
    /at the channel: account ".+" \(ID .+\) refers to channel .+, which does not exist/,
  ],
  [
    "the orchestration",
    without("orchestrations"),
    /at the orchestration: account ".+" \(ID .+\) refers to orchestration .+, which does not exist/,
  ],
  [
    "the participant",
    without("participants"),
    /at the participant: orchestration ".+" \(ID .+\) refers to participant .+, which does not exist/,
  ],
  [
    "the client application",
    without("clientapplications"),
    /at the client application: orchestration ".+" \(ID .+\) refers to client application .+, which does not exist/,
  ],
  [
    "the authentication",
    eachRole({ authentication: { id: gone } }),
    /at the authentication: client application ".+" \(ID .+\), role custom_bot refers to authentication 0{8}-.+, which does not exist/,
  ],
  [
    "the role",
    eachRole({ name: "customer" }),
    /at the client application: orchestration .+ sends the message to client application ".+" \(ID .+\), which has no custom_bot role\./,
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

test("a failure says which links are sound", async () => {
  const live = await smokeHub();
  await live.tamper(without("orchestrations"));
  await expect(live.run()).rejects.toThrow(
    /running the smoke test failed: the chain is broken at .*These links work: sign-in, account ".+" \(ID .+\), channel "custom\.kiosk" \(ID .+\)\./,
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
    /at the orchestration: .+ specifies no client application for a customer, so no one would receive the message from a custom_bot/,
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
    /at the message: sending a text message from a customer to "kiosk-berlin-01" on "custom\.kiosk" failed\. Could not send message: .+ is not allowed \(403.+interaction\.manage/,
  );
});

test("an account that is not in use is refused by the service, and the doubt is named", async () => {
  const live = await smokeHub();
  await live.tamper(({ accounts }) => {
    for (const account of accounts ?? []) account.active = false;
  });
  await expect(live.run()).rejects.toThrow(
    /at the message: .+Other possible causes: account ".+" \(ID .+\) is not active\./,
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
      /at the callback URL: .+did not arrive within 30 s.+this machine cannot reach a server at http:\/\/127\.0\.0\.1:1\/hub, the callback of client application ".+" \(ID .+\), role custom_bot: no connection/,
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
    /at the delivery: the service accepted the message to http:\/\/127\.0\.0\.1:\d+\/custom_bot \(client application .+, role custom_bot, without authentication\), but the probe did not report it within 5 s.+message smoke-test-.+ \(202, conversation .+\)/,
  );
  await live.hub.bot.count(3);
  expect(live.hub.bot.received.map(({ message }) => message.type).at(-1)).toEqual({
    value: "conversation.end",
  });
});

test.each([
  ["answers with an error", answering(500), "it responds with status 500", 30],
  ["refuses the call", answering(401), "it refuses the call (401); check probe.authorization", 0],
] as const)("a probe that %s is the broken link itself", async (_, answer, why, seconds) => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = answer;
  await expect(live.run({ probe: { url: probe.url } })).rejects.toThrow(
    `at the probe: the service accepted the message, but the probe at ${probe.url}/ cannot show whether it arrived: ${why}`,
  );
  expect(live.clock.time).toBe(seconds * 1000);
});
