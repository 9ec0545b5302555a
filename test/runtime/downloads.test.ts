import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { get, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import type { ConversationClient } from "../../sdk/runtime/index.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { status } from "./support/asset-hub.js";
import { served } from "./support/callback-calls.js";
import {
  about,
  bytes,
  hubWith,
  repeated,
  stuck,
  times,
  worksAtOnce,
  wrongProgress,
} from "./support/many-transfers.js";

const folder = folderOfFile();

const sends =
  (content: Uint8Array, headers: Record<string, string | number> = {}) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "image/png", ...headers }).end(content);
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
    message: expect.stringContaining("size is 99999, but the asset specifies 100000"),
  });
});

test("more than 10 MiB is refused where the service does not give the size", async () => {
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

test("an address that fails again is reported as it is", async () => {
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

test("what the service says of a refused deletion is quoted with one stop", async () => {
  await using hub = await hubWith(status(200));
  const body = JSON.stringify({ code: "400-150", developerMessage: "The asset is in use." });
  hub.deletion = (_, response) => void response.writeHead(400).end(body);
  await expect(hub.client.assets.delete("a-7")).rejects.toThrow(
    "the service refused the deletion (400, 400-150, The asset is in use). An asset",
  );
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

// So many transfers take a while on a busy machine; what counts is the one after them.
vi.setConfig({ testTimeout: 180_000 });

const destroyed = (): Writable => new PassThrough().destroy();

/** Goes away as soon as content comes. */
const leaving = (): Writable =>
  new Writable({
    write(_piece, _encoding, done) {
      this.destroy();
      done();
    },
  });

const failing = (): Writable =>
  new Writable({ write: (_piece, _encoding, done) => done(new Error("disk full")) });

/** Takes one piece and never another: what stands behind it has stopped reading. */
const full = (): WritableStream<Uint8Array> =>
  new WritableStream({ write: () => new Promise(() => {}) });

const locked = (): WritableStream<Uint8Array> => {
  const target = new WritableStream<Uint8Array>();
  target.getWriter();
  return target;
};

const failingWeb = (): WritableStream<Uint8Array> =>
  new WritableStream({ write: () => Promise.reject(undefined) });

type Assets = ConversationClient["assets"];

/** Gives up while content comes. */
const givenUp = (assets: Assets, target?: WritableStream<Uint8Array>) => {
  const controller = new AbortController();
  const options = { onProgress: () => controller.abort(), signal: controller.signal };
  return target
    ? assets.download("a-1", target, options)
    : assets.download("a-1", undefined, options);
};

const abortedWhileFull = (assets: Assets) => {
  const controller = new AbortController();
  const target = new WritableStream<Uint8Array>({
    write: () => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    },
  });
  return assets.download("a-1", target, { signal: controller.signal });
};

test.each<[string, string, (assets: Assets) => Promise<unknown>]>([
  ["into a closed stream", "INPUT_INVALID", (assets) => assets.download("a-1", destroyed())],
  ["into a locked stream", "INPUT_INVALID", (assets) => assets.download("a-1", locked())],
  ["whose reader leaves", "INPUT_INVALID", (assets) => assets.download("a-1", leaving())],
  ["into a stream that fails", "INPUT_INVALID", (assets) => assets.download("a-1", failing())],
  [
    "into a web stream that fails",
    "INPUT_INVALID",
    (assets) => assets.download("a-1", failingWeb()),
  ],
  [
    "into no folder",
    "INPUT_INVALID",
    (assets) => assets.download("a-1", join(tmpdir(), "conversation-no-such-folder", "a")),
  ],
  ["that are given up", "CANCELLED", (assets) => givenUp(assets)],
  ["that are given up, into a stream", "CANCELLED", (assets) => givenUp(assets, full())],
  ["that are given up in front of a full stream", "CANCELLED", abortedWhileFull],
  [
    "whose progress fails",
    "INPUT_INVALID",
    (assets) => assets.download("a-1", undefined, wrongProgress),
  ],
])(`${times} downloads %s leave every connection free`, async (_, code, download) => {
  await using hub = await hubWith(stuck);
  expect(await repeated(() => download(hub.client.assets))).toEqual(new Set([code]));
  await worksAtOnce(hub);
});

test(`${times} downloads with wrong sizes leave every connection free`, async () => {
  await using hub = await hubWith(stuck);
  hub.about = { ...about, size: 7 };
  const codes = await repeated(() => hub.client.assets.download("a-1"));
  expect(codes).toEqual(new Set(["BAD_RESPONSE"]));
  hub.about = about;
  await worksAtOnce(hub);
});

test(`${times} refusals with a body that never ends leave every connection free`, async () => {
  await using hub = await hubWith((_request, response) => {
    response.writeHead(404, { "content-length": 10_000_000 }).write(bytes);
  });
  const codes = await repeated(() => hub.client.assets.download("a-1"));
  expect(codes).toEqual(new Set(["REJECTED"]));
  await worksAtOnce(hub);
});

test(`a server passes content on to ${times} browsers that leave early`, async () => {
  await using hub = await hubWith(stuck);
  const codes = new Set<unknown>();
  const failed = (error: { code?: unknown }) => void codes.add(error.code);
  await using server = await served((_request, response) => {
    void hub.client.assets.download("a-1", response).catch(failed);
  });
  await repeated(async () => {
    const request = get(server.url, { agent: false });
    const [response] = await once(request, "response");
    response.on("error", () => {});
    response.destroy();
  });
  await worksAtOnce(hub);
  expect(codes).toEqual(new Set(["INPUT_INVALID"]));
});
