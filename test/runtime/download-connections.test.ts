import { once } from "node:events";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { expect, test, vi } from "vitest";
import type { ConversationClient } from "../../sdk/runtime/index.js";
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
