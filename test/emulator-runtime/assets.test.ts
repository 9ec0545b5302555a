import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { bytesOf, codeOf, content, create, send, uploaded } from "./asset-calls.js";
import { hub, message } from "./hub.js";

test("creating answers 200 with an address on the same origin that ends after 300 seconds", async () => {
  const all = await hub();
  const reply = await create(all);
  expect(reply.status).toBe(200);
  const { id, contentUrl, contentUrlExpiry, ...more } = reply.json;
  expect(more).toEqual({});
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(String(contentUrl)).toMatch(new URL(all.service.emulator.baseUrl).origin);
  const { created } =
    ((await all.service.control("GET", "/snapshot")).json.assets as JsonObject[])[0] ?? {};
  expect(Date.parse(String(contentUrlExpiry)) - Date.parse(String(created))).toBe(300_000);
});

test("what goes up comes down, byte by byte, with type and length", async () => {
  const all = await hub();
  const { id } = await uploaded(all);
  const { status, json } = await all.service.call("GET", `/assets/${id}`);
  expect(status).toBe(200);
  expect(json).toMatchObject({ id, name: "receipt.png", size: 2048, contentType: "image/png" });
  const response = await fetch(String(json.contentUrl));
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.headers.get("content-length")).toBe("2048");
  expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
});

const wrongOrders: readonly [string, JsonObject, code: string, path: string][] = [
  ["an unknown channel", { channel: { type: "custom.other" } }, "400-196", "channel.type"],
  ["no sender", { sender: {} }, "400-143", "sender.type"],
  ["an unknown sender", { sender: { type: "business_notification" } }, "400-196", "sender.type"],
  ["no name", { name: undefined }, "400-143", "name"],
  ["no extension", { name: "receipt" }, "400-196", "name"],
  ["a long name", { name: `${"x".repeat(252)}.png` }, "400-358", "name"],
  ["no size", { size: undefined }, "400-143", "size"],
  ["size 0", { size: 0 }, "400-196", "size"],
  ["a size beyond 10 MiB", { size: 10_485_761 }, "400-196", "size"],
  ["one member more", { color: "red" }, "400-420", "color"],
];

test("a wrong asset is not created, and its wrong member named", async () => {
  const all = await hub();
  for (const [what, changes, code, path] of wrongOrders) {
    const reply = await create(all, changes);
    expect([what, ...codeOf(reply)]).toEqual([what, 400, code]);
    expect(String(reply.json.developerMessage)).toMatch(`${path}:`);
  }
});

test.each<[string, number, string, number]>([
  ["a byte less", 2047, "image/png", 400],
  ["a byte more", 2049, "image/png", 413],
  ["another content type", 2048, "image/jpeg", 400],
  ["nothing", 0, "image/png", 400],
])("an upload of %s is refused, and may be put right", async (_what, size, type, status) => {
  const all = await hub();
  const { json } = await create(all);
  expect((await send(all, "POST", json.contentUrl, randomBytes(size), type)).status).toBe(status);
  expect((await all.service.call("GET", `/assets/${json.id}`)).status).toBe(404);
  expect((await send(all, "POST", json.contentUrl, content)).status).toBe(200);
});

test("an asset that was not used is deleted, with its content", async () => {
  const all = await hub();
  const { id } = await uploaded(all);
  const { json } = await all.service.call("GET", `/assets/${id}`);
  expect((await all.service.call("DELETE", `/assets/${id}`)).status).toBe(204);
  expect((await all.service.call("GET", `/assets/${id}`)).status).toBe(404);
  expect((await all.service.call("DELETE", `/assets/${id}`)).status).toBe(404);
  expect((await send(all, "GET", json.contentUrl)).status).toBe(404);
});

