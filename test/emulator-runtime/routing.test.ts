import { expect, test } from "vitest";
import { firstMessage, hub, message } from "./hub.js";

test("a customer's message goes to the first bot, with what the service adds", async () => {
  const { begin, bot, customer, agent, logged } = await hub();
  const conversation = await begin();
  await logged(1);
  expect([customer.received.length, bot.received.length, agent.received.length]).toEqual([0, 1, 0]);
  const [call] = bot.received;
  expect(call?.method).toBe("POST");
  expect(call?.path).toBe("/custom_bot");
  expect(call?.headers["content-type"]).toBe("application/json");
  expect(call?.headers.authorization).toBeUndefined();
  expect(call?.message).toMatchObject({
    messageId: "m-0001",
    type: { value: "text" },
    content: { text: "Where is my order?" },
    conversation: { id: conversation },
    sender: { type: "customer", participant: { name: "Ada Example" } },
    recipients: { recipient: [{ type: "custom_bot", participant: { name: "orders-bot" } }] },
  });
});

test("a bot's message goes to the customer's application", async () => {
  const { begin, send, bot, customer, agent, logged } = await hub();
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "text", { content: { text: "On its way" } }));
  await logged(2);
  expect([customer.received.length, bot.received.length, agent.received.length]).toEqual([1, 1, 0]);
  expect(customer.received[0]?.path).toBe("/customer");
  expect(customer.received[0]?.message).toMatchObject({
    sender: { type: "custom_bot" },
    recipients: { recipient: [{ type: "customer", participant: { name: "Ada Example" } }] },
  });
});

test("after the escalation the customer's messages go to the agent, whose own go to the customer", async () => {
  const { begin, send, bot, customer, agent, logged } = await hub();
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer", { messageId: "m-2" }));
  await send(message(conversation, "customer", "text", { messageId: "m-3" }));
  await send(message(conversation, "platform_agent", "text", { messageId: "m-4" }));
  await logged(5);
  expect(bot.messageIds).toEqual(["m-0001"]);
  expect(agent.messageIds).toEqual(["m-2", "m-3"]);
  expect(customer.messageIds).toEqual(["m-2", "m-4"]);
});

test("the first agent takes over where the bot names none", async () => {
  const { begin, send, agent, logged } = await hub({ onEscalation: false });
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer"));
  await send(message(conversation, "customer", "text", { messageId: "m-3" }));
  await logged(4);
  expect(agent.messageIds.at(-1)).toBe("m-3");
});

test("the agent that the bot names takes over where there are no others", async () => {
  const { begin, send, agent, logged } = await hub({ agents: false });
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer"));
  await send(message(conversation, "customer", "text", { messageId: "m-3" }));
  await logged(4);
  expect(agent.messageIds.at(-1)).toBe("m-3");
});

test("without bots the agents get the first message", async () => {
  const { begin, agent, bot, logged } = await hub({ bots: false });
  await begin();
  await logged(1);
  expect([agent.messageIds, bot.messageIds]).toEqual([["m-0001"], []]);
});

test("a conversation may be begun by an agent", async () => {
  const { send, customer, logged } = await hub();
  const reply = await send(firstMessage({ sender: { type: "platform_agent" } }));
  expect(reply.status).toBe(202);
  await logged(1);
  expect(customer.messageIds).toEqual(["m-0001"]);
});

test("where nobody is the customer's application the log says so, and the message is accepted", async () => {
  const { send, begin, logged } = await hub({ customers: false });
  const conversation = await begin();
  const reply = await send(message(conversation, "custom_bot", "text", { messageId: "m-2" }));
  expect(reply.status).toBe(202);
  const log = await logged(2);
  expect(log.find(({ messageId }) => messageId === "m-2")).toEqual({
    at: expect.any(String),
    url: "",
    messageId: "m-2",
    type: "text",
    attempt: 0,
    error: "undeliverable: the orchestration names no client application for the role customer",
  });
});

test("the vendor's own word is used in roles, senders and recipients", async () => {
  const { service, bot, ids, begin, logged } = await hub();
  await service.control("PUT", "/switches", { platformName: "acme" });
  await service.call("PUT", `/clientapplications/${ids.bot}`, {
    name: "vendor-bot",
    roles: [
      {
        name: "acme_bot",
        version: "v3",
        callback: `${bot.url}/own`,
        notificationEmail: "a@b.example",
      },
    ],
  });
  await begin();
  await logged(1);
  expect(bot.received[0]?.path).toBe("/own");
  expect(bot.received[0]?.message.recipients).toMatchObject({ recipient: [{ type: "acme_bot" }] });
});
