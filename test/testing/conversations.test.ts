import { expect, onTestFinished, test } from "vitest";
import type { EmulatorOptions } from "../../emulator/index.js";
import { connect } from "../../sdk/runtime/connect.js";
import { HubRecords } from "../../sdk/testing/checks.js";
import {
  EmulatedTime,
  type TestConversation,
  testConversation,
} from "../../sdk/testing/test-conversation.js";
import { answering } from "../emulator-runtime/callback-server.js";
import { type Hub, hub, message } from "../emulator-runtime/hub.js";

/** What a test conversation needs, without Pulumi. */
interface Stage {
  readonly hub: Hub;
  readonly records: HubRecords;
  readonly time: EmulatedTime;
  /** A conversation with Ada that has not begun. */
  conversation(): TestConversation;
  until: EmulatedTime["until"];
}

const address = { channel: "custom.kiosk", address: "kiosk-berlin-01" };

/** An account whose callbacks are servers of the test, and a client of it. */
const stage = async (options: EmulatorOptions = {}): Promise<Stage> => {
  const made = await hub({ clock: "manual", ...options });
  const { emulator } = made.service;
  const client = connect(emulator);
  onTestFinished(() => client.close());
  const records = new HubRecords(emulator.control, "platform");
  const time = new EmulatedTime(emulator, true);
  const handlers = { idle: async () => undefined, failures: () => [] };
  const means = { client, records, time, finalTries: 3, handlers };
  return {
    hub: made,
    records,
    time,
    conversation: () => testConversation(means, address),
    until: (look, withinMs) => time.until(look, withinMs),
  };
};

/** Has the bot answer every message of the customer with a text, through the service. */
const answerAsBot = ({ hub: { bot, service } }: Stage, text: string): void => {
  bot.answer = ({ message }, response) => {
    response.writeHead(200).end();
    const { conversation } = message;
    const reply = {
      type: { value: "text" },
      content: { text },
      conversation,
      sender: { type: "custom_bot", participant: { name: "orders-bot" } },
    };
    void service.call("POST", "/conversations/messages", { messages: { message: [reply] } });
  };
};

test("what the customer says is answered, and the answer is found", async () => {
  const on = await stage();
  answerAsBot(on, "On its way");
  const ada = on.conversation();
  expect(ada.id).toBeUndefined();
  await ada.say("Where is my order?");
  const found = await ada.expect({ from: "bot", type: "text", text: /way/, name: "orders-bot" });
  expect(found.text).toBe("On its way");
  expect(found.conversationId).toBe(ada.id);
  await ada.idle();
  expect(await ada.transcript()).toBe(
    [
      'customer "Ada"  text  Where is my order?  → custom_bot "orders-bot"',
      'custom_bot "orders-bot"  text  On its way  → customer "Ada"',
    ].join("\n"),
  );
});

test("what was expected before is not found again", async () => {
  const on = await stage();
  answerAsBot(on, "Hello");
  const ada = on.conversation();
  await ada.say("Hi");
  await ada.expect({ from: "bot" });
  await expect(ada.expect({ from: "bot", withinMs: 200 })).rejects.toThrow(
    /^There was no message from the bot within 0\.2 s\.\nThe conversation so far:\ncustomer "Ada"/,
  );
});

test("an answer that does not reach the customer is reported, with what the callback answered", async () => {
  const on = await stage();
  answerAsBot(on, "On its way");
  on.hub.customer.answer = answering(500);
  const ada = on.conversation();
  await ada.say("Where is my order?");
  await expect(ada.expect({ from: "bot", withinMs: 10_000 })).rejects.toThrow(
    /The message from the bot was sent, but did not reach its recipients within 10 s\.[\s\S]*→ customer "Ada" \(not reached: 500\)/,
  );
  await ada.expect({ from: "bot", reached: false });
});

test("somebody who must be silent and is not is quoted", async () => {
  const on = await stage();
  const ada = on.conversation();
  await ada.say("Hi");
  await ada.expectNone({ from: "bot", withinMs: 200 });
  answerAsBot(on, "Too late");
  await ada.say("Hello?");
  await expect(ada.expectNone({ from: "bot", withinMs: 5_000 })).rejects.toThrow(
    /Expected no message from the bot, but there was one\.[\s\S]*Too late/,
  );
});

test("messages of one's own types are said and expected", async () => {
  const on = await stage();
  const ada = on.conversation();
  await ada.say({ type: "custom.cart", content: { items: 2 } });
  await on.hub.send(message(ada.id ?? "", "custom_bot", "custom.order"));
  await ada.expect({ from: "bot", type: "custom.order" });
});

test("a test can speak for the others too, and not for what a sender may not say", async () => {
  const on = await stage();
  const ada = on.conversation();
  await ada.say("Hi");
  await ada.say("One moment", { kind: "custom_agent", name: "Sam" });
  await ada.idle();
  expect(await ada.transcript()).toMatch(/custom_agent "Sam" {2}text {2}One moment {2}→ customer/);
  await expect(ada.say({ type: "agent.join" }, "customer")).rejects.toThrow(/agent\.join/);
});

test("time passes on the emulator's clock while a test waits, and stands still otherwise", async () => {
  const on = await stage();
  const ada = on.conversation();
  await ada.say("Hi");
  const [first] = await ada.messages();
  await ada.say("Still there?");
  const [, second] = await ada.messages();
  expect(second?.message.created).toEqual(first?.message.created);
  await ada.expectNone({ from: "bot", withinMs: 150 });
  await ada.say("Hello?");
  const last = (await ada.messages()).at(-1)?.message.created?.getTime() ?? 0;
  expect(last - (first?.message.created?.getTime() ?? 0)).toBeGreaterThanOrEqual(150);
});

test("a conversation that is idle for longer than its account allows is over", async () => {
  const on = await stage();
  const ada = on.conversation();
  await ada.say("Hi");
  on.time.advance(31 * 60_000);
  await expect(ada.say("Hello?")).rejects.toThrow(/400-630/);
});
