import { expect, test } from "vitest";
import type { ShownDelivery } from "../../emulator/conversations/deliveries.js";
import { deliveryFailures } from "../../emulator/conversations/delivery-failures.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { roleOf } from "../support/forms.js";
import { answering, callbackServer } from "./callback-server.js";
import { firstMessage, type HubOptions, hub, message } from "./hub.js";

const outcomes = (log: readonly JsonObject[]): unknown[] =>
  log.map(({ messageId, attempt, status, error }) => [messageId, attempt, status ?? error]);

test("an entry of the log says when, where, what and how it went", async () => {
  const { begin, bot, logged } = await hub();
  await begin();
  expect(await logged(1)).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      url: `${bot.url}/custom_bot`,
      recipient: "custom_bot",
      messageId: "m-0001",
      type: "text",
      attempt: 1,
      status: 200,
    },
  ]);
});

test("a callback that fails gets the message again, a second later on the clock", async () => {
  const { service, begin, bot, logged } = await hub();
  bot.answer = answering(500);
  await begin();
  await logged(1);
  service.emulator.advance(999);
  expect(bot.received.length).toBe(1);
  bot.answer = answering(200);
  service.emulator.advance(1);
  expect(outcomes(await logged(2))).toEqual([
    ["m-0001", 1, 500],
    ["m-0001", 2, 200],
  ]);
  expect(bot.received[1]?.text).toBe(bot.received[0]?.text);
});

test("a callback that is stuck holds up neither other conversations nor the other side", async () => {
  const { begin, send, bot, customer, logged } = await hub();
  let place = 0;
  bot.answer = (_call, response) => {
    place += 1;
    if (place > 1) response.writeHead(200).end();
  };
  const stuck = await begin();
  await bot.count(1);
  await begin({ messageId: "m-2" });
  await send(message(stuck, "custom_bot", "text", { messageId: "m-3" }));
  const log = await logged(2);
  expect(log.map(({ messageId }) => messageId).sort()).toEqual(["m-2", "m-3"]);
  expect(customer.messageIds).toEqual(["m-3"]);
});

test("a callback that answers too late is called again", async () => {
  const { service, begin, bot, logged } = await hub({ callbackDeadlineMs: 3000 });
  bot.answer = (_call, response, place) => {
    if (place > 1) response.writeHead(200).end();
  };
  await begin();
  await logged(1);
  service.emulator.advance(1000);
  expect(outcomes(await logged(2))).toEqual([
    ["m-0001", 1, "no response within 3000 ms"],
    ["m-0001", 2, 200],
  ]);
});

test("an answer counts from its first line: a body that never ends is no second delivery", async () => {
  const { begin, bot, logged } = await hub();
  bot.answer = (_call, response) => void response.writeHead(200).write("…");
  await begin();
  await begin({ messageId: "m-2" });
  expect(outcomes(await logged(2))).toEqual([
    ["m-0001", 1, 200],
    ["m-2", 1, 200],
  ]);
});

test("a redirect is not followed", async () => {
  const elsewhere = await callbackServer();
  const { begin, bot, logged } = await hub({ switches: { deliveryRetries: 0 } });
  bot.answer = answering(307, { location: elsewhere.url });
  await begin();
  expect(outcomes(await logged(1))).toEqual([["m-0001", 1, 307]]);
  expect(elsewhere.received.length).toBe(0);
});

test("200 messages of one conversation come in order, each once", async () => {
  const all = await hub();
  const conversation = await all.begin();
  const own = Array.from({ length: 200 }, (_, place) => `n-${place}`);
  for (const first of Array.from({ length: 10 }, (_, call) => call * 10))
    await all.send(
      ...own
        .slice(first, first + 10)
        .map((messageId) => message(conversation, "customer", "text", { messageId })),
    );
  for (const messageId of own.slice(100))
    await all.send(message(conversation, "customer", "text", { messageId }));
  await all.logged(201);
  expect(all.bot.messageIds).toEqual(["m-0001", ...own]);
});

test("a role of version v1 gets content, attachments and times in its own form", async () => {
  const { begin, send, bot, customer, logged } = await hub({ role: { version: "v1" } });
  const file = { name: "receipt.png", size: 20_480 };
  const url = "https://files.example.com/receipt.png?of=1";
  const attachment = [{ ...file, contentType: "image/png", url }];
  const conversation = await begin({ attachments: { attachment } });
  const content = { json: '{"type":"list","version":"1"}' };
  await send(message(conversation, "custom_bot", "richMessage.listpicker", { content }));
  await logged(2);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
  const first = firstMessage();
  expect(bot.received[0]?.json).toEqual({
    messages: {
      message: [
        {
          ...first,
          id: expect.any(String),
          content: { type: "text/plain", value: "Where is my order?" },
          conversation: { ...Object(first.conversation), id: conversation },
          recipients: { recipient: [{ type: "custom_bot", participant: { name: "orders-bot" } }] },
          attachments: {
            attachment: [{ ...file, mimeType: "image/png", url: "/receipt.png?of=1" }],
          },
          created: time,
          sent: time,
        },
      ],
    },
  });
  expect(customer.received[0]?.message).toMatchObject({
    content: { type: "application/json", value: '{"type":"list","version":"1"}' },
  });
});

