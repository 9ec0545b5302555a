import { expect, test } from "vitest";
import { objectsIn, textAt, valueAt } from "../../provider/kernel/json.js";
import {
  isConversationOver,
  type Message,
  maySend,
  messageTypes,
  type SenderKind,
  senderKinds,
} from "../../sdk/runtime/index.js";
import { failureOf } from "../service/support/connected.js";
import { inTurn, json } from "../service/support/fake-hub.js";
import { messageSenders, senders } from "../support/specification.js";
import { connectedClient } from "./support/connected-client.js";

/** Id of the conversation that the first message starts. */
const conversation = "21822806-0000-4000-8000-097b4f0d68a7";

/** The service's ID of an earlier message. */
const earlier = "0d9f6c11-7e22-4d8b-b6f4-91d0c3a7e5f6";

/** The answer of the service to messages that get these ids. */
const answer = (...ids: string[]) =>
  json(202, {
    messages: {
      message: ids.map((id) => ({
        id,
        messageId: `own-${id}`,
        conversation: { id: conversation },
      })),
    },
  });

const accepted = json(202, { messages: { message: [{ id: "x", conversation: { id: "c-1" } }] } });

const account = { channel: "custom.kiosk", address: "k-1" };

const jsonIn = (body: unknown): unknown[] =>
  objectsIn(valueAt(body, "messages"), "message").map((message) =>
    JSON.parse(textAt(message, "content", "json") ?? "null"),
  );

/** The first message of the public example. */
const first: Message = {
  messageId: "m-0001",
  type: "text",
  text: "Where is my order?",
  sender: { kind: "customer", name: "Ada Example" },
  conversation: {
    account: { channel: "custom.kiosk", address: "kiosk-berlin-01" },
    entryPoint: "1007",
    clientInfo: { timeOffset: 60, referrerName: "kiosk", referrerUrl: "https://shop.example.com" },
    lookupContact: "email",
    conversationContact: "email",
    customer: {
      name: "Ada Example",
      attributes: { loyalty: "gold" },
      contacts: [
        { type: "phone", subType: "mobile", address: "5550100" },
        { type: "email", address: "ada@example.com" },
      ],
    },
  },
  attributes: { k: { value: "v", external: true, object: "customer" } },
};

test("a first message travels as the public example shows", async () => {
  await using live = await connectedClient(answer("x"));
  await live.client.messages.send(first, { metadata: { source: "kiosk" } });
  expect(live.hub.log).toEqual(["POST /conversations/messages"]);
  expect(live.lastBody).toEqual({
    metadata: { attributes: [{ name: "source", value: "kiosk" }] },
    messages: {
      message: [
        {
          messageId: "m-0001",
          type: { value: "text" },
          content: { text: "Where is my order?" },
          conversation: {
            account: { channel: { type: "custom.kiosk" }, address: "kiosk-berlin-01" },
            entryPoint: { id: "1007" },
            clientInfo: {
              timeOffset: 60,
              referrerName: "kiosk",
              referrerUrl: "https://shop.example.com",
            },
            lookupContact: "email",
            conversationContact: "email",
            customer: {
              name: "Ada Example",
              type: "individual",
              attributes: [{ name: "loyalty", value: "gold" }],
              contacts: {
                contact: [
                  { type: "phone", subType: "mobile", address: "5550100" },
                  { type: "email", address: "ada@example.com" },
                ],
              },
            },
          },
          sender: { type: "customer", participant: { name: "Ada Example" } },
          attributes: {
            attribute: [{ external: true, object: "customer", name: "k", value: "v" }],
          },
        },
      ],
    },
  });
});

