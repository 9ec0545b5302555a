import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import {
  type CallbackOptions,
  type Callbacks,
  callbacks,
  connect,
  isConversationOver,
  type NewConversation,
  type ReceivedMessage,
} from "../../sdk/runtime/index.js";
import { JumpingClock } from "../service/support/clocks.js";
import { failureOf } from "../service/support/connected.js";
import { account, vendor } from "../support/strict-conversations.js";
import { startStrictService } from "../support/strict-service.js";
import { served } from "./support/callback-calls.js";

const sides = ["customer", "bot", "agent"] as const;
type Side = (typeof sides)[number];

const start: NewConversation = { account, customer: { name: "Ada Example" } };
const ada = { kind: "customer", name: "Ada Example" } as const;

/** The independent service, the client in front of it, and a handler for each side. */
const independent = async (
  onMessage: (side: Side, message: ReceivedMessage) => void | Promise<void> = () => {},
  version: "v1" | "v3" = "v3",
) => {
  const handlers: Callbacks[] = [];
  const errors: unknown[] = [];
  const side = async (name: Side) => {
    const [username, password] = [name, randomBytes(9).toString("base64")];
    const options: CallbackOptions = {
      authenticate: { basic: { username, password } },
      onMessage: (message) => onMessage(name, message),
      onError: (error) => void errors.push(error),
      platformName: vendor,
    };
    const handler = callbacks(options);
    const server = await served(handler.node);
    handlers.push(handler);
    onTestFinished(() => server[Symbol.asyncDispose]());
    return { url: server.url, username, password, version };
  };
  const callbackOf = {
    customer: await side("customer"),
    bot: await side("bot"),
    agent: await side("agent"),
  };
  const service = await startStrictService("mask", callbackOf);
  const { conversations, environment } = service;
  if (!conversations) throw new Error("no conversations");
  const { deliveries, throttle } = conversations;
  const clock = new JumpingClock();
  const options = { pacing: "after-refusal", clock, environment } as const;
  const client = connect({ platformName: vendor }, options);
  onTestFinished(async () => {
    await client.close();
    await deliveries.idle();
    await service.close();
  });
  const idle = async (): Promise<void> => {
    await deliveries.idle();
    await Promise.all(handlers.map((handler) => handler.idle()));
  };
  return { service, client, clock, errors, idle, deliveries, throttle };
};

test.each(["v1", "v3"] as const)(
  "a conversation from its start to its end, callbacks %s",
  async (version) => {
    const log: string[] = [];
    const live = await independent((side, { type, text, content, sender }) => {
      log.push(
        `${side} < ${sender.kind}: ${text ?? (content ? `${type} ${content.title}` : type)}`,
      );
    }, version);
    const { messages, conversations } = live.client;
    const { conversationId, messages: sent } = await messages.start({
      type: "text",
      text: "Where is my order?",
      sender: ada,
      conversation: start,
    });
    expect(sent).toEqual([{ id: `msg/1:${conversationId.slice(0, 30)}`, conversationId }]);
    const items = [{ id: "7", title: "Shoes" }];
    const content = { title: "Which?", list: { sections: [{ title: "Open", items }] } };
    await messages.reply(conversationId, {
      type: "richMessage.listpicker",
      sender: "platform_bot",
      content,
    });
    await messages.send([
      { type: "typing.start", sender: ada, conversation: conversationId },
      { type: "text", text: "An agent, please", sender: ada, conversation: conversationId },
    ]);
    await messages.escalate(conversationId, "custom_bot");
    await messages.reply(conversationId, { type: "agent.join", sender: "platform_agent" });
    await messages.reply(conversationId, { type: "text", text: "Thanks", sender: ada });
    expect(await failureOf(conversations.get(conversationId))).toMatchObject({
      code: "REJECTED",
      message: expect.stringContaining("end the conversation first"),
    });
    await messages.end(conversationId, { kind: "custom_agent", name: "Bo" });
    await live.idle();
    expect(log.filter((line) => line.startsWith("bot"))).toEqual([
      "bot < customer: Where is my order?",
      "bot < customer: typing.start",
      "bot < customer: An agent, please",
    ]);
    expect(log.filter((line) => line.startsWith("agent"))).toEqual([
      "agent < custom_bot: escalation.transfer",
      "agent < customer: Thanks",
    ]);
    expect(log.filter((line) => line.startsWith("customer"))).toEqual([
      "customer < platform_bot: richMessage.listpicker Which?",
      "customer < custom_bot: escalation.transfer",
      "customer < platform_agent: agent.join",
      "customer < custom_agent: conversation.end",
    ]);
    // Every message came twice, and every call was answered.
    expect(live.deliveries.statuses).toEqual(Array(18).fill(202));
    expect(live.errors).toEqual([]);
  },
);

