import { expect, test } from "vitest";
import { firstMessage, hub, message } from "../emulator-runtime/hub.js";
import { takeViolations } from "../support/own-violations.js";
import { runtimeOperations, setUpOperations } from "../support/specification.js";
import { wireCallbacks, wireOperations } from "../support/wire-table.js";

test("each operation of the specification is described, and 14 have bodies", () => {
  const names = [...setUpOperations, ...runtimeOperations].map(
    ({ method, path }) => `${method} ${path}`,
  );
  expect([...wireOperations.keys()].sort()).toEqual(names.sort());
  expect([...wireOperations.values()].filter(({ sent }) => sent)).toHaveLength(14);
});

const id = "8a7d1c02-3f55-4f0a-9d7e-2b6c9e1f4a21";
const url = "https://x.example.com/a.png";
const carrying = (attachment: object) => ({ attachments: { attachment: [attachment] } });
const said = (conversation: object) => ({ conversation: { id, ...conversation } });

test.each<[string, object]>([
  ["", {}],
  ["", { content: { json: "{}", redact: true }, type: { value: "custom.own" } }],
  ["", { ...carrying({ id: "1001" }), parent: { id, messageId: "m-0" } }],
  ["", carrying({ name: "a.png", size: 1, url, contentType: "image/png" })],
  ["", said({ preferredAgent: { userName: "ada" }, lookupContact: "phone.mobile" })],
  [".content.json is unknown", { content: { text: "a", json: "{}" } }],
  [".content.text must be a text of 1 to 10000 characters", { content: { text: "" } }],
  [".type.value must be one of", { type: { value: "richMessage.own" } }],
  [".attachments.attachment[0].name is unknown", carrying({ id: "1001", name: "a.png" })],
  [".attachments.attachment[0].size is missing", carrying({ name: "a.png", url })],
  [".parent.id is missing", { parent: { messageId: "m-0" } }],
  [".sender.type must be one of", { sender: { type: "system" } }],
  [".conversation is missing", { conversation: undefined }],
  [".conversation.preferredAgent.id is missing", said({ preferredAgent: {} })],
  [
    ".conversation.clientInfo.timeOffset must be a whole",
    said({ clientInfo: { timeOffset: 721 } }),
  ],
])("a message has this wrong with it: %s", (wrong, changes) => {
  const sent = wireOperations.get("POST /conversations/messages")?.sent;
  const found = sent?.({ messages: { message: [{ ...firstMessage(), ...changes }] } }, "") ?? [];
  expect(found).toEqual(wrong === "" ? [] : [expect.stringContaining(`.message[0]${wrong}`)]);
});

test("a callback of each version has its own form of content, attachments and times", () => {
  const body = (one: object) => ({ messages: { message: [{ id, conversation: { id }, ...one }] } });
  const v3 = body({ content: { text: "a" }, created: "2026-01-02T03:04:05.006Z" });
  const v1 = body({
    content: { type: "text/plain", value: "a" },
    attachments: { attachment: [{ mimeType: "image/png", url: "/a.png" }] },
    created: "2026-01-02 03:04:05.006",
  });
  expect([wireCallbacks.v3(v3, ""), wireCallbacks.v1(v1, "")]).toEqual([[], []]);
  expect(wireCallbacks.v1(v3, "")).toHaveLength(4);
  expect(wireCallbacks.v3(v1, "")).toHaveLength(5);
});

test("what is sent, answered or delivered otherwise is seen, unless a fault answers", async () => {
  const { service, ids, begin, send, logged } = await hub();
  const conversation = await begin();
  const { json } = await service.control("GET", "/snapshot");
  // As if the service had kept something that its description does not have.
  const kept = JSON.parse(JSON.stringify(json).replace('"about":{', '"about":{"shade":"blue",'));
  await service.control("PUT", "/snapshot", kept);
  await send(message(conversation, "custom_bot", "conversation.end"));
  await logged(1);
  await service.call("GET", `/conversations/${conversation}`);
  await service.call("DELETE", `/accounts/${ids.account}`, {});
  await service.control("POST", "/faults", [{ on: "GET /channels", kind: "not-json" }]);
  await service.call("GET", "/channels");
  expect([...takeViolations()].sort()).toEqual([
    "A callback of version v3 got: .messages.message[0].conversation.shade is unknown",
    "DELETE /accounts/{id} was sent: there must be no body",
    "GET /conversations/{id} answered 200: .shade is unknown",
  ]);
});
