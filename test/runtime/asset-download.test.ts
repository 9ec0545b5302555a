import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { AssetHub, status } from "./support/asset-hub.js";

const folder = mkdtempSync(join(tmpdir(), "conversation-assets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytes = randomBytes(150_000);
const about = { name: "receipt.png", size: bytes.length, contentType: "image/png" };

const sends =
  (content: Uint8Array, headers: Record<string, string | number> = {}) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "image/png", ...headers }).end(content);
  };

const hubWith = async (...content: AssetHub["content"]): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = about;
  hub.content = content;
  return hub;
};

test("content comes back as bytes, fetched without the token", async () => {
  await using hub = await hubWith(sends(bytes));
  const progress: unknown[] = [];
  const asset = await hub.client.assets.download("a-7", undefined, {
    onProgress: (now) => progress.push(now),
  });
  expect(asset).toEqual({ id: "a-7", ...about, bytes: new Uint8Array(bytes) });
  expect(hub.log).toEqual(["GET /assets/a-7", "GET /content/a-7?signature=s1"]);
  expect(hub.calls[1]?.headers).not.toHaveProperty("authorization");
  expect(progress.at(-1)).toEqual({ transferred: bytes.length, total: bytes.length });
});

test("content goes into a file", async () => {
  await using hub = await hubWith(sends(bytes));
  const path = join(folder, "copy.png");
  expect(await hub.client.assets.download("a-7", path)).toEqual({ id: "a-7", ...about });
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

test("content goes into a stream of Node", async () => {
  await using hub = await hubWith(sends(bytes));
  const target = new PassThrough();
  const [, arrived] = await Promise.all([
    hub.client.assets.download("a-7", target),
    buffer(target),
  ]);
  expect(arrived.equals(bytes)).toBe(true);
});

test("content goes into a stream of the web", async () => {
  await using hub = await hubWith(sends(bytes));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const [, arrived] = await Promise.all([
    hub.client.assets.download("a-7", writable),
    new Response(readable).arrayBuffer(),
  ]);
  expect(Buffer.from(arrived).equals(bytes)).toBe(true);
});

test.each([
  ["longer", Buffer.concat([bytes, bytes])],
  ["shorter", bytes.subarray(1)],
])("%s content than the asset has is refused, and leaves no file", async (kind, content) => {
  const headers = { "transfer-encoding": "chunked" };
  await using hub = await hubWith(sends(content, headers));
  const path = join(folder, `${kind}.png`);
  await expect(hub.client.assets.download("a-7", path)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
  });
  expect(readdirSync(folder).filter((name) => name.startsWith(kind))).toEqual([]);
});

test("a length that is not the asset's is refused before it is read", async () => {
  await using hub = await hubWith(sends(bytes.subarray(1), { "content-length": bytes.length - 1 }));
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("149999 bytes, but the asset 150000"),
  });
});

test("more than 10 MiB is refused where the service does not tell the size", async () => {
  await using hub = await hubWith(sends(Buffer.alloc(10_485_761)));
  hub.about = {};
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({ code: "BAD_RESPONSE" });
});

test("content that breaks off is no content", async () => {
  await using hub = await hubWith((_request, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, 50_000), () => response.destroy());
  });
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({ code: "UNREACHABLE" });
});

test.each([401, 403, 410])("an address answered with %i is renewed once", async (refusal) => {
  await using hub = await hubWith(status(refusal), sends(bytes));
  expect((await hub.client.assets.download("a-7")).bytes).toEqual(new Uint8Array(bytes));
  expect(hub.log).toEqual([
    "GET /assets/a-7",
    "GET /content/a-7?signature=s1",
    "GET /assets/a-7",
    "GET /content/a-7?signature=s2",
  ]);
});

test("an address that fails for a moment is asked once more, after the wait it asks for", async () => {
  await using hub = await hubWith(status(503, { "retry-after": "2" }), sends(bytes));
  expect((await hub.client.assets.download("a-7")).size).toBe(bytes.length);
  expect(hub.log).toHaveLength(3);
  expect(hub.clock.slept).toEqual([2_000]);
});

test("an address that fails again is told as it is", async () => {
  await using hub = await hubWith(status(503));
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(hub.log).toHaveLength(3);
});

test("an address that is refused again is not renewed again", async () => {
  await using hub = await hubWith(status(403));
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({
    code: "REJECTED",
    message: expect.not.stringContaining("signature"),
  });
  expect(hub.log).toHaveLength(4);
});

test("a target that cannot be written to is the caller's, with its cause", async () => {
  await using hub = await hubWith(sends(bytes));
  await expect(
    hub.client.assets.download("a-7", join(folder, "no", "such.png")),
  ).rejects.toMatchObject({ code: "INPUT_INVALID", cause: { code: "ENOENT" } });
});

test("get gives what the service says, and nothing more", async () => {
  await using hub = await hubWith(status(200));
  hub.about = { name: "receipt.png", contentUrlExpiry: "never" };
  expect(await hub.client.assets.get("a-7")).toEqual({
    id: "a-7",
    name: "receipt.png",
    contentUrl: `${hub.origin}/content/a-7?signature=s1`,
  });
});

test.each([
  [403, "IN_USE"],
  [400, "IN_USE"],
  [409, "IN_USE"],
  [404, "NOT_FOUND"],
])("a deletion that is refused with %i is %s", async (refusal, code) => {
  await using hub = await hubWith(status(200));
  hub.deletion = status(refusal);
  await expect(hub.client.assets.delete("a-7")).rejects.toMatchObject({
    code,
    details: { status: refusal },
  });
});

test("a deletion is one call", async () => {
  await using hub = await hubWith(status(200));
  await hub.client.assets.delete("a-7");
  expect(hub.log).toEqual(["DELETE /assets/a-7"]);
});

test.each([
  ["is gone by an attempt whose answer was lost", 500, undefined],
  ["was never there", 404, "NOT_FOUND"],
])("a deletion of what %s succeeds or fails by that", async (_, first, code) => {
  await using hub = await hubWith(status(200));
  hub.deletion = (...call) => {
    const isFirst = hub.log.filter((line) => line.startsWith("DELETE")).length === 1;
    status(isFirst ? first : 404)(...call);
  };
  const outcome = await hub.client.assets.delete("a-7").catch((error) => error.code);
  expect(outcome).toBe(code);
});
