import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf } from "../emulator/running.js";
import { address, firstMessage, type Hub, hub, message } from "./hub.js";

const restrict = async (all: Hub, restrictions: JsonObject): Promise<void> => {
  const body = await all.service.body(kindOf("Channel"), {
    type: address.channel.type,
    restrictions,
  });
  const put = await all.service.call("PUT", `/channels/${all.ids.channel}`, body);
  if (put.status !== 204) throw new Error(put.text);
};

const restricted = async (restrictions: JsonObject): Promise<Hub> => {
  const all = await hub();
  await restrict(all, restrictions);
  return all;
};

const attached = (...attachment: JsonObject[]) => firstMessage({ attachments: { attachment } });

const file = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  size: 1,
  url: `https://files.example.com/${name}`,
  ...more,
});

type Case = [
  what: string,
  restrictions: JsonObject,
  good: JsonObject,
  bad: JsonObject,
  path: string,
];

const policy = (attachmentPolicy: JsonObject) => ({ attachmentPolicy });

/** What a customer may send and may not, by the restrictions of the inbound direction. */
const cases: Case[] = [
  [
    "a text longer than the longest",
    { maxTextLength: 5 },
    firstMessage({ content: { text: "👍👍👍👍👍" } }),
    firstMessage({ content: { text: "👍👍👍👍👍👍" } }),
    "content.text",
  ],
  [
    "typing where the features do not name it",
    { features: ["attachments"] },
    firstMessage(),
    firstMessage({ type: { value: "typing.start" } }),
    "type.value",
  ],
  [
    "an attachment where they are not enabled",
    policy({ enabled: false }),
    firstMessage(),
    attached(file("a.png")),
    "attachments.attachment[0]",
  ],
  [
    "a blocked extension, however it is written",
    policy({ enabled: true, type: "block", extensions: ["Exe", "bat"] }),
    attached(file("a.png"), file("exe")),
    attached(file("a.png"), file("setup.EXE")),
    "attachments.attachment[1]",
  ],
  [
    "an attachment larger than the largest",
    policy({ enabled: true, maxSize: 100 }),
    attached(file("a.png", { size: 100 }), file("c.png")),
    attached(file("a.png", { size: 101 })),
    "attachments.attachment[0].size",
  ],
];

test.each(cases)(
  "%s is refused, and what the channel can carry is not",
  async (_, inbound, good, bad, path) => {
    const { send, bot, logged } = await restricted({ inbound });
    expect((await send(good)).status).toBe(202);
    const reply = await send(firstMessage({ content: { text: "1" } }), bad);
    expect([reply.status, reply.json.code]).toEqual([400, "400-196"]);
    expect(reply.json.developerMessage).toContain(`messages.message[1].${path}: `);
    await logged(1);
    expect(bot.received.length).toBe(1);
  },
);

test("the other direction has its own restrictions", async () => {
  const all = await hub();
  for (const [what, outbound, , bad] of cases) {
    await restrict(all, { outbound });
    expect([what, (await all.send(bad)).status]).toEqual([what, 202]);
    const { conversation: _first, ...rest } = bad;
    const sender = { type: "custom_bot" };
    const fromBot = { ...rest, conversation: { id: await all.begin() }, sender };
    expect([what, (await all.send(fromBot)).status]).toEqual([what, 400]);
  }
});

test("a rich message goes to the customer where the channel lists it", async () => {
  const listed = await restricted({ outbound: { richMessageTypes: ["listpicker"] } });
  const rich = (conversation: string, type: string) =>
    listed.send(message(conversation, "custom_bot", `richMessage.${type}`));
  const conversation = await listed.begin();
  expect((await rich(conversation, "listpicker")).status).toBe(202);
  const refused = await rich(conversation, "form");
  expect(refused.status).toBe(400);
  expect(refused.json.developerMessage).toContain("the channel does not support richMessage.form");
});

test("what the restrictions leave out, a customer may send and nobody else", async () => {
  const { begin, send } = await restricted({ inbound: {}, outbound: {} });
  const conversation = await begin();
  const attachments = { attachment: [file("a.png")] };
  for (const [sender, status] of [
    ["customer", 202],
    ["custom_bot", 400],
  ] as const)
    for (const [type, more] of [
      ["typing.start", {}],
      ["text", { content: { text: "Hello" }, attachments }],
    ] as const)
      expect((await send(message(conversation, sender, type, more))).status).toBe(status);
  expect((await send(message(conversation, "custom_bot", "richMessage.form"))).status).toBe(400);
});

test("a customer is asked to sign in only where the channel lets them", async () => {
  for (const [midChatAuth, status] of [
    [false, 400],
    [true, 202],
  ] as const) {
    const richMessageTypes = ["authentication"];
    const { begin, send } = await restricted({ outbound: { midChatAuth, richMessageTypes } });
    const asking = message(await begin(), "custom_bot", "richMessage.authentication");
    expect((await send(asking)).status).toBe(status);
  }
});
