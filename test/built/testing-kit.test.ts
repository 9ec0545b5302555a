import * as pulumi from "@pulumi/pulumi";
import { Authentication, Channel, ConversationAccount } from "pulumi-conversation";
import { callbacks } from "pulumi-conversation/runtime";
import {
  type EmulatedStack,
  type EmulatedStackOptions,
  StackFailure,
  stackFixture,
  startEmulatedStack,
} from "pulumi-conversation/testing";
import { test as base, expect, vi } from "vitest";

const at = (side: string): string => `https://shop.example.com/${side}`;

/** A shop as it runs in production: nothing in it knows of a test. */
const account = async () => {
  const password = new pulumi.Config().requireSecret("password");
  const oauth = new Authentication("sign-in", {
    oauth2: {
      tokenRequestUrl: "https://shop.example.com/token",
      method: "POST",
      headers: { "Content-Type": "application/json" },
      payload: { secret: password },
      accessTokenPath: "$.auth.tokens[0]",
    },
  });
  const desk = new Authentication("desk", { basicAuth: { username: "hub", password } });
  const party = (side: string, authentication: Authentication) => ({
    callback: at(side),
    notificationEmail: "ops@example.com",
    authentication,
  });
  const shop = new ConversationAccount("shop", {
    address: "shop-web",
    channel: { type: "custom.web", displayName: "Web", icon: "aVZCT1J3MEtHZ28=" },
    customer: party("customer", oauth),
    bot: { name: "orders-bot", ...party("orders-bot", desk) },
    agent: party("agent", oauth),
    chatConfigurations: { entryPoint: "1007", timeout: 30 },
  });
  return { address: shop.account.address, password };
};

const options = {
  program: account,
  config: { password: { value: "canary-password", secret: true } },
  callbacks: ({ client }) => ({
    [at("orders-bot")]: callbacks({
      authenticate: { basic: { username: "hub", password: "canary-password" } },
      onMessage: async (message) => {
        if (message.type !== "text") return;
        const sender = { kind: "custom_bot", name: "orders-bot" } as const;
        if (message.text === "Broken") throw new RangeError("no such order");
        const text = `You said ${message.text}`;
        await client.messages.reply(message, { type: "text", sender, text });
        if (message.text === "Agent!") await client.messages.escalate(message, sender);
      },
    }),
  }),
} satisfies EmulatedStackOptions;

const start = { channel: "custom.web", address: "shop-web" };

/** One stack for all tests that ask for it. */
const test = base.extend<{ shop: EmulatedStack }>({ shop: stackFixture(options) });

test("the program was applied, secrets and all", async ({ shop }) => {
  expect(shop.outputs).toEqual({ address: "shop-web", password: "canary-password" });
  const bot = await shop.expectObject("Participant", { type: "custom_bot" });
  await shop.expectObject("orchestrations", {
    applications: { botConfiguration: { bots: [{ participant: { id: bot.id } }] } },
  });
  await shop.expectNoObject("Channel", { type: "sms" });
  await shop.expectCalls({}, (await shop.up()).calls);
  expect((await shop.preview()).changes).toEqual({ same: expect.any(Number) });
});

test("an object that differs is shown, without its secrets", async ({ shop }) => {
  const wrong = shop.expectObject("Authentication", {
    type: "basic",
    active: false,
    basicAuth: { username: "hub", password: "other" },
  });
  await expect(wrong).rejects.toThrow(/active: expected false, is true/);
  await expect(wrong).rejects.toThrow(/basicAuth\.password: expected 'other', is '\[secret\]'/);
  await expect(wrong).rejects.not.toThrow(/canary/);
  await expect(shop.expectObject("Bot", {})).rejects.toThrow("There is no kind");
});

