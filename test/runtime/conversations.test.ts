import { expect, test } from "vitest";
import { json, raw } from "../service/support/fake-hub.js";
import { connectedClient } from "./support/connected-client.js";

const completed = {
  id: "c-1",
  account: { address: "kiosk-berlin-01", channel: { type: "custom.kiosk" } },
  conversationContact: "email",
  entryPoint: { id: "1007" },
  customer: { name: "Ada Example" },
  messages: {
    paginationInfo: { count: 201, pagenum: 1, pagesize: 200 },
    message: [
      {
        id: "1",
        messageId: "m-0001",
        type: { value: "text" },
        content: { text: "Where is my order?", redact: false },
        sender: { type: "customer", participant: { name: "Ada Example" } },
        recipients: { recipient: [{ type: "acme_bot", participant: { name: "orders" } }] },
        status: "sent",
        created: "2026-01-02T03:04:05.006Z",
        sent: "2026-01-02T03:04:05.106Z",
      },
      {
        id: "2",
        type: { value: "conversation.state" },
        content: { json: '{"status":"escalated","content":""}' },
        sender: { type: "system" },
        created: "not a date",
      },
    ],
  },
};

test("a completed conversation comes back as a transcript", async () => {
  await using live = await connectedClient(json(200, completed), { platformName: "acme" });
  const conversation = await live.client.conversations.get("c-1");
  expect(live.hub.log).toEqual(["GET /conversations/c-1"]);
  expect(conversation).toMatchObject({
    id: "c-1",
    account: { channel: "custom.kiosk", address: "kiosk-berlin-01" },
    entryPoint: "1007",
    conversationContact: "email",
    customer: { name: "Ada Example" },
    messageCount: 201,
    raw: completed,
  });
  expect(conversation.messages[0]).toEqual({
    id: "1",
    messageId: "m-0001",
    type: "text",
    conversationId: "c-1",
    text: "Where is my order?",
    redact: false,
    sender: { kind: "customer", name: "Ada Example" },
    recipients: [{ kind: "platform_bot", name: "orders" }],
    attachments: [],
    attributes: {},
    status: "sent",
    created: new Date("2026-01-02T03:04:05.006Z"),
    sent: new Date("2026-01-02T03:04:05.106Z"),
    raw: completed.messages.message[0],
  });
});

test("JSON content, and dates that are none, do no harm", async () => {
  await using live = await connectedClient(json(200, completed));
  const { messages } = await live.client.conversations.get("c-1");
  expect(messages[1]).toMatchObject({
    content: { status: "escalated" },
    sender: { kind: "system" },
  });
  expect(messages[1]).not.toHaveProperty("created");
});

test.each([404, 400])("a %i says that only completed conversations can be had", async (status) => {
  await using live = await connectedClient(json(status, { code: `${status}-101` }));
  await expect(live.client.conversations.get("c-1")).rejects.toMatchObject({
    code: status === 404 ? "NOT_FOUND" : "REJECTED",
    details: { status },
    message: expect.stringContaining("Only completed conversations"),
  });
});

test.each([
  ["a list", json(200, [])],
  ["no JSON", raw(200, "<html>")],
])("an answer that is %s cannot be used", async (_, handler) => {
  await using live = await connectedClient(handler);
  await expect(live.client.conversations.get("c-1")).rejects.toMatchObject({
    code: "BAD_RESPONSE",
  });
});
