import { expect, test } from "vitest";
import { isObject } from "../../provider/kernel/json.js";
import {
  type ConnectionSettings,
  type SmokeTestOptions,
  smokeTest,
} from "../../sdk/runtime/index.js";
import { type Hub, type HubOptions, hub } from "../emulator-runtime/hub.js";
import { failureOf } from "../service/support/connected.js";

type Objects = Record<string, Record<string, unknown>[]>;

/** A whole account at the emulator, and smoke tests of it. */
interface SmokeHub {
  readonly hub: Hub;
  /** Settings besides those of the emulator. */
  run(options?: SmokeTestOptions, settings?: ConnectionSettings): ReturnType<typeof smokeTest>;
  /** Calls to the service besides those for a token since the account was set up, such as `GET /accounts/{id} 200`. */
  calls(): Promise<string[]>;
  /** Changes the objects in the service behind everybody's back. */
  tamper(change: (objects: Objects) => void): Promise<void>;
}

const smokeHub = async (options: HubOptions = {}): Promise<SmokeHub> => {
  const made = await hub(options);
  const { baseUrl, tokenUrl, clientId, clientSecret } = made.service.emulator;
  const log = async (): Promise<string[]> => {
    const { items } = (await made.service.control("GET", "/log")).json;
    const entries = Array.isArray(items) ? items.filter(isObject) : [];
    return entries
      .filter(({ template }) => String(template).startsWith("/"))
      .map(({ method, template, status }) => `${method} ${template} ${status}`);
  };
  const before = (await log()).length;
  return {
    hub: made,
    run: (more, settings) =>
      smokeTest(made.ids.account, {
        settings: { baseUrl, tokenUrl, clientId, clientSecret, ...settings },
        ...more,
      }),
    calls: async () => (await log()).slice(before),
    tamper: async (change) => {
      const { json } = await made.service.control("GET", "/snapshot");
      change(json.objects as Objects);
      const { status, text } = await made.service.control("PUT", "/snapshot", json);
      if (status >= 300) throw new Error(text);
    },
  };
};

const oneConversation = ["POST /conversations/messages 202", "POST /conversations/messages 202"];

test("one message goes to the bot, and its conversation ends", async () => {
  const live = await smokeHub();
  const sent = await live.run({ text: "Hello?" });
  await live.hub.bot.count(2);
  const [first, last] = live.hub.bot.received.map(({ message }) => message);
  expect(first).toMatchObject({
    messageId: sent.messageId,
    type: { value: "text" },
    content: { text: "Hello?" },
    conversation: { id: sent.conversationId },
    sender: { type: "customer", participant: { name: "Smoke test" } },
  });
  expect(last).toMatchObject({ type: { value: "conversation.end" } });
  expect((await live.calls()).slice(-2)).toEqual(oneConversation);
});

test("a running emulator needs no other settings", async () => {
  const { service, ids } = await hub();
  const sent = await smokeTest(ids.account, { settings: service.emulator });
  expect(sent.messageId).toMatch(/^smoke-test-/);
});

test("a message of an agent goes to the customer's application, in the vendor's own word", async () => {
  const live = await smokeHub();
  await live.hub.service.control("PUT", "/switches", { platformName: "acme" });
  await live.run({ sender: "platform_agent" }, { platformName: "acme" });
  await live.hub.customer.count(1);
  expect(live.hub.customer.received[0]?.message).toMatchObject({ sender: { type: "acme_agent" } });
});

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
    /at the authentication: client application ".+" \(ID .+\) refers to authentication 0{8}-.+, which does not exist/,
  ],
])("%s that is missing is named, and nothing is sent", async (_, change, message) => {
  const live = await smokeHub();
  await live.tamper(change);
  const failure = await failureOf(live.run());
  expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  expect(failure).toMatchObject({ message: expect.stringContaining("Nothing was sent.") });
  expect((await live.calls()).filter((call) => call.startsWith("POST"))).toEqual([]);
});

test("a failure says which links are sound", async () => {
  const live = await smokeHub();
  await live.tamper(without("orchestrations"));
  await expect(live.run()).rejects.toThrow(
    /^The smoke test failed: the chain is broken at .*These links work: sign-in, account ".+" \(ID .+\), channel "custom\.kiosk" \(ID .+\)\.$/,
  );
});

test("refused credentials are a broken sign-in", async () => {
  const live = await smokeHub();
  const failure = await failureOf(live.run({}, { clientSecret: "canary-wrong-secret" }));
  expect(failure).toMatchObject({
    code: "CREDENTIALS_REFUSED",
    message: expect.stringMatching(/broken at the sign-in: .+/),
  });
  expect(String(failure)).not.toContain("canary");
  expect((await live.calls()).filter((call) => !call.includes("token"))).toEqual([]);
});

test("a client without the scope for messages is a broken message", async () => {
  const live = await smokeHub();
  const scope = "app.conversation.conversationmgr.manage";
  await expect(live.run({}, { scope })).rejects.toThrow(
    /at the message: Could not send message: .+ is not allowed \(403.+interaction\.manage/,
  );
});

test("what may not be read is skipped", async () => {
  const live = await smokeHub();
  const on = "GET /orchestrations/{id}";
  await live.hub.service.control("POST", "/faults", [{ on, kind: "status", status: 403 }]);
  expect(await live.run()).toMatchObject({ conversationId: expect.any(String) });
});

test.each([
  [
    500,
    /^The smoke test failed: the chain is broken at the end of the conversation: .+These links work: .+, message smoke-test-.+\.$/,
  ],
  // The orchestration may have ended it already.
  [400, undefined],
])("an end that is refused with %s", async (status, message) => {
  const live = await smokeHub();
  const on = "POST /conversations/messages";
  await live.hub.service.control("POST", "/faults", [
    { on, kind: "status", status, after: 1, times: 1 },
  ]);
  if (message) await expect(live.run()).rejects.toThrow(message);
  else expect(await live.run()).toMatchObject({ conversationId: expect.any(String) });
});

test.each<[SmokeTestOptions, string]>([
  [Object.assign({ sender: "system" }), "sender: must be one of: customer, platform_agent"],
  [{ text: "" }, "text: must not be empty"],
])("%j is refused before anything is sent: %s", async (options, rule) => {
  await expect(smokeTest(gone, options)).rejects.toThrow(`Could not run the smoke test: ${rule}`);
});
