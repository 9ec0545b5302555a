import { expect, test } from "vitest";
import { isObject, type JsonObject as Json } from "../../provider/kernel/json.js";
import { messageSenders, scopes, senders } from "../support/specification.js";
import { address, firstMessage, hub, message, messagesIn, refusal } from "./hub.js";

const { account, customer } = { account: address, customer: { name: "Ada" } };

const about = (conversation: Json | undefined) => firstMessage({ conversation });

const id = "21822806-0000-4000-8000-097b4f0d68a7";
const long = (characters: number) => "x".repeat(characters);

const attached = (...attachment: Json[]) => firstMessage({ attachments: { attachment } });
const file = { name: "a.png", size: 3, url: "https://files.example.com/a.png" };

/** The first message with so many attributes like this one. */
const described = (count: number, changes: Json = {}) => {
  const attribute = { external: true, object: "activity", name: "k", value: "v", ...changes };
  return firstMessage({ attributes: { attribute: Array(count).fill(attribute) } });
};

const typed = (value?: string) => firstMessage({ type: value === undefined ? value : { value } });
const says = (content: unknown) => firstMessage({ content });
const from = (more: Json) => about({ account, customer, ...more });
const at = (changes: Json) => about({ account: { ...account, ...changes } });
const contact = (changes: Json) =>
  from({ customer: { contacts: { contact: [{ type: "phone", address: "1", ...changes }] } } });

/** The first message with one that was sent elsewhere before. */
const party = (type: string) => ({ type, participant: { name: "Ada" } });
const earlier = {
  messageId: "m-0000",
  type: { value: "text" },
  content: { text: "Hello" },
  sender: party("customer"),
  recipients: { recipient: [party("custom_bot")] },
  sent: "2026-01-02T03:04:05.006Z",
};
const after = (changes: Json) => from({ messages: { message: [{ ...earlier, ...changes }] } });
const inEarlier = (path: string) => `conversation.messages.message[0].${path}`;

const wrongMessages: readonly [Json, code: string, path: string][] = [
  [typed(), "400-143", "type"],
  [typed("custom."), "400-196", "type.value"],
  [firstMessage({ sender: undefined }), "400-143", "sender"],
  [about(undefined), "400-143", "conversation"],
  [about({ customer }), "400-143", "conversation.account"],
  [at({ address: "another" }), "400-196", "conversation.account"],
  [at({ channel: { type: "another" } }), "400-196", "conversation.account"],
  [from({ customer: { type: "x" } }), "400-196", "conversation.customer.type"],
  [contact({ type: "fax" }), "400-196", "conversation.customer.contacts.contact[0].type"],
  [from({ lookupContact: "phone" }), "400-196", "conversation.lookupContact"],
  [from({ clientInfo: { timeOffset: 721 } }), "400-196", "conversation.clientInfo.timeOffset"],
  [from({ preferredAgent: {} }), "400-143", "conversation.preferredAgent.id or userName"],
  [about({ type: "survey.form" }), "400-143", "conversation.parent"],
  [about({ type: "survey.form", parent: { id } }), "400-196", "conversation.parent.id"],
  [says("Hi"), "400-196", "content"],
  [says({ redact: true }), "400-143", "content.text or html or json or xml"],
  [says({ text: "a", html: "b" }), "400-420", "content.html"],
  [says({ json: { a: 1 } }), "400-196", "content.json"],
  [says({ xml: "<a/>" }), "400-196", "content.xml"],
  [says({ text: long(10_001) }), "400-358", "content.text"],
  [firstMessage({ messageId: long(256) }), "400-358", "messageId"],
  [firstMessage({ status: "sent" }), "400-420", "status"],
  [firstMessage({ parent: { messageId: "m" } }), "400-143", "parent.id"],
  [described(1, { object: "case" }), "400-196", "attributes.attribute[0].object"],
  [described(76), "400-358", "attributes.attribute"],
  [firstMessage({ attachments: [] }), "400-196", "attachments"],
  [attached(...Array(6).fill(file)), "400-358", "attachments.attachment"],
  [attached({ ...file, size: undefined }), "400-143", "attachments.attachment[0].size"],
  [attached({ ...file, size: 10_485_761 }), "400-196", "attachments.attachment[0].size"],
  [attached({ id: "1001", name: "a" }), "400-420", "attachments.attachment[0].name"],
  [firstMessage({ parent: { id: "m-0001" } }), "400-196", "parent.id"],
  [about({ type: "survey.form", parent: { id: "c" } }), "400-196", "conversation.parent.id"],
  [at({ id: "1001" }), "400-196", "conversation.account.id"],
  [at({ modified: "yesterday" }), "400-196", "conversation.account.modified"],
  [after({ sent: undefined }), "400-143", inEarlier("sent")],
  [after({ sent: "2026-01-02 03:04" }), "400-196", inEarlier("sent")],
  [after({ recipients: undefined }), "400-143", inEarlier("recipients")],
  [after({ sender: { type: "customer" } }), "400-143", inEarlier("sender.participant")],
  [after({ sender: party("custom_agent") }), "400-196", inEarlier("sender.type")],
  [after({ type: { value: "typing.start" } }), "400-196", inEarlier("type.value")],
  [after({ content: { text: "a", json: "{}" } }), "400-420", inEarlier("content.json")],
  [after({ attachments: {} }), "400-420", inEarlier("attachments")],
];

