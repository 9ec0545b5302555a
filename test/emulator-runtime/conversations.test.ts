import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../provider/definition/json.js";
import { kindOf, scopes } from "../emulator/running.js";
import {
  address,
  conversationIn,
  firstMessage,
  type Hub,
  hub,
  message,
  messagesIn,
} from "./hub.js";

const refusal = async (call: ReturnType<Hub["send"]>): Promise<unknown[]> => {
  const { status, json } = await call;
  return [status, json.code];
};

/** The first message with another conversation. */
const about = (conversation: JsonObject | undefined) => firstMessage({ conversation });

test("starting answers 202 with the ids of message and conversation", async () => {
  const { service, send } = await hub();
  const reply = await send(firstMessage());
  expect(reply.status).toBe(202);
  const now = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(messagesIn(reply)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      messageId: "m-0001",
      type: { value: "text" },
      content: { text: "Where is my order?" },
      conversation: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      sender: { type: "customer", participant: { name: "Ada Example" } },
      recipients: { recipient: [{ type: "custom_bot", participant: { name: "orders-bot" } }] },
      status: "sent",
      created: now,
      sent: now,
    },
  ]);
  expect((await service.control("GET", "/stats")).json.calls).toMatchObject({
    "POST /conversations/messages": { accepted: 1 },
  });
});

test("a conversation goes on under its id", async () => {
  const { begin, send } = await hub();
  const conversation = await begin();
  const reply = await send(message(conversation, "custom_bot", "text"));
  expect(conversationIn(reply)).toBe(conversation);
});

test("an ended conversation takes no more messages (400-630), whoever ended it", async () => {
  const { begin, send } = await hub();
  for (const sender of ["customer", "custom_bot", "platform_agent"]) {
    const conversation = await begin();
    expect((await send(message(conversation, sender, "conversation.end"))).status).toBe(202);
    const further = send(message(conversation, "customer", "text"));
    expect(await refusal(further)).toEqual([400, "400-630"]);
  }
});

test("a conversation that never was takes no messages (400-630)", async () => {
  const { send } = await hub();
  const further = send(message("21822806-0000-4000-8000-097b4f0d68a7", "customer", "text"));
  expect(await refusal(further)).toEqual([400, "400-630"]);
});

test("a conversation is over once it was idle for longer than its account allows", async () => {
  const { service, begin, send } = await hub();
  const conversation = await begin();
  service.emulator.advance(30 * 60_000);
  expect((await send(message(conversation, "customer", "text"))).status).toBe(202);
  service.emulator.advance(30 * 60_000 + 1);
  service.forgetToken();
  const further = send(message(conversation, "customer", "text"));
  expect(await refusal(further)).toEqual([400, "400-630"]);
  expect((await service.call("GET", `/conversations/${conversation}`)).status).toBe(200);
});

test("by a switch idle conversations go on", async () => {
  const { service, begin, send } = await hub({ switches: { idleTimeout: "ignore" } });
  const conversation = await begin();
  service.emulator.advance(86_400_000);
  service.forgetToken();
  expect((await send(message(conversation, "customer", "text"))).status).toBe(202);
});

const { account, customer } = { account: address, customer: { name: "Ada" } };

test.each<[string, JsonObject, string, string]>([
  ["no type", firstMessage({ type: undefined }), "400-143", "type.value"],
  ["an empty type", firstMessage({ type: { value: "" } }), "400-152", "type.value"],
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
  ["a customer as text", about({ account, customer: "Ada" }), "400-152", "conversation.customer"],
  [
    "another address",
    about({ customer, account: { ...account, address: "x" } }),
    "400-152",
    "conversation.account",
  ],
  [
    "another channel",
    about({ customer, account: { ...account, channel: { type: "x" } } }),
    "400-152",
    "conversation.account",
  ],
  ["a number as id", about({ id: 5 }), "400-152", "conversation.id"],
  ["content as a list", firstMessage({ content: [] }), "400-152", "content"],
  ["a number as text", firstMessage({ content: { text: 5 } }), "400-152", "content.text"],
  ["a number as own id", firstMessage({ messageId: 5 }), "400-152", "messageId"],
  ["a long own id", firstMessage({ messageId: "x".repeat(256) }), "400-152", "messageId"],
  ["attachments without a box", firstMessage({ attachments: [] }), "400-152", "attachments"],
  [
    "an attachment without address",
    firstMessage({ attachments: { attachment: [{ name: "a.png" }] } }),
    "400-143",
    "attachments.attachment[0].url",
  ],
])("a message with %s is refused", async (_what, sent, code, path) => {
  const { send } = await hub();
  const { status, json } = await send(sent);
  expect([status, json.code]).toEqual([400, code]);
  expect(String(json.developerMessage)).toMatch(`messages.message[0].${path}:`);
});

