import { expect, test } from "vitest";
import { kindOf } from "../emulator/running.js";
import { roleOf } from "../support/forms.js";
import { firstMessage, type Hub, hub, message, refusal } from "./hub.js";

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
  expect(call?.message).not.toHaveProperty("status");
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
  // The agent has the conversation already, and does not hear itself.
  const again = { messageId: "m-5" };
  await send(message(conversation, "platform_agent", "escalation.transfer", again));
  await logged(6);
  expect(bot.messageIds).toEqual(["m-0001"]);
  expect(agent.messageIds).toEqual(["m-2", "m-3"]);
  expect(customer.messageIds).toEqual(["m-2", "m-4", "m-5"]);
});

test.each([
  ["the first agent, where the bot names none", { onEscalation: false }],
  ["the agent that the bot names, where there are no others", { agents: false }],
] as const)("who takes over is %s", async (_, options) => {
  const { begin, send, agent, logged } = await hub(options);
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer"));
  await send(message(conversation, "customer", "text", { messageId: "m-3" }));
  await logged(4);
  expect(agent.messageIds.at(-1)).toBe("m-3");
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
    recipient: "customer",
    messageId: "m-2",
    type: "text",
    attempt: 0,
    error:
      "undeliverable: the orchestration specifies no active client application for the role customer",
  });
});

test("the vendor's own word is used in roles, senders and recipients", async () => {
  const { service, bot, ids, begin, logged } = await hub();
  await service.control("PUT", "/switches", { platformName: "acme" });
  await service.call("PUT", `/clientapplications/${ids.bot}`, {
    name: "vendor-bot",
    roles: [roleOf("acme_bot", { callback: `${bot.url}/own` })],
  });
  await begin();
  await logged(1);
  expect(bot.received[0]?.path).toBe("/own");
  expect(bot.received[0]?.message.recipients).toMatchObject({ recipient: [{ type: "acme_bot" }] });
});

/** Turns an object of the hub off, whatever else it says. */
const turnOff = async ({ service }: Hub, collection: string, id: string): Promise<void> => {
  const { objects, ...rest } = (await service.control("GET", "/snapshot")).json;
  const lists = objects as Record<string, { id: string }[]>;
  const changed = lists[collection]?.map((each) =>
    each.id === id ? { ...each, active: false } : each,
  );
  const put = await service.control("PUT", "/snapshot", {
    ...rest,
    objects: { ...lists, [collection]: changed },
  });
  if (put.status !== 204) throw new Error(put.text);
};

test.each(["accounts", "channels", "orchestrations"])(
  "over one of the %s that is not active no conversation runs",
  async (collection) => {
    const all = await hub();
    const id = {
      accounts: all.ids.account,
      channels: all.ids.channel,
      orchestrations: all.ids.orchestration,
    }[collection];
    const conversation = await all.begin();
    await turnOff(all, collection, id ?? "");
    const more = message(conversation, "customer", "text");
    expect(await refusal(all.send(firstMessage()))).toEqual([400, "400-196"]);
    expect(await refusal(all.send(more))).toEqual([400, "400-630"]);
  },
);

test.each(["clientapplications", "participants"])(
  "a bot whose %s is not active gets no message: the agents have the conversation",
  async (collection) => {
    const all = await hub({ onEscalation: false });
    const id = collection === "participants" ? all.ids.participant : all.ids.bot;
    await turnOff(all, collection, id);
    await all.begin();
    await all.logged(1);
    expect([all.bot.messageIds, all.agent.messageIds]).toEqual([[], ["m-0001"]]);
  },
);

test("a conversation with a bot that was turned off since says so in the log of deliveries", async () => {
  const all = await hub();
  const conversation = await all.begin();
  await all.logged(1);
  await turnOff(all, "participants", all.ids.participant);
  await all.send(message(conversation, "customer", "text", { messageId: "m-2" }));
  expect((await all.logged(1)).at(-1)).toMatchObject({
    messageId: "m-2",
    attempt: 0,
    error:
      "undeliverable: the orchestration specifies no active client application for the role custom_bot",
  });
});

test("an authentication that is not active signs nobody in", async () => {
  const all = await hub({
    switches: { deliveryRetries: 0 },
    prepare: async (service) => ({
      authentication: {
        id: await service.make(kindOf("Authentication"), {
          type: "basic",
          oauth2: undefined,
          basicAuth: { username: "hub", password: "p" },
        }),
      },
    }),
  });
  const { json } = await all.service.control("GET", "/snapshot");
  const { authentications } = json.objects as Record<string, { id: string }[]>;
  await turnOff(all, "authentications", authentications?.[0]?.id ?? "");
  await all.begin();
  expect(await all.logged(1)).toMatchObject([
    { attempt: 1, error: "the role's authentication is not active" },
  ]);
  expect(all.bot.received.length).toBe(0);
});