test("messages that were sent elsewhere before come along with a new conversation", async () => {
  const { send, bot } = await hub();
  const xml = { ...earlier, content: { xml: "<a/>" } };
  const conversation = { account, customer, messages: { message: [earlier, xml] } };
  expect((await send(firstMessage({ conversation }))).status).toBe(202);
  await bot.count(1);
  expect(bot.received[0]?.message.conversation).toMatchObject(conversation);
});

test("an emoji is one character", async () => {
  const { send } = await hub();
  const attribute = { name: "🙂".repeat(255), value: "🙂".repeat(2_048) };
  const emojis = { content: { text: "🙂".repeat(500) }, attributes: { attribute: [attribute] } };
  expect((await send(firstMessage(emojis))).status).toBe(202);
});

test("an object around a list may be empty", async () => {
  const { send } = await hub();
  const empty = { recipients: {}, attachments: {}, attributes: {} };
  const conversation = {
    ...{ account, customer },
    messages: { message: [{ ...earlier, recipients: {}, attributes: {} }] },
  };
  expect((await send(firstMessage({ ...empty, conversation }))).status).toBe(202);
});

test("a wrong message is refused, and its wrong member named", async () => {
  const { send } = await hub();
  for (const [sent, code, path] of wrongMessages) {
    const { status, json } = await send(sent);
    expect([path, status, json.code]).toEqual([path, 400, code]);
    expect(String(json.developerMessage)).toMatch(`messages.message[0].${path}:`);
  }
});

const metadata = (value: string) => ({
  metadata: { attributes: [{ name: "k", value }] },
  messages: { message: [firstMessage()] },
});

