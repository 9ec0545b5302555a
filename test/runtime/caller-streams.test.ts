import { once } from "node:events";
import { createReadStream } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { status } from "./support/asset-hub.js";
import { hubWith, streamed, whole } from "./support/many-transfers.js";

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