test.each([
  ["nothing", {}, "400-143"],
  ["no list", { messages: {} }, "400-143"],
  ["an empty list", { messages: { message: [] } }, "400-152"],
  ["an object for a list", { messages: { message: {} } }, "400-152"],
  ["text in the list", { messages: { message: ["hello"] } }, "400-152"],
  ["too many", { messages: { message: new Array(1001).fill(firstMessage()) } }, "400-152"],
])("a request with %s is refused", async (_what, body, code) => {
  const { service } = await hub();
  const { status, json } = await service.call("POST", "/conversations/messages", body);
  expect([status, json.code]).toEqual([400, code]);
});

test("an account that is not in use takes no conversation", async () => {
  const { service, ids, send } = await hub();
  const before = (await service.call("GET", `/accounts/${ids.account}`)).json;
  const { attributes: _secret, ...rest } = before;
  await service.call("PUT", `/accounts/${ids.account}`, { ...rest, active: false });
  expect(await refusal(send(firstMessage()))).toEqual([400, "400-152"]);
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
  expect(await refusal(deletion({ messageId: "m-9999" }))).toEqual([400, "400-152"]);
  expect(await refusal(deletion())).toEqual([400, "400-143"]);
});

test("a soft deletion cannot name a message of another conversation in the same request", async () => {
  const { begin, send } = await hub();
  const [one, other] = [await begin({ messageId: "m-1" }), await begin({ messageId: "m-2" })];
  const both = send(
    message(other, "customer", "text", { messageId: "m-3" }),
    message(one, "customer", "delete.soft", { parent: { messageId: "m-3" } }),
  );
  expect(await refusal(both)).toEqual([400, "400-152"]);
});

test("what stands beside the messages is kept and delivered", async () => {
  const { service, bot, logged } = await hub();
  const metadata = { attributes: [{ name: "source", value: "kiosk" }] };
  const body = { metadata, messages: { message: [firstMessage()] } };
  await service.call("POST", "/conversations/messages", body);
  await logged(1);
  expect(bot.received[0]?.json.metadata).toEqual(metadata);
});

test("a completed conversation is given with its messages in order", async () => {
  const { service, begin, send } = await hub();
  const conversation = await begin({
    conversation: {
      account,
      customer,
      entryPoint: { id: "1007" },
      conversationContact: "email",
      messages: "mine",
    },
  });
  await send(
    message(conversation, "custom_bot", "text", { messageId: "m-2", content: { text: "Hi" } }),
  );
  await send(message(conversation, "customer", "conversation.end", { messageId: "m-3" }));
  const { status, json } = await service.call("GET", `/conversations/${conversation}`);
  expect(status).toBe(200);
  const { messages, ...head } = json;
  expect(head).toEqual({
    id: conversation,
    account,
    customer,
    entryPoint: { id: "1007" },
    conversationContact: "email",
  });
  const list = isObject(messages) ? messages.message : [];
  expect(list).toMatchObject([
    { messageId: "m-0001", type: { value: "text" }, sender: { type: "customer" }, status: "sent" },
    {
      messageId: "m-2",
      content: { text: "Hi" },
      recipients: { recipient: [{ type: "customer" }] },
    },
    { messageId: "m-3", type: { value: "conversation.end" } },
  ]);
});

test.each([404, 400] as const)(
  "a running conversation is not given (%d by a switch)",
  async (status) => {
    const { service, begin } = await hub({ switches: { runningConversationStatus: status } });
    const reply = await service.call("GET", `/conversations/${await begin()}`);
    expect([reply.status, reply.json.code]).toEqual([status, `${status}-101`]);
  },
);

test("a conversation that never was is not found", async () => {
  const { service } = await hub({ switches: { runningConversationStatus: 400 } });
  const reply = await service.call("GET", "/conversations/21822806-0000-4000-8000-097b4f0d68a7");
  expect([reply.status, reply.json.code]).toEqual([404, "404-101"]);
});

/** Which of the four scopes open which operation: specification §4.2. */
test.each([
  ["POST", "/conversations/messages", ["IM"]],
  ["GET", "/conversations/x", ["IM", "IR"]],
  ["POST", "/assets", ["IM"]],
  ["GET", "/assets/x", ["IM", "IR"]],
  ["DELETE", "/assets/x", ["IM"]],
] as const)("%s %s needs %j", async (method, path, allowed: readonly string[]) => {
  const { service } = await hub();
  for (const [label, scope] of Object.entries(scopes)) {
    const token = await service.tokenFor(scope);
    const reply = await service.call(method, path, method === "POST" ? {} : undefined, { token });
    const isRefused = reply.json.code === "403-197";
    expect([label, isRefused]).toEqual([label, !allowed.includes(label)]);
  }
});

test("deleting the account leaves its conversations without a recipient", async () => {
  const { service, ids, begin, send, logged } = await hub();
  const conversation = await begin();
  await service.call("DELETE", `/${kindOf("Account").collection}/${ids.account}`);
  expect((await send(message(conversation, "customer", "text"))).status).toBe(202);
  expect((await logged(2)).some(({ attempt }) => attempt === 0)).toBe(true);
});
