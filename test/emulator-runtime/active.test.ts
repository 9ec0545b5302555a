import { expect, test } from "vitest";
import { kindOf } from "../emulator/running.js";
import { firstMessage, type Hub, hub, message, refusal } from "./hub.js";

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

const used = (all: Hub) => all.service.control("PUT", "/switches", { inactiveObjects: "used" });

test.each(["accounts", "channels", "orchestrations"])(
  "over one of the %s that is not active no conversation runs, unless active has no effect",
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
    expect(await refusal(all.send(firstMessage()))).toEqual([400, "400-152"]);
    expect(await refusal(all.send(more))).toEqual([400, "400-630"]);
    await used(all);
    expect((await all.send(firstMessage())).status).toBe(202);
    expect((await all.send(more)).status).toBe(202);
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
    await used(all);
    await all.begin({ messageId: "m-2" });
    await all.logged(2);
    expect([all.bot.messageIds, all.agent.messageIds]).toEqual([["m-2"], ["m-0001"]]);
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
    error: "undeliverable: what the orchestration names for the role custom_bot is not active",
  });
});

test("a customer's application that is not active gets no message", async () => {
  const all = await hub();
  const conversation = await all.begin();
  await all.logged(1);
  await turnOff(all, "clientapplications", all.ids.customer);
  const answer = message(conversation, "custom_bot", "text");
  expect((await all.send(answer)).status).toBe(202);
  expect((await all.logged(1)).at(-1)).toMatchObject({
    attempt: 0,
    error: expect.stringMatching(/customer is not active/),
  });
  await used(all);
  await all.send(answer);
  await all.logged(2);
  expect(all.customer.received.length).toBe(1);
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
    { attempt: 1, error: "the authentication of the role is not active" },
  ]);
  expect(all.bot.received.length).toBe(0);
  await used(all);
  await all.begin();
  await all.logged(2);
  expect(all.bot.received.length).toBe(1);
});

test("an asset needs a channel of its type that is active", async () => {
  const all = await hub();
  const asset = () =>
    all.service.call("POST", "/assets", {
      channel: { type: "custom.kiosk" },
      sender: { type: "customer" },
      name: "a.png",
      size: 1,
    });
  await turnOff(all, "channels", all.ids.channel);
  expect((await asset()).status).toBe(400);
  await used(all);
  expect((await asset()).status).toBe(200);
});
