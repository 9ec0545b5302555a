import { expect, test } from "vitest";
import { isConversationOver } from "../../sdk/runtime/index.js";
import { failureOf } from "../service/support/connected.js";
import { inTurn, json } from "../service/support/fake-hub.js";
import { connectedClient } from "./support/connected-client.js";
import { answer, conversation, first } from "./support/first-message.js";

test("the answer tells conversation and ids, in the order sent", async () => {
  await using live = await connectedClient(answer("x", "y"));
  const typing = { type: "typing.start", sender: "customer", conversation } as const;
  expect(await live.client.messages.send([first, typing])).toEqual({
    conversationId: conversation,
    messages: [
      { id: "x", messageId: "own-x", conversationId: conversation },
      { id: "y", messageId: "own-y", conversationId: conversation },
    ],
  });
});

test("a message that goes on needs nothing from the answer", async () => {
  await using live = await connectedClient(json(202, {}));
  const sent = await live.client.messages.reply("c-9", {
    type: "text",
    text: "Hi",
    sender: "customer",
  });
  expect(sent).toEqual({ conversationId: "c-9", messages: [{ conversationId: "c-9" }] });
});

test("a start whose answer names no conversation says that the message was sent", async () => {
  await using live = await connectedClient(json(202, { messages: { message: [] } }));
  await expect(live.client.messages.send(first)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    effect: "done",
    message: expect.stringContaining("do not send it again"),
  });
});

test("reply, escalate and end take what was received from the conversation", async () => {
  await using live = await connectedClient(answer("x"));
  const { messages } = live.client;
  const received = { conversationId: "c-1", id: "m" };
  const bot = { kind: "custom_bot", name: "orders" } as const;
  await messages.reply(received, { type: "text", text: "One moment", sender: bot });
  await messages.escalate(received, bot, { content: { reason: "refund" } });
  await messages.end("c-1", "custom_agent");
  const sent = live.hub.calls.map(({ body }) => JSON.parse(body).messages.message[0]);
  const sender = { type: "custom_bot", participant: { name: "orders" } };
  expect(sent).toEqual([
    {
      type: { value: "text" },
      content: { text: "One moment" },
      conversation: { id: "c-1" },
      sender,
    },
    {
      type: { value: "escalation.transfer" },
      content: { reason: "refund" },
      conversation: { id: "c-1" },
      sender,
    },
    {
      type: { value: "conversation.end" },
      conversation: { id: "c-1" },
      sender: { type: "custom_agent" },
    },
  ]);
});

test("a message that may have been sent is not sent again", async () => {
  await using live = await connectedClient(json(500, { code: "500-100" }));
  await expect(live.client.messages.send(first)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    effect: "unknown",
  });
  expect(live.hub.calls).toHaveLength(1);
});

test("a conversation that is over is told from other refusals", async () => {
  await using live = await connectedClient(
    inTurn(json(400, { code: "400-630" }), json(400, { code: "400-143" })),
  );
  const send = () => failureOf(live.client.messages.end("c-1", "customer"));
  expect(isConversationOver(await send())).toBe(true);
  expect(isConversationOver(await send())).toBe(false);
});

const text = { type: "text", text: "Hi", sender: "customer", conversation: "c-1" };

test.each<[string, unknown, string]>([
  ["an unknown type", { ...text, type: "text.loud" }, "has no known type"],
  ["an unknown sender", { ...text, sender: "robot" }, "needs a sender"],
  ["a sender with more", { ...text, sender: { kind: "customer", id: 1 } }, "needs a sender"],
  ["a text without text", { ...text, text: undefined }, "needs text, attachments or both"],
  ["a text that is none", { ...text, text: 5 }, "text:"],
  ["a member that is not known", { ...text, txet: "Hi" }, '"txet"'],
  ["no conversation", { ...text, conversation: undefined }, "conversation:"],
  [
    "a start without an account",
    { ...text, conversation: { customer: {} } },
    "conversation.account",
  ],
  ["a typing that holds something", { ...text, type: "typing.start" }, '"text"'],
  [
    "an attachment without a place",
    { ...text, attachments: [{ name: "a.png", contentType: "image/png", size: 1 }] },
    "attachments[0]: needs url or id",
  ],
  [
    "content that is no JSON",
    {
      type: "customer.info",
      sender: "customer",
      conversation: "c-1",
      content: { at: new Date(0) },
    },
    "content: must be a JSON object",
  ],
  ["no message at all", null, "is not an object"],
  ["an empty list", [], "is empty"],
  ["the second of two", [text, { ...text, type: "agent.join" }], "message 2"],
])("%s is refused before anything is sent", async (_, message, rule) => {
  await using live = await connectedClient(answer("x"));
  // @ts-expect-error as a program without type checks would call it
  const sending = live.client.messages.send(message);
  await expect(sending).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(rule),
  });
  expect([live.hub.calls, live.hub.tokenCalls]).toEqual([[], []]);
});