test("attachments in both forms and a soft deletion travel as the service takes them", async () => {
  await using live = await connectedClient(answer("x", "y"));
  const receipt = {
    name: "receipt.png",
    contentType: "image/png",
    size: 20480,
    url: "https://files.example.com/receipt.png",
  };
  const asset = { id: "1001", name: "b.png", contentType: "image/png", size: 3 };
  const sender = { kind: "customer", name: "Ada Example" } as const;
  const parent = { id: earlier, messageId: "m" };
  await live.client.messages.send([
    { messageId: "m-0002", type: "text", sender, conversation, attachments: [receipt, asset] },
    { type: "delete.soft", sender: "customer", conversation, parent },
    { type: "undo", sender: "customer", conversation: { account }, parent: earlier },
  ]);
  expect(live.lastBody).toEqual({
    messages: {
      message: [
        {
          messageId: "m-0002",
          type: { value: "text" },
          conversation: { id: conversation },
          attachments: { attachment: [receipt, { id: "1001" }] },
          sender: { type: "customer", participant: { name: "Ada Example" } },
        },
        {
          type: { value: "delete.soft" },
          conversation: { id: conversation },
          parent,
          sender: { type: "customer" },
        },
        {
          type: { value: "undo" },
          conversation: { account: { channel: { type: "custom.kiosk" }, address: "k-1" } },
          parent: { id: earlier },
          sender: { type: "customer" },
        },
      ],
    },
  });
});

test("a list picker and a rich link get the members that the examples show", async () => {
  await using live = await connectedClient(answer("x", "y"));
  const items = [{ id: "7", title: "Shoes" }];
  const first = { title: "Closed", order: -1, items };
  const images = [{ imageid: "i", title: "Shoes", url: "https://img.example.com/i.png" }];
  await live.client.messages.send([
    {
      type: "richMessage.listpicker",
      sender: "custom_bot",
      conversation,
      content: { title: "Which order?", list: { sections: [{ title: "Open", items }, first] } },
    },
    {
      type: "richMessage.richlink",
      sender: "custom_bot",
      conversation,
      content: { imageid: "i", images },
    },
  ]);
  const section = {
    title: "Open",
    order: 0,
    multipleSelection: false,
    items: [{ id: "7", title: "Shoes", actions: [{ type: "postback" }] }],
  };
  expect(jsonIn(live.lastBody)).toEqual([
    {
      type: "list",
      version: "1",
      title: "Which order?",
      list: {
        multipleSelection: false,
        sections: [section, { ...section, title: "Closed", order: -1 }],
      },
    },
    { type: "web_url", version: "1", imageid: "i", images },
  ]);
});

test("the vendor's own word stands for platform on the wire", async () => {
  await using live = await connectedClient(answer("x"), { platformName: "acme" });
  await live.client.messages.send({ type: "agent.join", sender: "platform_agent", conversation });
  expect(live.lastBody).toMatchObject({
    messages: { message: [{ sender: { type: "acme_agent" } }] },
  });
});

test("content has one form, and what is said about a conversation stands beside its id", async () => {
  await using live = await connectedClient(answer("1", "2", "3", "4", "5"));
  const [customer, bot] = ["customer", "custom_bot"] as const;
  const known = { customer: { name: "Eve" }, lookupContact: "phone.home" } as const;
  const survey = { survey: conversation };
  const availability = { entryPoint: "1007" };
  await live.client.messages.send([
    { type: "text", html: "<b>Hi</b>", redact: true, sender: bot, conversation },
    { type: "error", content: { code: 5 }, sender: bot, conversation },
    { type: "customer.info", sender: customer, conversation, ...known },
    { type: "richMessage.form", content: { a: 1 }, sender: bot, conversation: survey },
    { type: "agent.available", sender: "custom_agent", conversation: availability },
  ]);
  const eve = { name: "Eve", type: "individual" };
  const parent = { id: conversation };
  expect(objectsIn(valueAt(live.lastBody, "messages"), "message")).toMatchObject([
    { content: { html: "<b>Hi</b>", redact: true } },
    { content: { json: '{"code":5}' } },
    { conversation: { id: conversation, customer: eve, lookupContact: "phone.home" } },
    { content: { json: '{"a":1}' }, conversation: { type: "survey.form", parent } },
    { conversation: { entryPoint: { id: "1007" } } },
  ]);
});

test("types that the specification does not list are sent, too", async () => {
  await using live = await connectedClient(accepted);
  const own = { type: "custom.order", sender: "custom_bot", conversation } as const;
  await live.client.messages.send([
    { ...own, xml: "<order/>", attachments: [{ id: "1" }] },
    { type: "status.read", sender: "customer", conversation, parent: earlier },
    { ...own, content: { order: 1 } },
  ]);
  expect(objectsIn(valueAt(live.lastBody, "messages"), "message")).toMatchObject([
    { content: { xml: "<order/>" }, attachments: { attachment: [{ id: "1" }] } },
    { type: { value: "status.read" }, parent: { id: earlier } },
    { content: { json: '{"order":1}' } },
  ]);
});

