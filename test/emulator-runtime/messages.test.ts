import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { messageSenders, scopes, senders } from "../support/specification.js";
import { address, firstMessage, hub, message, messagesIn, refusal } from "./hub.js";

const { account, customer } = { account: address, customer: { name: "Ada" } };

/** The first message with another conversation. */
const about = (conversation: JsonObject | undefined) => firstMessage({ conversation });

const wrongMessages: readonly [string, JsonObject, code: string, path: string][] = [
  ["no type", firstMessage({ type: undefined }), "400-143", "type.value"],
  ["an empty type", firstMessage({ type: { value: "" } }), "400-196", "type.value"],
  ["no sender", firstMessage({ sender: undefined }), "400-143", "sender.type"],
  ["a sender as text", firstMessage({ sender: "customer" }), "400-143", "sender.type"],
  ["no conversation", about(undefined), "400-143", "conversation"],
  ["no account", about({ customer }), "400-143", "conversation.account.channel.type"],
  [
    "no address",
    about({ customer, account: { channel: account.channel } }),
    "400-143",
    "conversation.account.address",
  ],
  ["no customer", about({ account }), "400-143", "conversation.customer"],
  ["a customer as text", about({ account, customer: "Ada" }), "400-196", "conversation.customer"],
  [
    "another address",
    about({ customer, account: { ...account, address: "x" } }),
    "400-196",
    "conversation.account",
  ],
  [
    "another channel",
    about({ customer, account: { ...account, channel: { type: "x" } } }),
    "400-196",
    "conversation.account",
  ],
  ["a number as id", about({ id: 5 }), "400-196", "conversation.id"],
  ["content as a list", firstMessage({ content: [] }), "400-196", "content"],
  ["a number as text", firstMessage({ content: { text: 5 } }), "400-196", "content.text"],
  ["a number as own id", firstMessage({ messageId: 5 }), "400-196", "messageId"],
  ["a long own id", firstMessage({ messageId: "x".repeat(256) }), "400-196", "messageId"],
  ["attachments without a box", firstMessage({ attachments: [] }), "400-196", "attachments"],
  [
    "an attachment without address",
    firstMessage({ attachments: { attachment: [{ name: "a.png" }] } }),
    "400-143",
    "attachments.attachment[0].url",
  ],
];

test("a wrong message is refused, and its wrong member named", async () => {
  const { send } = await hub();
  for (const [what, sent, code, path] of wrongMessages) {
    const { status, json } = await send(sent);
    expect([what, status, json.code]).toEqual([what, 400, code]);
    expect(String(json.developerMessage)).toMatch(`messages.message[0].${path}:`);
  }
});

const wrongRequests: readonly [string, JsonObject, code: string][] = [
  ["nothing", {}, "400-143"],
  ["no list", { messages: {} }, "400-143"],
  ["an empty list", { messages: { message: [] } }, "400-196"],
  ["an object for a list", { messages: { message: {} } }, "400-196"],
  ["text in the list", { messages: { message: ["hello"] } }, "400-196"],
  ["too many", { messages: { message: new Array(1001).fill(firstMessage()) } }, "400-196"],
];

test("a request without a list of messages is refused", async () => {
  const { service } = await hub();
  for (const [what, body, code] of wrongRequests) {
    const { status, json } = await service.call("POST", "/conversations/messages", body);
    expect([what, status, json.code]).toEqual([what, 400, code]);
  }
});

test("of several messages in a request all are taken, or none", async () => {
  const { service, begin, send, bot, logged } = await hub();
  const conversation = await begin();
  await logged(1);
  const good = message(conversation, "customer", "text", { messageId: "m-2" });
  const bad = message("00000000-0000-4000-8000-000000000000", "customer", "text");
  expect(await refusal(send(good, bad))).toEqual([400, "400-630"]);
  expect((await send(good, { ...good, messageId: "m-3" })).status).toBe(202);
  await logged(3);
  expect(bot.messageIds).toEqual(["m-0001", "m-2", "m-3"]);
  expect((await service.control("GET", "/snapshot")).json.conversations).toMatchObject([
    { messages: [{ messageId: "m-0001" }, { messageId: "m-2" }, { messageId: "m-3" }] },
  ]);
});

test("nothing follows the end of a conversation within one request", async () => {
  const { begin, send } = await hub();
  const conversation = await begin();
  const both = send(
    message(conversation, "customer", "conversation.end"),
    message(conversation, "customer", "text"),
  );
  expect(await refusal(both)).toEqual([400, "400-630"]);
  expect((await send(message(conversation, "customer", "text"))).status).toBe(202);
});