test("the transcript of a completed conversation is read", async () => {
  const { client } = await independent();
  const { messages, conversations } = client;
  const {
    conversationId,
    messages: [first],
  } = await messages.start({
    type: "text",
    text: "Hello",
    sender: ada,
    messageId: "own-1",
    conversation: start,
  });
  await messages.send({
    type: "delete.soft",
    sender: "customer",
    conversation: conversationId,
    parent: { id: `${first?.id}`, messageId: "own-1" },
  });
  await messages.end(conversationId, "platform_bot");
  const read = await conversations.get(conversationId);
  expect(read).toMatchObject({ id: conversationId, account, customer: { name: "Ada Example" } });
  expect(
    read.messages.map(({ type, text, sender, parent }) => [type, text, sender.kind, parent]),
  ).toEqual([
    ["text", "Hello", "customer", undefined],
    ["delete.soft", undefined, "customer", first?.id],
    ["conversation.end", undefined, "platform_bot", undefined],
  ]);
  const late = messages.reply(conversationId, { type: "text", text: "Wait!", sender: ada });
  expect(isConversationOver(await failureOf(late))).toBe(true);
  await expect(conversations.get("0-0")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a message that is too many waits, one with a dead token is sent with a new one", async () => {
  const { client, service, clock, throttle } = await independent();
  const begun = await client.messages.start({
    type: "text",
    text: "1",
    sender: ada,
    conversation: start,
  });
  throttle(2);
  await client.messages.reply(begun, { type: "text", text: "2", sender: ada });
  expect(clock.slept).toEqual(expect.arrayContaining([1_000, 2_000]));
  service.revokeToken();
  await client.messages.reply(begun, { type: "text", text: "3", sender: ada });
  expect(service.tokens()).toBe(2);
  await client.messages.end(begun, "customer");
  const { messages } = await client.conversations.get(begun.conversationId);
  expect(messages.flatMap(({ text }) => text ?? [])).toEqual(["1", "2", "3"]);
});

test("a file goes up, travels with a message, comes down equal, and stays", async () => {
  const attached: ReceivedMessage["attachments"][number][] = [];
  const live = await independent((side, { attachments }) => {
    if (side === "bot") attached.push(...attachments);
  });
  const { assets, messages } = live.client;
  const bytes = randomBytes(300_000);
  const options = { channel: account.channel, sender: "customer", name: "receipt.png" } as const;
  const asset = await assets.upload(bytes, options);
  expect(asset).toEqual({
    id: "1001",
    name: "receipt.png",
    size: 300_000,
    contentType: "image/png",
  });
  await messages.start({ type: "text", sender: ada, conversation: start, attachments: [asset] });
  await live.idle();
  expect(attached).toMatchObject([{ id: "1001", name: "receipt.png", size: 300_000 }]);
  const copy = await assets.download("1001");
  expect([copy.contentType, bytes.equals(copy.bytes)]).toEqual(["image/png", true]);
  // The token answer of this service tells no scopes, so a missing one cannot be ruled out.
  await expect(assets.delete("1001")).rejects.toMatchObject({
    code: "FORBIDDEN",
    message: expect.stringContaining("used in a message"),
  });
  const unused = await assets.upload(Buffer.from("text"), { ...options, name: "note.txt" });
  await assets.delete(unused.id);
  await expect(assets.get(unused.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