test("an asset that was used in a message is not deleted", async () => {
  const all = await hub();
  const { id } = await uploaded(all);
  const conversation = await all.begin({ attachments: { attachment: [{ id }] } });
  expect(codeOf(await all.service.call("DELETE", `/assets/${id}`))).toEqual([403, "403-113"]);
  await all.logged(1);
  expect(all.bot.received[0]?.message.attachments).toEqual({
    attachment: [{ id, name: "receipt.png", contentType: "image/png", size: 2048 }],
  });
  expect((await all.send(message(conversation, "customer", "text"))).status).toBe(202);
});

test("a message that is refused uses no asset", async () => {
  const all = await hub();
  const { id } = await uploaded(all);
  const attachments = { attachment: [{ id }] };
  const conversation = await all.begin();
  const reply = await all.send(
    message(conversation, "customer", "text", { attachments }),
    message(conversation, "customer", "agent.join"),
  );
  expect(reply.status).toBe(400);
  expect((await all.service.call("DELETE", `/assets/${id}`)).status).toBe(204);
});

test("an upload address is good once, whatever the content", async () => {
  const all = await hub();
  const { contentUrl } = await uploaded(all);
  expect(codeOf(await send(all, "POST", contentUrl, content))).toEqual([403, "403-100"]);
  expect((await send(all, "POST", contentUrl, content.subarray(1), "text/plain")).status).toBe(403);
});

test("of two uploads at once the first that is whole counts", async () => {
  const all = await hub();
  const { id, contentUrl } = (await create(all)).json;
  const headers = { "content-type": "image/png", "content-length": 2048, expect: "100-continue" };
  const slow = request(String(contentUrl), { method: "POST", headers });
  slow.flushHeaders();
  await once(slow, "continue");
  expect((await send(all, "POST", contentUrl, content)).status).toBe(200);
  slow.end(randomBytes(2048));
  const [answer]: IncomingMessage[] = await once(slow, "response");
  expect(answer?.statusCode).toBe(403);
  const { json } = await all.service.call("GET", `/assets/${id}`);
  expect((await bytesOf(json.contentUrl)).equals(content)).toBe(true);
});

test("an address ends when its time is over, on the emulator's clock", async () => {
  const all = await hub();
  const { json } = await create(all);
  const { id } = await uploaded(all);
  const got = (await all.service.call("GET", `/assets/${id}`)).json;
  all.service.emulator.advance(299_999);
  expect((await send(all, "GET", got.contentUrl)).status).toBe(200);
  all.service.emulator.advance(1);
  expect(codeOf(await send(all, "GET", got.contentUrl))).toEqual([403, "403-100"]);
  expect(codeOf(await send(all, "POST", json.contentUrl, content))).toEqual([403, "403-100"]);
  const renewed = (await all.service.call("GET", `/assets/${id}`)).json;
  expect((await bytesOf(renewed.contentUrl)).equals(content)).toBe(true);
});

/** Changes one part of an address. */
const altered: readonly (readonly [string, (url: URL, other: URL) => void])[] = [
  [
    "another id",
    (url, other) => {
      url.pathname = other.pathname;
    },
  ],
  [
    "another signature",
    (url, other) => url.searchParams.set("signature", other.searchParams.get("signature") ?? ""),
  ],
  ["a further member", (url) => url.searchParams.append("expires", "1")],
];

test("an altered address is refused", async () => {
  const all = await hub();
  for (const [what, change] of altered) {
    const url = new URL(String((await create(all)).json.contentUrl));
    const other = new URL(String((await create(all)).json.contentUrl));
    change(url, other);
    expect([what, ...codeOf(await send(all, "POST", url, content))]).toEqual([
      what,
      403,
      "403-100",
    ]);
  }
});

test("an address for one direction is none for the other", async () => {
  const all = await hub();
  const { id, contentUrl } = await uploaded(all);
  const { json } = await all.service.call("GET", `/assets/${id}`);
  expect((await send(all, "GET", contentUrl)).status).toBe(403);
  expect((await send(all, "POST", json.contentUrl, content)).status).toBe(403);
  expect((await send(all, "DELETE", json.contentUrl)).status).toBe(403);
});