test("messages go to handlers of the test, signed in as in production", async ({ shop }) => {
  const ada = shop.conversation(start);
  await ada.say("Hello");
  const answer = await ada.expect({ from: "bot", text: "You said Hello", withinMs: 60_000 });
  expect(answer.sender.name).toBe("orders-bot");
  await ada.say("Broken");
  await expect
    .poll(() => ada.expect({ from: "bot", withinMs: 50 }).catch(String))
    .toMatch(/A handler in the test failed: RangeError: no such order \(at .*testing-kit/);
  await ada.say("Agent!");
  await ada.expect({ type: "escalation.transfer", withinMs: 60_000 });
  await shop.expectDelivery({
    ...{ url: at("agent"), type: "escalation.transfer", withinMs: 60_000 },
  });
  await expect(shop.expectDelivery({ url: at("nobody"), withinMs: 50 })).rejects.toThrow(
    /No delivery matched \{ url: 'https:\/\/shop\.example\.com\/nobody' \} within 0\.05 s\.\nDeliveries so far:/,
  );
});

test("a first run is forecast, and a limit that it breaks is reported", async ({ shop }) => {
  const found = await shop.expectForecast({ plan: "developer" });
  expect(found.totalCalls).toBeGreaterThanOrEqual(9);
  await shop.expectForecast({ plan: "enterprise", maxMinutes: 1, maxCalls: found.totalCalls });
  const tight = shop.expectForecast({ plan: "developer", maxMinutes: 0.01, maxCalls: 3 });
  await expect(tight).rejects.toThrow(/\(limit: 1 s\); it would make \d+ calls \(limit: 3\)/);
});

test("a handler for an address that no role has is refused", async () => {
  const failing = startEmulatedStack({
    program: async () => undefined,
    callbacks: { "https://shop.example.com/bto": (_request, response) => void response.end() },
  });
  await expect(failing).rejects.toThrow(
    "handler for https://shop.example.com/bto, but no role in a client application has this callback",
  );
});

test("without Pulumi it says what is missing", async () => {
  const path = process.env.PATH;
  process.env.PATH = "";
  try {
    await expect(startEmulatedStack({ program: async () => undefined })).rejects.toThrow(
      "Could not set up a stack for a test: pulumi is not on PATH. Install the Pulumi CLI",
    );
  } finally {
    process.env.PATH = path;
  }
});

test("rates and a manual clock go together: it follows real time while Pulumi runs", async () => {
  const stack = await startEmulatedStack({
    program: async () => undefined,
    emulator: { plan: "enterprise", burst: 1 },
  });
  const emulatedNow = () => stack.emulator.control.advance(0);
  const [before, beforeMs] = [await emulatedNow(), performance.now()];
  let [begunMs, madeMs] = [0, 0];
  await stack.up(async () => {
    begunMs = performance.now();
    const channels = ["a", "b", "c"].map(
      (name) => new Channel(name, { type: `custom.${name}`, displayName: name, icon: "aa" }),
    );
    pulumi.all(channels.map(({ id }) => id)).apply(() => (madeMs = performance.now()));
  });
  // To a millisecond: at least what passed within the program, at most what passed around the run.
  const passedMs = (await emulatedNow()) - before;
  expect(passedMs).toBeGreaterThan(madeMs - begunMs - 1);
  expect(passedMs).toBeLessThan(performance.now() - beforeMs + 1);
  // The third one has to wait for two seconds.
  expect(madeMs - begunMs).toBeGreaterThan(2_000);
  expect(await stack.objects("Channel")).toHaveLength(3);
  expect((await stack.destroy()).changes).toMatchObject({ delete: expect.any(Number) });
  await stack.expectNoObject("Channel", {});
  await stack.close();
});

test("what the environment says of a tenant does not count", async () => {
  process.env.CONVERSATION_BASE_URL = "https://tenant.example.com/conversation/v3";
  process.env.CONVERSATION_STAGING_BASE_URL = "https://tenant.example.com/conversation/v3";
  try {
    const stack = await startEmulatedStack({
      program: async () => {
        new Channel("a", { type: "custom.a", displayName: "A", icon: "aa" });
        const staging = { type: "custom.b", displayName: "B", icon: "aa", profile: "staging" };
        new Channel("b", staging);
      },
      profiles: ["staging"],
    });
    expect(await stack.objects("Channel")).toHaveLength(2);
    await stack.close();
  } finally {
    delete process.env.CONVERSATION_BASE_URL;
    delete process.env.CONVERSATION_STAGING_BASE_URL;
  }
});

test("a run that does not begin the program fails, whatever Pulumi says of it", async ({
  shop,
}) => {
  const up = shop.stack.up.bind(shop.stack);
  // As the SDK does when its connection breaks before the program begins.
  const withoutProgram = vi.spyOn(shop.stack, "up");
  withoutProgram.mockImplementation((options) => up({ ...options, program: async () => ({}) }));
  await expect(shop.up()).rejects.toThrow("Pulumi ended without running the program");
});

// The last, as the SDK keeps the connection of a run that failed.
test("a program that cannot be applied fails with what Pulumi said, and leaves nothing", async () => {
  const failing = startEmulatedStack({
    program: () =>
      Promise.resolve(void new Channel("web", { type: "", displayName: "W", icon: "aa" })),
  });
  await expect(failing).rejects.toThrow(StackFailure);
  await expect(failing).rejects.toThrow(
    /^pulumi up failed\. Pulumi reports:\n[\s\S]*type must have 1/,
  );
});
