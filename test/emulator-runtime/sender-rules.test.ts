import { expect, test } from "vitest";
import { hub, message, messagesIn } from "./hub.js";

/** Types and who may send them, written out from the specification's §6: C A a B b stand for the five kinds. */
const letters = {
  C: "customer",
  A: "platform_agent",
  a: "custom_agent",
  B: "platform_bot",
  b: "custom_bot",
};

const table: readonly (readonly [type: string, senders: string])[] = [
  ["text", "CAaBb"],
  ["typing.start", "CAaBb"],
  ["typing.end", "CAaBb"],
  ["customer.info", "CAaBb"],
  ["error", "CAaBb"],
  ["conversation.end", "CAaBb"],
  ["escalation.transfer", "AaBb"],
  ["pagePush", "AaBb"],
  ["richMessage.listpicker", "AaBb"],
  ["richMessage.quickreply", "AaBb"],
  ["richMessage.template", "AaBb"],
  ["richMessage.timepicker", "AaBb"],
  ["richMessage.richlink", "AaBb"],
  ["richMessage.form", "AaBb"],
  ["richMessage.payment", "AaBb"],
  ["richMessage.app", "AaBb"],
  ["richMessage.authentication", "AaBb"],
  ["conversation.state", "Aa"],
  ["agent.join", "Aa"],
  ["agent.available", "Aa"],
  ["agent.unavailable", "Aa"],
  ["agent.transfer", "Aa"],
  ["queue.transfer", "Aa"],
  ["authentication.success", "C"],
  ["authentication.failure", "C"],
  ["customer.active", "C"],
  ["customer.inactive", "C"],
  ["delete.soft", "C"],
  ["delete.permanent", "C"],
  ["undo", "C"],
];

test.each(table)("%s may be sent by %s and by nobody else", async (type, senders) => {
  const { begin, send } = await hub({ switches: { channelRestrictions: "ignore" } });
  for (const [letter, sender] of Object.entries(letters)) {
    const conversation = await begin();
    const reply = await send(
      message(conversation, sender, type, { parent: { messageId: "m-0001" } }),
    );
    const isAllowed = senders.includes(letter);
    expect([sender, reply.status, reply.json.code]).toEqual(
      isAllowed ? [sender, 202, undefined] : [sender, 400, "400-196"],
    );
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