const wrongRequests: readonly [string, Json, code: string][] = [
  ["nothing", {}, "400-143"],
  ["an empty list", { messages: { message: [] } }, "400-196"],
  ["eleven", { messages: { message: Array(11).fill(firstMessage()) } }, "400-358"],
  ["an unknown member", { messages: { message: [firstMessage()] }, more: 1 }, "400-420"],
  ["long metadata", metadata(long(1024)), "400-358"],
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

test("a deletion names an earlier message of the conversation by the service's id", async () => {
  const { begin, send } = await hub();
  const [conversation, other] = [await begin(), await begin()];
  const [sent] = messagesIn(await send(message(conversation, "customer", "text")));
  const deletion = (parent?: Json, where = conversation) =>
    send(message(where, "customer", "delete.soft", parent ? { parent } : {}));
  expect((await deletion({ id: sent?.id, messageId: "m-0001" })).status).toBe(202);
  expect(await refusal(deletion({ id: sent?.id }, other))).toEqual([400, "400-196"]);
  expect(await refusal(deletion({ id }))).toEqual([400, "400-196"]);
  expect(await refusal(deletion())).toEqual([400, "400-143"]);
});

test("a message of a completed conversation is deleted by naming the account", async () => {
  const { service, send } = await hub();
  const [first] = messagesIn(await send(firstMessage()));
  const conversation = String(isObject(first?.conversation) && first.conversation.id);
  const deletion = (type: string) =>
    send({
      ...message("", "customer", type, { parent: { id: first?.id } }),
      conversation: { account },
    });
  expect(await refusal(deletion("undo"))).toEqual([400, "400-196"]);
  await send(message(conversation, "customer", "conversation.end"));
  for (const type of ["delete.soft", "delete.permanent", "undo"])
    expect(messagesIn(await deletion(type))).toMatchObject([
      { conversation: { id: conversation } },
    ]);
  const { messages } = (await service.call("GET", `/conversations/${conversation}`)).json;
  expect(messages).toMatchObject({ message: { length: 5 } });
});

test("a deletion does not bring back a conversation that was idle for too long", async () => {
  const { service, send } = await hub();
  const [first] = messagesIn(await send(firstMessage()));
  service.emulator.advance(30 * 60_000 + 1);
  const deletion = message("", "customer", "undo", { parent: { id: first?.id } });
  expect((await send({ ...deletion, conversation: { account } })).status).toBe(202);
  const { conversation } = first ?? {};
  const further = send({ ...message("", "customer", "text"), conversation });
  expect(await refusal(further)).toEqual([400, "400-630"]);
});

test("an agent becomes available at an entry point, without a conversation", async () => {
  const { service, send } = await hub();
  for (const type of ["agent.available", "agent.unavailable"]) {
    const there = (conversation: Json) =>
      send({ ...message("", "platform_agent", type), conversation });
    expect(messagesIn(await there({ entryPoint: { id: "1007" } }))).toEqual([
      { id: expect.any(String), messageId: expect.any(String) },
    ]);
    expect(await refusal(there({}))).toEqual([400, "400-143"]);
  }
  expect((await service.control("GET", "/snapshot")).json.conversations).toEqual([]);
});

test("a survey begins on the account of the conversation that it is about", async () => {
  const { service, begin, send, customer: screen } = await hub({ restrictions: undefined });
  const parent = { id: await begin() };
  const survey = { json: '{"questions":[]}' };
  const more = { content: survey, conversation: { type: "survey.form", parent } };
  const [sent] = messagesIn(
    await send({ ...message("", "custom_bot", "richMessage.form"), ...more }),
  );
  expect(sent?.conversation).not.toEqual({ id: parent.id });
  await screen.count(1);
  expect(screen.received[0]?.message).toMatchObject({
    content: survey,
    conversation: { account, type: "survey.form", parent },
  });
  expect((await service.control("GET", "/snapshot")).json.conversations).toMatchObject([{}, {}]);
});

test("what a message says about its conversation is handed on, as sent", async () => {
  const { begin, send, agent } = await hub({ bots: false });
  const conversation = { id: await begin(), customer: { name: "Eve" }, lookupContact: "email" };
  await send({ ...message("", "customer", "customer.info"), conversation });
  await agent.count(2);
  expect(agent.received[1]?.message.conversation).toMatchObject(conversation);
});

test("a sender that the orchestration does not name takes no part, and starts nothing", async () => {
  const { begin, send } = await hub({ bots: false });
  const fromBot = message(await begin(), "custom_bot", "text");
  expect(await refusal(send(fromBot))).toEqual([400, "400-240"]);
  expect(await refusal(send({ ...fromBot, conversation: { account } }))).toEqual([403, "403-103"]);
  expect((await send(about({ account }))).status).toBe(202);
});

test("types that only the vendor lists are taken from anybody, and receipts go nowhere", async () => {
  const { service, begin, send, customer } = await hub();
  const conversation = await begin();
  const xml = { content: { xml: "<order/>" } };
  expect((await send(message(conversation, "customer", "custom.order", xml))).status).toBe(202);
  for (const type of ["status.read", "bot.transfer", "cobrowse.start"])
    expect((await send(message(conversation, "custom_agent", type))).status).toBe(202);
  await customer.count(2);
  expect(customer.received[0]?.message.type).toEqual({ value: "bot.transfer" });
  await send(message(conversation, "customer", "conversation.end"));
  const { text, json } = await service.call("GET", `/conversations/${conversation}`);
  expect(text).toContain("cobrowse.start");
  expect(text).not.toContain("status.read");
  expect(json.messages).toMatchObject({ paginationInfo: { count: 5 } });
});

test("each type may be sent by the senders of the specification, and by nobody else", async () => {
  const { send } = await hub({ restrictions: undefined });
  const begun = async () => messagesIn(await send(firstMessage()))[0] ?? {};
  for (const [type, allowed] of messageSenders)
    for (const sender of senders) {
      const { id, conversation } = await begun();
      const reply = await send({ ...message("", sender, type, { parent: { id } }), conversation });
      const expected = allowed.includes(sender) ? [202, undefined] : [400, "400-199"];
      expect([sender, type, reply.status, reply.json.code]).toEqual([sender, type, ...expected]);
    }
});

test("the vendor's own word takes the place of the neutral one", async () => {
  const { service, begin, send } = await hub();
  await service.control("PUT", "/switches", { platformName: "acme" });
  const conversation = await begin();
  expect((await send(message(conversation, "acme_agent", "agent.join"))).status).toBe(202);
  const neutral = await send(message(conversation, "platform_agent", "agent.join"));
  expect([neutral.status, neutral.json.code]).toEqual([400, "400-196"]);
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
