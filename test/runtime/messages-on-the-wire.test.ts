import { expect, test } from "vitest";
import { connectedClient } from "./support/connected-client.js";
import { answer, conversation, first } from "./support/first-message.js";

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
          attributes: { attribute: [{ external: true, name: "k", value: "v" }] },
        },
      ],
    },
  });
});

test("an attachment and a soft deletion travel as the public example shows", async () => {
  await using live = await connectedClient(answer("x", "y"));
  const receipt = {
    name: "receipt.png",
    contentType: "image/png",
    size: 20480,
    url: "https://files.example.com/receipt.png",
  };
  const sender = { kind: "customer", name: "Ada Example" } as const;
  await live.client.messages.send([
    { messageId: "m-0002", type: "text", sender, conversation, attachments: [receipt] },
    { type: "delete.soft", sender: "customer", conversation, parent: "m-0001" },
  ]);
  expect(live.lastBody).toEqual({
    messages: {
      message: [
        {
          messageId: "m-0002",
          type: { value: "text" },
          conversation: { id: conversation },
          attachments: { attachment: [receipt] },
          sender: { type: "customer", participant: { name: "Ada Example" } },
        },
        {
          type: { value: "delete.soft" },
          conversation: { id: conversation },
          parent: { messageId: "m-0001" },
          sender: { type: "customer" },
        },
      ],
    },
  });
});

test("a list picker and a rich link get the members that the examples show", async () => {
  await using live = await connectedClient(answer("x", "y"));
  const items = [{ id: "7", title: "Shoes" }];
  const images = [{ imageid: "i", title: "Shoes", url: "https://img.example.com/i.png" }];
  await live.client.messages.send([
    {
      type: "richMessage.listpicker",
      sender: "custom_bot",
      conversation,
      content: { title: "Which order?", list: { sections: [{ title: "Open", items }] } },
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
  expect(live.lastBody).toMatchObject({
    messages: {
      message: [
        {
          content: {
            type: "list",
            version: "1",
            title: "Which order?",
            list: { multipleSelection: false, sections: [section] },
          },
        },
        { content: { type: "web_url", version: "1", imageid: "i", images } },
      ],
    },
  });
});

test("the vendor's own word stands for platform on the wire", async () => {
  await using live = await connectedClient(answer("x"), { platformName: "acme" });
  await live.client.messages.send({ type: "agent.join", sender: "platform_agent", conversation });
  expect(live.lastBody).toMatchObject({
    messages: { message: [{ sender: { type: "acme_agent" } }] },
  });
});

test("further members are merged in at every depth", async () => {
  await using live = await connectedClient(answer("x"));
  const extra = { content: { mood: "happy" }, priority: 1 };
  await live.client.messages.send({
    type: "text",
    text: "Hi",
    sender: "customer",
    conversation,
    extra,
  });
  expect(live.lastBody).toMatchObject({
    messages: { message: [{ content: { text: "Hi", mood: "happy" }, priority: 1 }] },
  });
});