test("a soft deletion names an earlier message of the conversation by either id", async () => {
  const { begin, send } = await hub();
  const conversation = await begin();
  const [sent] = messagesIn(await send(message(conversation, "customer", "text")));
  const deletion = (parent?: unknown) =>
    send(message(conversation, "customer", "delete.soft", parent ? { parent } : {}));
  expect((await deletion({ messageId: "m-0001" })).status).toBe(202);
  expect((await deletion({ messageId: sent?.id })).status).toBe(202);
  expect(await refusal(deletion({ messageId: "m-9999" }))).toEqual([400, "400-196"]);
  expect(await refusal(deletion())).toEqual([400, "400-143"]);
});

test("a soft deletion cannot name a message of another conversation in the same request", async () => {
  const { begin, send } = await hub();
  const [one, other] = [await begin({ messageId: "m-1" }), await begin({ messageId: "m-2" })];
  const both = send(
    message(other, "customer", "text", { messageId: "m-3" }),
    message(one, "customer", "delete.soft", { parent: { messageId: "m-3" } }),
  );
  expect(await refusal(both)).toEqual([400, "400-196"]);
});

test("what stands beside the messages is kept and delivered", async () => {
  const { service, bot, logged } = await hub();
  const metadata = { attributes: [{ name: "source", value: "kiosk" }] };
  const body = { metadata, messages: { message: [firstMessage()] } };
  await service.call("POST", "/conversations/messages", body);
  await logged(1);
  expect(bot.received[0]?.json.metadata).toEqual(metadata);
});

test("each type may be sent by the senders of the specification, and by nobody else", async () => {
  const { begin, send } = await hub({ switches: { channelRestrictions: "ignore" } });
  const parent = { messageId: "m-0001" };
  for (const [type, allowed] of messageSenders)
    for (const sender of senders) {
      const reply = await send(message(await begin(), sender, type, { parent }));
      const isAllowed = allowed.includes(sender);
      const expected = isAllowed ? [202, undefined] : [400, "400-196"];
      expect([sender, type, reply.status, reply.json.code]).toEqual([sender, type, ...expected]);
      if (isAllowed) expect(messagesIn(reply)[0]?.type).toEqual({ value: type });
    }
});

test("a type that nobody knows is refused, with those that the sender may send", async () => {
  const { begin, send } = await hub();
  const reply = await send(message(await begin(), "customer", "agent.dance"));
  expect([reply.status, reply.json.code]).toEqual([400, "400-196"]);
  expect(reply.json.developerMessage).toContain("text, typing.start");
});

test("a sender that is none of the five kinds is refused", async () => {
  const { begin, send } = await hub();
  const reply = await send(message(await begin(), "business_notification", "text"));
  expect([reply.status, reply.json.code]).toEqual([400, "400-196"]);
  expect(reply.json.developerMessage).toContain("messages.message[0].sender.type");
});

test("the vendor's own word takes the place of the neutral one", async () => {
  const { service, begin, send } = await hub();
  await service.control("PUT", "/switches", { platformName: "acme" });
  const conversation = await begin();
  expect((await send(message(conversation, "acme_agent", "agent.join"))).status).toBe(202);
  const neutral = await send(message(conversation, "platform_agent", "agent.join"));
  expect([neutral.status, neutral.json.code]).toEqual([400, "400-196"]);
});

test("what is refused is neither kept nor delivered", async () => {
  const { service, begin, send, logged, bot } = await hub();
  const conversation = await begin();
  await logged(1);
  await send(message(conversation, "customer", "agent.join"));
  await send(message(conversation, "customer", "text", { messageId: "m-2" }));
  await logged(2);
  expect(bot.messageIds).toEqual(["m-0001", "m-2"]);
  const { conversations } = (await service.control("GET", "/snapshot")).json;
  expect(conversations).toMatchObject([
    { messages: [{ messageId: "m-0001" }, { messageId: "m-2" }] },
  ]);
});

test("token, rate, scope, body: each is looked at only when the one before is right", async () => {
  const { service, bot } = await hub({ plan: "enterprise", burst: 7 });
  const call = async (body: unknown, token?: string | null) => {
    const options = token === undefined ? {} : { token };
    return (await service.call("POST", "/conversations/messages", body, options)).json.code;
  };
  const reader = await service.tokenFor(scopes.IR);
  expect(await call({}, null)).toBe("401-104");
  expect(await call({}, reader)).toBe("403-197");
  expect(await call({})).toBe("400-143");
  for (let used = 2; used < 7; used += 1) await call({});
  expect(await call({}, reader)).toBe("429-001");
  expect(bot.received.length).toBe(0);
});

test("a fault that comes after the work leaves the message sent", async () => {
  const { service, send, bot, logged } = await hub();
  const on = "POST /conversations/messages";
  await service.control("POST", "/faults", { on, kind: "status-after-commit", status: 500 });
  await service.control("POST", "/faults", { on, kind: "status", status: 503 });
  expect((await send(firstMessage())).status).toBe(500);
  expect((await send(firstMessage({ messageId: "m-2" }))).status).toBe(503);
  await send(firstMessage({ messageId: "m-3" }));
  await logged(2);
  expect(bot.messageIds.sort()).toEqual(["m-0001", "m-3"]);
});