test("the answer gives conversation and ids, in the order sent", async () => {
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
    messageId: "m-1",
  });
  const known = { messageId: "m-1", conversationId: "c-9" };
  expect(sent).toEqual({ conversationId: "c-9", messages: [known] });
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
  const preferredAgent = { userName: "sam" };
  await messages.escalate(received, bot, { content: { reason: "refund" }, preferredAgent });
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
      content: { json: '{"reason":"refund"}' },
      conversation: { id: "c-1", preferredAgent: { userName: "sam" } },
      sender,
    },
    {
      type: { value: "conversation.end" },
      conversation: { id: "c-1" },
      sender: { type: "custom_agent" },
    },
  ]);
});

test("an emoji is one character of a text, and of the name of an attribute", async () => {
  await using live = await connectedClient(accepted);
  const [said, attributes] = ["🙂".repeat(10_000), { ["🙂".repeat(255)]: "x" }];
  await live.client.messages.reply("c-1", {
    type: "text",
    text: said,
    attributes,
    sender: "customer",
  });
  expect(live.hub.calls).toHaveLength(1);
});

test("a conversation that is over is distinguished from other refusals", async () => {
  await using live = await connectedClient(
    inTurn(json(400, { code: "400-630" }), json(400, { code: "400-143" })),
  );
  const send = () => failureOf(live.client.messages.end("c-1", "customer"));
  const over = await send();
  expect(isConversationOver(over)).toBe(true);
  expect(over).toMatchObject({ code: "REJECTED", effect: "none" });
  expect(isConversationOver(await send())).toBe(false);
});

const text = { type: "text", text: "Hi", sender: "customer", conversation: "c-1" };
const failing = { type: "error", sender: "customer", conversation: "c-1" };
const place = { entryPoint: "1007" };
const file = { name: "a", size: 1, url: "https://files.example.com/a" };
const long = (characters: number) => "x".repeat(characters);
const named = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [n, "v"]));
const starting = (customer: object) => ({ ...text, conversation: { account, customer } });