test("a reset forgets what is still to be delivered, and the log", async () => {
  const { service, begin, bot, deliveries } = await hub();
  bot.answer = () => undefined;
  await begin();
  await bot.count(1);
  const ended = bot.ended();
  await service.control("POST", "/reset");
  await ended;
  expect(await deliveries()).toEqual([]);
  service.emulator.advance(60_000);
  expect(bot.received.length).toBe(1);
  expect((await service.control("GET", "/snapshot")).json).toMatchObject({
    conversations: [],
    assets: [],
  });
});

test("calls of callbacks can be led elsewhere; the log keeps the address of the object", async () => {
  const elsewhere = await callbackServer();
  const { begin, bot, logged } = await hub({
    callbackRoute: (address) => `${elsewhere.url}/${encodeURIComponent(address)}`,
  });
  await begin();
  const [delivery] = await logged(1);
  expect(delivery).toMatchObject({ status: 200, url: `${bot.url}/custom_bot` });
  expect(elsewhere.received[0]?.path).toBe(`/${encodeURIComponent(`${bot.url}/custom_bot`)}`);
  expect(bot.received).toEqual([]);
});

test("a delivery is waited for: also one that came before, an accepted one unless another is asked for", async () => {
  const { service, begin, bot } = await hub();
  const { control } = service.emulator;
  bot.answer = (_received, response, place) =>
    void response.writeHead(place === 1 ? 503 : 200).end();
  const accepted = control.waitForDelivery();
  await begin();
  expect(await control.waitForDelivery(({ status }) => status === 503)).toMatchObject({
    attempt: 1,
  });
  await control.advance(1_000);
  expect(await accepted).toMatchObject({ attempt: 2, status: 200 });
  expect(await control.waitForDelivery()).toEqual(await accepted);
});

test("a delivery that does not come is an error that names the last one", async () => {
  const { service, begin, bot, logged } = await hub();
  const { control } = service.emulator;
  await expect(control.waitForDelivery(undefined, { timeoutMs: 0 })).rejects.toThrow(
    "The emulator made no such delivery within 0 ms. There was none.",
  );
  bot.answer = answering(500);
  await begin();
  await logged(1);
  await expect(control.waitForDelivery(undefined, { timeoutMs: 0 })).rejects.toThrow(
    /The last: \{.*"status":500,.*"messageId":"m-0001".*\}\.$/,
  );
});

test("conversations are read with their messages", async () => {
  const { service, begin } = await hub();
  const { control } = service.emulator;
  const first = await begin();
  const second = await begin({ messageId: "m-0002" });
  const all = await control.conversations();
  expect(all.map(({ id, phase }) => [id, phase])).toEqual([
    [first, "bot"],
    [second, "bot"],
  ]);
  expect(all[1]?.messages).toMatchObject([{ messageId: "m-0002", type: "text" }]);
});

test("a message that no attempt delivered is reported once, with the last attempt", async () => {
  const undelivered: unknown[] = [];
  const onUndelivered = (entry: unknown): void => void undelivered.push(entry);
  const { service, begin, bot, logged } = await hub({ onUndelivered });
  bot.answer = answering(500);
  await begin();
  await logged(1);
  expect(undelivered).toEqual([]);
  service.emulator.advance(60_000);
  await logged(3);
  expect(undelivered).toEqual([expect.objectContaining({ attempt: 3, status: 500 })]);
});

/** A hub that makes one attempt per message, and why the last attempts failed. */
const failing = async (options: HubOptions = {}) => {
  const failures: ShownDelivery["failure"][] = [];
  const switches = { deliveryRetries: 0 };
  const onUndelivered = ({ failure }: ShownDelivery): void => void failures.push(failure);
  const all = await hub({ ...options, switches, onUndelivered });
  /** Why the next message is not delivered. */
  const next = async (): Promise<ShownDelivery["failure"]> => {
    const place = failures.length;
    await all.begin();
    await expect.poll(() => failures.length).toBe(place + 1);
    return failures[place];
  };
  return { ...all, failures, next };
};

test.each<[number, keyof typeof deliveryFailures]>([
  [302, "refused"],
  [401, "noLogin"],
  [404, "refused"],
  [503, "refused"],
])("a callback that responds with %i fails because: %s", async (status, cause) => {
  const { bot, next } = await failing();
  bot.answer = answering(status);
  expect(await next()).toEqual({ ...deliveryFailures[cause], isRetried: false });
});

test("without a response it is said what failed: bot, deadline, fault, example, or no callback", async () => {
  const slow = await failing({ callbackDeadlineMs: 50 });
  slow.bot.answer = () => undefined;
  expect(await slow.next()).toMatchObject(deliveryFailures.unreachable);
  const gone = await failing();
  await gone.service.emulator.control.faults({ on: "CALLBACK", kind: "hang" });
  expect(await gone.next()).toMatchObject({ ...deliveryFailures.fault, fault: "hang" });
  await gone.bot.close();
  expect(await gone.next()).toMatchObject(deliveryFailures.unreachable);
  const example = await failing({ callbackRoute: () => "http://127.0.0.1:1" });
  await example.service.call("PUT", `/clientapplications/${example.ids.bot}`, {
    name: "unchanged-example",
    roles: [roleOf("custom_bot", { callback: "https://bot.example.com/messages" })],
  });
  expect(await example.next()).toMatchObject(deliveryFailures.example);
  const none = await failing({ customers: false });
  await none.send(message(await none.begin(), "custom_bot", "text", { content: { text: "Hi" } }));
  await expect.poll(() => none.failures).toMatchObject([deliveryFailures.noRecipient]);
});
