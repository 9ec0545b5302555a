import { expect, test } from "vitest";
import { isObject } from "../../provider/kernel/json.js";
import { answering } from "./callback-server.js";
import { address, firstMessage, hub, message, messagesIn, refusal } from "./hub.js";

test("starting answers 202 with the ids of message and conversation", async () => {
  const { service, send } = await hub();
  const reply = await send(firstMessage());
  expect(reply.status).toBe(202);
  expect(messagesIn(reply)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      messageId: "m-0001",
      conversation: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    },
  ]);
  expect((await service.control("GET", "/stats")).json.calls).toMatchObject({
    "POST /conversations/messages": { accepted: 1 },
  });
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

const { account, customer } = { account: address, customer: { name: "Ada" } };

test("a completed conversation is given with its messages in order", async () => {
  const { service, begin, send } = await hub();
  const conversation = await begin({
    conversation: {
      account,
      customer,
      entryPoint: { id: "1007" },
      conversationContact: "email",
      // Callbacks have it, transcripts do not (vendor).
      preferredAgent: { userName: "sam" },
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

test("a conversation that runs, or never was, is not found", async () => {
  const { service, begin } = await hub();
  for (const id of [await begin(), "21822806-0000-4000-8000-097b4f0d68a7"]) {
    const reply = await service.call("GET", `/conversations/${id}`);
    expect([reply.status, reply.json.code]).toEqual([404, "404-101"]);
  }
});

test("the ID of a message is not accepted again in its conversation, only in another", async () => {
  const { service, begin, send } = await hub();
  const conversation = await begin({ messageId: "m-1" });
  const again = (...ids: string[]) =>
    send(...ids.map((messageId) => message(conversation, "custom_bot", "text", { messageId })));
  const reply = await again("m-2", "m-1");
  expect([reply.status, reply.json.code]).toEqual([400, "400-138"]);
  expect(reply.json.developerMessage).toMatch("messages.message[1].messageId:");
  expect(await refusal(again("m-2", "m-2"))).toEqual([400, "400-138"]);
  expect((await again("m-2")).status).toBe(202);
  await begin({ messageId: "m-1" });
  // Also after everything was read again.
  await service.control("PUT", "/snapshot", (await service.control("GET", "/snapshot")).json);
  expect(await refusal(again("m-2"))).toEqual([400, "400-138"]);
});

test("a transcript holds the first 200 messages, and says how many there are", async () => {
  const { service, begin, send } = await hub();
  const conversation = await begin();
  for (let sent = 0; sent < 200; sent += 10)
    await send(
      ...Array.from({ length: 10 }, (_, place) =>
        message(conversation, "customer", "text", { messageId: `n-${sent + place}` }),
      ),
    );
  await send(message(conversation, "customer", "conversation.end"));
  const { messages } = (await service.call("GET", `/conversations/${conversation}`)).json;
  const { paginationInfo, message: list } = Object(messages);
  expect(paginationInfo).toEqual({ count: 202, pagenum: 1, pagesize: 200 });
  expect([list.length, list[199].messageId]).toEqual([200, "n-198"]);
});

test("a transcript says what became of each message", async () => {
  const options = { customers: false, switches: { deliveryRetries: 1 } } as const;
  const { service, begin, bot, send, logged } = await hub(options);
  const statuses = async (): Promise<unknown[]> => {
    const [conversation] = await service.emulator.control.conversations();
    return (conversation?.messages ?? []).map(({ status }) => status);
  };
  bot.answer = answering(500);
  const conversation = await begin();
  await logged(1);
  expect(await statuses()).toEqual(["retryInProgress"]);
  bot.answer = answering(202);
  service.emulator.advance(1_000);
  await logged(2);
  expect(await statuses()).toEqual(["sent"]);
  await send(message(conversation, "custom_bot", "text"));
  await logged(3);
  bot.answer = answering(500);
  await send(message(conversation, "customer", "conversation.end"));
  await logged(4);
  service.emulator.advance(1_000);
  await logged(5);
  const { messages } = (await service.call("GET", `/conversations/${conversation}`)).json;
  expect(messages).toMatchObject({
    message: [{ status: "sent" }, { status: "skipped" }, { status: "failed" }],
  });
});

test("a message to two recipients names one in each callback, and in the transcript", async () => {
  const { service, begin, customer, agent, send, logged } = await hub();
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer"));
  await send(message(conversation, "platform_agent", "conversation.end"));
  await logged(4);
  const to = (type: string) => ({ recipients: { recipient: [expect.objectContaining({ type })] } });
  expect(agent.received[0]?.message).toMatchObject(to("platform_agent"));
  expect(customer.received[0]?.message).toMatchObject(to("customer"));
  const { messages } = (await service.call("GET", `/conversations/${conversation}`)).json;
  expect(messages).toMatchObject({ message: [{}, to("customer"), {}] });
});

test("a message that one of two recipients did not get is not sent, whatever the other does", async () => {
  const { service, begin, send, agent, logged } = await hub({ customers: false });
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "escalation.transfer"));
  await agent.count(1);
  await logged(3);
  const [{ messages } = { messages: [] }] = await service.emulator.control.conversations();
  expect(messages).toMatchObject([{}, { status: "skipped" }]);
});
