import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { get, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import type { ConversationClient, UploadOptions } from "../../sdk/runtime/index.js";
import { AssetHub, status } from "./support/asset-hub.js";
import { served } from "./support/callback-calls.js";

const folder = mkdtempSync(join(tmpdir(), "conversation-connections-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const times = 1_000;
const atOnce = 25;
const bytes = randomBytes(100_000);
const about = { name: "receipt.png", size: bytes.length, contentType: "image/png" };
const named = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;
const streamed: UploadOptions = { ...named, size: bytes.length };

/** A content that begins and never ends: nothing but leaving it gives its connection back. */
const stuck = (_request: unknown, response: ServerResponse): void => {
  response.writeHead(200, { "content-length": bytes.length });
  response.write(bytes.subarray(0, 5_000));
};

const whole = (_request: unknown, response: ServerResponse): void => {
  response.writeHead(200, { "content-length": bytes.length }).end(bytes);
};

/** Does something many times, some of it side by side; every one of them fails. */
const repeated = async (one: () => Promise<unknown>): Promise<Set<unknown>> => {
  const codes = new Set<unknown>();
  const worker = async () => {
    for (let done = 0; done < times / atOnce; done++) {
      const failure: unknown = await one().then(
        () => "done",
        (error) => error.code,
      );
      codes.add(failure);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return codes;
};

/** A transfer that nothing is wrong with. It fails where it takes longer than a second. */
const worksAtOnce = async (hub: AssetHub): Promise<void> => {
  const { assets } = hub.client;
  hub.content = [whole];
  const timeoutMs = 1_000;
  expect((await assets.download("a-1", undefined, { timeoutMs })).size).toBe(bytes.length);
  hub.content = [status(200)];
  expect(await assets.upload(bytes, { ...named, timeoutMs })).toMatchObject({ size: bytes.length });
};

const hubWith = async (...content: AssetHub["content"]): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = about;
  hub.content = content;
  return hub;
};

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

const wrongProgress = {
  onProgress: () => {
    throw new Error("progress bar");
  },
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
  ["into no folder", "INPUT_INVALID", (assets) => assets.download("a-1", join(folder, "no", "a"))],
  ["that are given up", "CANCELLED", (assets) => givenUp(assets)],
  ["that are given up, into a stream", "CANCELLED", (assets) => givenUp(assets, full())],
  ["that are given up in front of a full stream", "CANCELLED", abortedWhileFull],
  [
    "whose progress fails",
    "INPUT_INVALID",
    (assets) => assets.download("a-1", undefined, wrongProgress),
  ],
])("1,000 downloads %s leave every connection free", async (_, code, download) => {
  await using hub = await hubWith(stuck);
  expect(await repeated(() => download(hub.client.assets))).toEqual(new Set([code]));
  await worksAtOnce(hub);
});

test("1,000 downloads with wrong sizes leave every connection free", async () => {
  await using hub = await hubWith(stuck);
  hub.about = { ...about, size: 7 };
  const codes = await repeated(() => hub.client.assets.download("a-1"));
  expect(codes).toEqual(new Set(["BAD_RESPONSE"]));
  hub.about = about;
  await worksAtOnce(hub);
});

test("1,000 refusals with a body that never ends leave every connection free", async () => {
  await using hub = await hubWith((_request, response) => {
    response.writeHead(404, { "content-length": 10_000_000 }).write(bytes);
  });
  const codes = await repeated(() => hub.client.assets.download("a-1"));
  expect(codes).toEqual(new Set(["REJECTED"]));
  await worksAtOnce(hub);
});

test("a server passes content on to 1,000 browsers that leave early", async () => {
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

/** Begins, and then nothing more comes. */
const endless = (): Readable => {
  const source = new PassThrough();
  source.write(bytes.subarray(0, 5_000));
  return source;
};

const failingSource = (): Readable =>
  Readable.from(
    (async function* () {
      yield bytes.subarray(0, 5_000);
      throw new Error("disk");
    })(),
  );

const abortedUpload = (assets: Assets) => {
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  return assets.upload(endless(), { ...streamed, onProgress, signal: controller.signal });
};

test.each<[string, string, (assets: Assets) => Promise<unknown>]>([
  ["whose source fails", "INPUT_INVALID", (assets) => assets.upload(failingSource(), streamed)],
  ["that are given up", "CANCELLED", abortedUpload],
  [
    "whose progress fails",
    "INPUT_INVALID",
    (assets) => assets.upload(bytes, { ...named, ...wrongProgress }),
  ],
  [
    "that are longer than announced",
    "INPUT_INVALID",
    (assets) => assets.upload(Readable.from([bytes]), { ...named, size: 5 }),
  ],
])("1,000 uploads %s leave every connection free", async (_, code, upload) => {
  await using hub = await hubWith(status(200));
  expect(await repeated(() => upload(hub.client.assets))).toEqual(new Set([code]));
  await worksAtOnce(hub);
});

/** One stream of each kind, and when all of them have been ended. */
const openStreams = () => {
  const file = createReadStream(__filename);
  const cancelled = Promise.withResolvers<void>();
  const web = new ReadableStream<Uint8Array>({
    pull: () => new Promise(() => {}),
    cancel: () => cancelled.resolve(),
  });
  const returned = Promise.withResolvers<IteratorResult<Uint8Array>>();
  const other: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => other,
    next: () => new Promise(() => {}),
    return: async () => {
      returned.resolve({ done: true, value: undefined });
      return returned.promise;
    },
  };
  const ended = Promise.all([once(file, "close"), cancelled.promise, returned.promise]);
  return { streams: [file, web, other], ended };
};

test.each(["the asset is refused", "the size is missing", "it is given up"])(
  "a stream is ended where %s",
  async (why) => {
    await using hub = await hubWith(status(200));
    if (why === "the asset is refused") hub.about = { contentUrl: "" };
    const controller = new AbortController();
    const { size: _size, ...withoutSize } = streamed;
    const options = why === "the size is missing" ? withoutSize : streamed;
    const { streams, ended } = openStreams();
    const { signal } = controller;
    const all = streams.map((each) => hub.client.assets.upload(each, { ...options, signal }));
    if (why === "it is given up") controller.abort();
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await ended;
  },
);

test("a stream that fails before anybody reads it ends the upload, not the process", async () => {
  await using hub = await hubWith(status(200));
  const source = new PassThrough();
  const sending = hub.client.assets.upload(source, streamed);
  source.destroy(new Error("disk"));
  await expect(sending).rejects.toMatchObject({
    code: "INPUT_INVALID",
    cause: { message: "disk" },
  });
});

test("a target that fails before content comes ends the download, not the process", async () => {
  await using hub = await hubWith(whole);
  const target = new PassThrough();
  const loading = hub.client.assets.download("a-1", target);
  target.destroy(new Error("gone"));
  await expect(loading).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test("a stream stays open where there is no such asset, so that the caller can say so", async () => {
  await using hub = await hubWith(status(404));
  const target = new PassThrough();
  await expect(hub.client.assets.download("a-1", target)).rejects.toMatchObject({
    code: "REJECTED",
  });
  expect([target.destroyed, target.writableEnded, target.listenerCount("error")]).toEqual([
    false,
    false,
    0,
  ]);
});

test.each([
  ["a stream that was read", () => Readable.from([]).destroy(), "read or closed"],
  [
    "a locked stream",
    () => {
      const source = new Blob(["x"]).stream();
      source.getReader();
      return source;
    },
    "locked",
  ],
])("%s is refused before anything is sent", async (_, source, rule) => {
  await using hub = await hubWith(status(200));
  await expect(hub.client.assets.upload(source(), streamed)).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(rule),
  });
  expect(hub.calls).toEqual([]);
});
