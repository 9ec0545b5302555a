/**
 * The bot on its account, without a tenant: npx vitest run orders-bot.test.mts
 *
 * Pulumi applies the program of this folder to an emulator. Its callbacks are those of
 * production; here bot.mts and agent.mts answer them.
 */
import { callbacks } from "pulumi-conversation/runtime";
import { type EmulatedStack, runMocked, stackFixture } from "pulumi-conversation/testing";
import { test as base, expect } from "vitest";
import { agent } from "./agent.mts";
import { ordersBot } from "./bot.mts";

const callbackUrl = "https://shop.example.com/hub";
const password = "not-a-real-password";
const authenticate = { basic: { username: "hub", password } };

const test = base.extend<{ shop: EmulatedStack }>({
  shop: stackFixture({
    program: import.meta.dirname,
    config: { callbackUrl, callbackPassword: { value: password, secret: true } },
    callbacks: ({ client }) => ({
      [`${callbackUrl}/bot`]: callbacks({
        authenticate,
        onMessage: ordersBot(client, "custom.web"),
      }),
      [`${callbackUrl}/agent`]: callbacks({ authenticate, onMessage: agent(client) }),
    }),
  }),
});

const account = { channel: "custom.web", address: "shop-web" };

test("the bot offers the open orders and hands over with the chosen one", async ({ shop }) => {
  const ada = shop.conversation(account);
  await ada.say("Where is my order?");
  await ada.expect({ from: "bot", type: "richMessage.listpicker" });
  const { attachments } = await ada.expect({ from: "bot", type: "text" });
  expect(attachments).toMatchObject([{ name: "open-orders.csv", contentType: "text/csv" }]);

  await ada.say("Rain jacket");
  await ada.expect({ from: "bot", text: /with the carrier/ });
  await ada.expect({ type: "escalation.transfer", content: { order: "1002" } });
  await ada.expect({ from: "agent", type: "agent.join", withinMs: 2_000 });
  await ada.expect({ from: "agent", text: "Order 1002 will be with you tomorrow by noon." });

  await ada.say("Thank you!");
  await ada.expect({ from: "agent", type: "conversation.end" });
});

test("the conversation stays as it was recorded, with the same recipients", async ({ shop }) => {
  const ada = shop.conversation(account);
  await ada.say("Where is my order?");
  await ada.expect({ from: "bot", type: "text" });
  await ada.say("Running shoes");
  await ada.expect({ from: "agent", type: "text" });
  await ada.say("Thank you!");
  await ada.expect({ type: "conversation.end" });
  await ada.idle();
  await expect(await ada.transcript()).toMatchFileSnapshot("transcripts/running-shoes.txt");
});

test("the bot is registered for the question that it answers", async ({ shop }) => {
  await shop.expectObject("Participant", {
    type: "custom_bot",
    intents: { intent: [{ value: "order_status", displayValue: "Where is my order?" }] },
  });
});

test("a run without changes makes no call, and the first one takes at most ten minutes", async ({
  shop,
}) => {
  const { calls } = await shop.up();
  await shop.expectCalls({}, calls);
  await shop.expectForecast({ plan: "developer", maxMinutes: 10 });
});

test("without Pulumi, in milliseconds: every side has its own callback", async () => {
  const program = await runMocked(() => import("./index.js"), {
    project: "orders-bot",
    config: { callbackUrl, callbackPassword: password },
  });
  for (const side of ["customer", "agent"])
    program.expectResource("ClientApplication", `shop-${side}`, {
      roles: [{ callback: `${callbackUrl}/${side}` }],
    });
  expect(program.outputs.address).toBe("shop-web");
});
