import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import {
  type ContentSource,
  type ConversationClient,
  largestAsset,
  type UploadOptions,
} from "../../sdk/runtime/index.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { AssetHub, status } from "./support/asset-hub.js";
import {
  hubWith,
  repeated,
  streamed,
  times,
  worksAtOnce,
  wrongProgress,
} from "./support/many-transfers.js";

const folder = folderOfFile();

const bytes = randomBytes(200_000);
const file = join(folder, "receipt.PNG");
writeFileSync(file, bytes);

const from = { channel: "custom.kiosk", sender: "customer" } as const;
const named = { ...from, name: "receipt.png" } as const;
const pieces = () => Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]);

test("create sends what the public reference shows and gives the address", async () => {
  await using hub = await AssetHub.start();
  hub.about = { contentUrlExpiry: "2026-01-01T00:05:00.000Z" };
  const asset = await hub.client.assets.create({ ...named, sender: "platform_bot", size: 20480 });
  expect(hub.log).toEqual(["POST /assets"]);
  expect(JSON.parse(hub.calls[0]?.body.toString() ?? "")).toEqual({
    channel: { type: "custom.kiosk" },
    sender: { type: "platform_bot" },
    name: "receipt.png",
    size: 20480,
  });
  expect(asset).toEqual({
    id: "a-1",
    name: "receipt.png",
    size: 20480,
    contentType: "image/png",
    contentUrl: `${hub.origin}/content/a-1?signature=s1`,
    contentUrlExpiry: new Date("2026-01-01T00:05:00.000Z"),
  });
});

test.each<[string, () => ContentSource, UploadOptions]>([
  ["a file", () => file, from],
  ["bytes", () => bytes, named],
  ["an array buffer", () => new Uint8Array(bytes).buffer, named],
  ["a blob", () => new Blob([bytes]), named],
  ["a stream of Node", pieces, { ...named, size: bytes.length }],
  ["a stream of the web", () => new Blob([bytes]).stream(), { ...named, size: bytes.length }],
  ["a function that opens a stream", () => pieces, { ...named, size: bytes.length }],
])("%s is posted to the signed address, without the token", async (_, source, options) => {
  await using hub = await AssetHub.start();
  const asset = await hub.client.assets.upload(source(), options);
  expect(asset).toMatchObject({ id: "a-1", size: bytes.length, contentType: "image/png" });
  expect(hub.log).toEqual(["POST /assets", "POST /content/a-1?signature=s1"]);
  const upload = hub.calls[1];
  expect(upload?.body.equals(bytes)).toBe(true);
  expect(upload?.headers).toMatchObject({
    "content-type": "image/png",
    "content-length": `${bytes.length}`,
  });
  expect(upload?.headers).not.toHaveProperty("authorization");
});

test("progress is reported as it goes, up to the end", async () => {
  await using hub = await AssetHub.start();
  const seen: number[] = [];
  await hub.client.assets.upload(bytes, {
    ...named,
    onProgress: (now) => seen.push(now.transferred),
  });
  expect(seen.at(-1)).toBe(bytes.length);
  expect(seen.length).toBeGreaterThan(2);
  expect([...seen].sort((a, b) => a - b)).toEqual(seen);
});

test.each<[string, ContentSource, UploadOptions, string]>([
  [
    "more than 10 MiB",
    new Uint8Array(largestAsset + 1),
    named,
    "has 10,485,761 bytes; 1 to 10,485,760 (10 MiB)",
  ],
  ["nothing", new Uint8Array(), named, "has 0 bytes"],
  ["a size that is not the file's", file, { ...from, size: 5 }, "size is 200000"],
  ["a stream without a size", pieces(), named, "set the size option"],
  ["bytes without a name", bytes, from, "set the name option"],
  [
    "a name without an extension",
    bytes,
    { ...from, name: "receipt" },
    "file name with an extension",
  ],
  ["a name of 256 characters", bytes, { ...from, name: `${"x".repeat(252)}.png` }, "255"],
  ["another content type", bytes, { ...named, contentType: "image/gif" }, "image/png"],
  ["a file that is not there", join(folder, "no.png"), from, "is not a readable file"],
  ["a folder", folder, from, "is not a readable file"],
  ["no channel", bytes, { ...named, channel: "" }, "channel"],
])("%s is refused before anything is sent", async (_, source, options, rule) => {
  await using hub = await AssetHub.start();
  await expect(hub.client.assets.upload(source, options)).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(rule),
  });
  expect(hub.calls).toEqual([]);
});

test("a content type with parameters is the same type", async () => {
  await using hub = await AssetHub.start();
  const options = { ...from, name: "a.txt", contentType: "Text/Plain; charset=utf-8" };
  expect(await hub.client.assets.upload(bytes, options)).toMatchObject({
    contentType: "text/plain",
  });
});

test.each([
  ["more", bytes.length - 1, "more bytes than declared (199999)"],
  ["fewer", bytes.length + 1, "only 200000 of 200001 bytes"],
])(
  "a stream of %s bytes than announced is given up, and leaves no asset",
  async (_, size, rule) => {
    await using hub = await AssetHub.start();
    await expect(hub.client.assets.upload(pieces(), { ...named, size })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(rule),
    });
    expect(hub.log.filter((line) => !line.includes("/content/"))).toEqual([
      "POST /assets",
      "DELETE /assets/a-1",
    ]);
  },
);