test.each<[string, unknown, string]>([
  ["an unknown type", { ...text, type: "text.loud" }, "has no known type"],
  ["an unknown sender", { ...text, sender: "robot" }, "needs a sender"],
  ["a sender with more", { ...text, sender: { kind: "customer", id: 1 } }, "needs a sender"],
  ["a text without text", { ...text, text: undefined }, "needs text, html, or attachments"],
  ["a text that is none", { ...text, text: 5 }, "text must be a string, not"],
  ["an empty text", { ...text, text: "" }, "text must have 1 to 10000 characters, not 0"],
  ["a member that is not known", { ...text, txet: "Hi" }, '"txet"'],
  [
    "no conversation",
    { ...text, conversation: undefined },
    "conversation must be a conversation ID",
  ],
  [
    "a start without an account",
    { ...text, conversation: { customer: {} } },
    "conversation.account",
  ],
  ["a typing that holds something", { ...text, type: "typing.start" }, '"text"'],
  [
    "an attachment without a place",
    { ...text, attachments: [{ name: "a.png", contentType: "image/png", size: 1 }] },
    "attachments[0].url is required",
  ],
  [
    "content that is no JSON",
    {
      type: "customer.info",
      sender: "customer",
      conversation: "c-1",
      content: { at: new Date(0) },
    },
    "content.at: is not a JSON value",
  ],
  ["text in a rich message", { ...text, type: "richMessage.form", sender: "custom_bot" }, "text"],
  ["text and HTML", { ...text, html: "<b>Hi</b>" }, "must have only one of text, html"],
  ["a long text", { ...text, text: long(10_001) }, " text must have 1 to 10000 characters"],
  ["many emojis", { ...text, text: "🙂".repeat(10_001) }, "10000 characters, not 10001"],
  ["a long ID", { ...text, messageId: long(256) }, "messageId must have 1 to 255 characters"],
  ["no attribute", { ...text, attributes: {} }, "attributes must have 1 to 75 entries"],
  ["76 attributes", { ...text, attributes: named(76) }, "attributes must have 1 to 75 entries"],
  [
    "a long value",
    { ...text, attributes: { a: long(2049) } },
    "attributes.a.value must have 1 to 2048",
  ],
  ["six files", { ...text, attachments: Array(6).fill(file) }, "must have 1 to 5 items"],
  ["a large file", { ...text, attachments: [{ ...file, size: 1e8 }] }, "attachments[0].size must"],
  ["no service's ID", { ...text, parent: { messageId: "m" } }, "parent.id is required"],
  ["a deletion of nothing", { ...failing, type: "delete.soft" }, "parent is required"],
  [
    "a deletion of nothing that is completed",
    { ...failing, type: "undo", conversation: { account } },
    "parent is required",
  ],
  ["the sender's own ID", { ...text, parent: "m-0001" }, "parent.id must have exactly 36"],
  [
    "a file without a URL of the web",
    { ...text, attachments: [{ ...file, url: "file:///a.png" }] },
    "attachments[0].url must be an absolute http or https URL",
  ],
  ["long JSON", { ...failing, content: { a: long(9_993) } }, " content must have 1 to 10000"],
  [
    "a place",
    { ...failing, type: "agent.join", sender: "custom_agent", conversation: place },
    "account",
  ],
  [
    "more than a place",
    {
      ...failing,
      type: "agent.available",
      sender: "custom_agent",
      conversation: { ...place, customer: {} },
    },
    "conversation must be { entryPoint",
  ],
  [
    "no place",
    { ...failing, type: "agent.available", sender: "custom_agent" },
    "conversation must be { entryPoint",
  ],
  [
    "an odd contact",
    starting({ contacts: [{ type: "fax", address: "1" }] }),
    "conversation.customer.contacts[0].type must be",
  ],
  ["a long name", starting({ name: long(256) }), "conversation.customer.name must have 1 to 255"],
  [
    "a long name beside an ID",
    { ...failing, type: "customer.info", customer: { name: long(256) } },
    "valid: customer.name must have 1 to 255",
  ],
  ["no message at all", null, "is not an object"],
  ["an empty list", [], "must have 1 to 10 items"],
  ["eleven messages", Array(11).fill(text), "must have 1 to 10 items"],
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

const matrix = messageSenders.flatMap(([type, allowed]) =>
  senders.map((sender) => [sender, allowed.includes(sender) ? "may" : "may not", type] as const),
);

/** The least that a message of each type holds. */
const bodies: Readonly<Record<string, object>> = {
  text: { text: "Hello" },
  "richMessage.listpicker": {
    content: {
      title: "Which?",
      list: { sections: [{ title: "A", items: [{ id: "1", title: "One" }] }] },
    },
  },
  "richMessage.richlink": {
    content: { imageid: "i", images: [{ imageid: "i", url: "https://img.example.com/i.png" }] },
  },
  "conversation.state": { content: { status: "escalated" } },
  "delete.soft": { parent: earlier },
  "agent.available": { conversation: { entryPoint: "1007" } },
  "agent.unavailable": { conversation: { entryPoint: "1007" } },
};

test("the specification has 30 types and 5 kinds of senders, in this order", () => {
  expect(messageTypes).toEqual(messageSenders.map(([type]) => type));
  expect(senderKinds).toEqual(senders);
});

test("each sender may send the types of the specification, which can be asked, and no call is made for another", async () => {
  await using live = await connectedClient(accepted);
  for (const [sender, may, type] of matrix) {
    // As a program without type checks would call it.
    const given = { sender, type, conversation: "c-1", ...bodies[type] };
    const message = JSON.parse(JSON.stringify(given));
    const before = live.hub.calls.length;
    const ended = await live.client.messages.send(message).catch((error: unknown) => error);
    const kind = senderKinds.find((each): each is SenderKind => each === sender) ?? "customer";
    const known = messageTypes.find((each) => each === type) ?? "text";
    expect([sender, type, maySend(kind, known)]).toEqual([sender, type, may === "may"]);
    expect([sender, type, live.hub.calls.length - before]).toEqual([
      sender,
      type,
      may === "may" ? 1 : 0,
    ]);
    if (may === "may") {
      expect(live.lastBody).toMatchObject({
        messages: { message: [{ type: { value: type }, sender: { type: sender } }] },
      });
    } else {
      expect(ended).toMatchObject({
        code: "INPUT_INVALID",
        effect: "none",
        message: expect.stringContaining(`a ${sender} may not send`),
      });
    }
  }
});