test.each([401, 403, 410])("an address answered with %i is renewed once", async (refusal) => {
  await using hub = await AssetHub.start();
  hub.content = [status(refusal), status(200)];
  expect(await hub.client.assets.upload(file, from)).toMatchObject({ id: "a-2" });
  expect(hub.log).toEqual([
    "POST /assets",
    "POST /content/a-1?signature=s1",
    "DELETE /assets/a-1",
    "POST /assets",
    "POST /content/a-2?signature=s2",
  ]);
  expect(hub.calls.at(-1)?.body.equals(bytes)).toBe(true);
});

test("an address that is refused again is not renewed again, and leaves no asset", async () => {
  await using hub = await AssetHub.start();
  hub.content = [status(403)];
  await expect(hub.client.assets.upload(file, from)).rejects.toMatchObject({
    code: "REJECTED",
    details: { status: 403 },
  });
  expect(hub.log.filter((line) => line.startsWith("POST /assets"))).toHaveLength(2);
  expect(hub.log.filter((line) => line.startsWith("DELETE"))).toEqual([
    "DELETE /assets/a-1",
    "DELETE /assets/a-2",
  ]);
});

test("an address that has run out already is renewed before a stream is read", async () => {
  await using hub = await AssetHub.start();
  hub.about = { contentUrlExpiry: "2020-01-01T00:00:00.000Z" };
  await hub.client.assets.upload(pieces(), { ...named, size: bytes.length });
  expect(hub.log).toEqual([
    "POST /assets",
    "DELETE /assets/a-1",
    "POST /assets",
    "POST /content/a-2?signature=s2",
  ]);
});

test("a stream that was read is not sent again", async () => {
  await using hub = await AssetHub.start();
  hub.content = [status(403)];
  const options = { ...named, size: bytes.length };
  await expect(hub.client.assets.upload(pieces(), options)).rejects.toMatchObject({
    code: "REJECTED",
    message: expect.stringContaining("function"),
  });
  expect(hub.log.filter((line) => line.startsWith("POST /assets"))).toHaveLength(1);
});

test.each([
  [400, "REJECTED"],
  [413, "REJECTED"],
  [503, "UNAVAILABLE"],
])(
  "a signed address that answers %i is %s, and the address stays secret",
  async (code, expected) => {
    await using hub = await AssetHub.start();
    hub.content = [status(code)];
    await expect(hub.client.assets.upload(file, from)).rejects.toMatchObject({
      code: expected,
      message: expect.not.stringContaining("signature"),
    });
  },
);

test("an answer without an address cannot be used", async () => {
  await using hub = await AssetHub.start();
  hub.about = { contentUrl: "" };
  await expect(hub.client.assets.upload(file, from)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    effect: "done",
  });
});

writeFileSync(file, bytes);

test.each<[string, () => ContentSource, UploadOptions]>([
  ["a file", () => file, from],
  ["bytes", () => bytes, named],
  ["a function that opens a stream", () => pieces, { ...named, size: bytes.length }],
])("%s is sent once more where the address fails for a moment", async (_, source, options) => {
  await using hub = await AssetHub.start();
  hub.content = [status(503), status(200)];
  expect(await hub.client.assets.upload(source(), options)).toMatchObject({ id: "a-1" });
  expect(hub.log).toEqual([
    "POST /assets",
    "POST /content/a-1?signature=s1",
    "POST /content/a-1?signature=s1",
  ]);
  expect(hub.calls.at(-1)?.body.equals(bytes)).toBe(true);
  expect(hub.clock.slept).toEqual([500]);
});

test.each<[string, () => ContentSource, string, Record<string, string>]>([
  ["a stream", pieces, "2026-01-01T01:00:00Z", {}],
  ["bytes whose address runs out before", () => bytes, "2026-01-01T00:00:00.400Z", {}],
  ["bytes after a long wait", () => bytes, "2026-01-01T01:00:00Z", { "retry-after": "90" }],
])("%s: no second attempt where the address fails", async (_, source, until, headers) => {
  await using hub = await AssetHub.start();
  hub.about = { contentUrlExpiry: until };
  hub.content = [status(503, headers), status(200)];
  const options = { ...named, size: bytes.length };
  await expect(hub.client.assets.upload(source(), options)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(hub.log).toEqual(["POST /assets", "POST /content/a-1?signature=s1", "DELETE /assets/a-1"]);
});

test("a progress callback fails as the caller's, with its cause", async () => {
  await using hub = await AssetHub.start();
  const cause = new Error("progress bar");
  const failing = () => {
    throw cause;
  };
  for (const onProgress of [failing, () => Promise.reject(cause)]) {
    await expect(hub.client.assets.upload(bytes, { ...named, onProgress })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("onProgress"),
      cause,
    });
  }
});

// So many transfers take a while on a busy machine; what counts is the one after them.
vi.setConfig({ testTimeout: 180_000 });

type Assets = ConversationClient["assets"];

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
])(`${times} uploads %s leave every connection free`, async (_, code, upload) => {
  await using hub = await hubWith(status(200));
  expect(await repeated(() => upload(hub.client.assets))).toEqual(new Set([code]));
  await worksAtOnce(hub);
});
