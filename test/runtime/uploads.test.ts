import { randomBytes } from "node:crypto";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { type ContentSource, largestAsset, type UploadOptions } from "../../sdk/runtime/index.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { AssetHub, status } from "./support/asset-hub.js";
import {
  giveUpAll,
  hubWith,
  named,
  newController,
  repeated,
  times,
  worksAtOnce,
} from "./support/many-transfers.js";

const folder = folderOfFile();

const bytes = randomBytes(200_000);
const file = join(folder, "receipt.PNG");
writeFileSync(file, bytes);
const large = join(folder, "large.png");
writeFileSync(large, "");
truncateSync(large, 2 ** 32);

const from = { channel: "custom.kiosk", sender: "customer" } as const;

test("create sends what the public reference shows and gives the address", async () => {
  await using hub = await AssetHub.start();
  hub.about = { contentUrlExpiry: "2026-01-01T00:05:00.000Z" };
  const asset = await hub.client.assets.create({ ...named, sender: "platform_bot", size: 20480 });
  expect(hub.log).toEqual(["POST /assets"]);
  expect(JSON.parse(hub.calls[0]?.body.toString() ?? "")).toEqual({
    channel: { type: "custom.kiosk" },
    sender: { type: "platform_bot" },
    name: "a.png",
    size: 20480,
  });
  expect(asset).toEqual({
    id: "a-1",
    name: "a.png",
    size: 20480,
    contentType: "image/png",
    contentUrl: `${hub.origin}/content/a-1?signature=s1`,
    contentUrlExpiry: new Date("2026-01-01T00:05:00.000Z"),
  });
});

/** Bytes of another realm, as a test runner may have them. */
const foreign: Uint8Array = runInNewContext("new Uint8Array(200_000)");
foreign.set(bytes);

test.each<[string, ContentSource, UploadOptions, string]>([
  // Where it lies on this machine is nobody's business.
  ["a file", file, from, "receipt.PNG"],
  ["bytes", bytes, named, "a.png"],
  ["bytes of another realm", foreign, named, "a.png"],
])("%s is posted to the signed address, without the token", async (_, source, options, name) => {
  await using hub = await AssetHub.start();
  const asset = await hub.client.assets.upload(source, options);
  expect(asset).toEqual({ id: "a-1", name, size: bytes.length, contentType: "image/png" });
  expect(JSON.parse(String(hub.calls[0]?.body))).toMatchObject({ name });
  expect(hub.log).toEqual(["POST /assets", "POST /content/a-1?signature=s1"]);
  const upload = hub.calls[1];
  expect(upload?.body.equals(bytes)).toBe(true);
  expect(upload?.headers).toMatchObject({
    "content-type": "image/png",
    "content-length": `${bytes.length}`,
  });
  expect(upload?.headers).not.toHaveProperty("authorization");
});

test.each<[string, ContentSource, UploadOptions, string]>([
  [
    "more than 10 MiB",
    new Uint8Array(largestAsset + 1),
    named,
    "has 10,485,761 bytes; 1 to 10,485,760 (10 MiB)",
  ],
  ["a file of 4 GiB, which is not read", large, from, "has 4,294,967,296 bytes"],
  ["nothing", new Uint8Array(), named, "has 0 bytes"],
  ["bytes without a name", bytes, from, "set the name option"],
  ["a name without an extension", bytes, { ...from, name: "receipt" }, "with an extension"],
  ["a name of 256 characters", bytes, { ...from, name: `${"x".repeat(252)}.png` }, "255"],
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

test.each([401, 410, 503])("an address answered with %i is renewed once", async (refusal) => {
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

test.each([
  [403, 2, "REJECTED"],
  [503, 2, "UNAVAILABLE"],
  [413, 1, "REJECTED"],
])(
  "an address that always answers %i gets %i uploads and leaves no asset",
  async (code, count, expected) => {
    await using hub = await AssetHub.start();
    hub.content = [status(code)];
    await expect(hub.client.assets.upload(file, from)).rejects.toMatchObject({
      code: expected,
      details: { status: code },
      message: expect.not.stringContaining("signature"),
    });
    const made = hub.log.filter((line) => line === "POST /assets");
    const discarded = hub.log.filter((line) => line.startsWith("DELETE"));
    expect([made.length, discarded.length]).toEqual([count, count]);
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

test("what is given up before it begins sends nothing", async () => {
  await using hub = await AssetHub.start();
  const signal = AbortSignal.abort();
  for (const act of [
    hub.client.assets.upload(bytes, { ...named, signal }),
    hub.client.assets.download("a-1", { signal }),
  ])
    await expect(act).rejects.toMatchObject({ code: "CANCELLED" });
  expect(hub.log).toEqual([]);
});

test.each<[string, string, (client: AssetHub["client"], own: AbortController) => unknown]>([
  ["the client is closed", "CANCELLED", (client) => client.close()],
  ["the caller gives up", "CANCELLED", (_, own) => own.abort()],
  [
    "the caller's time is up",
    "TIMED_OUT",
    (_, own) => own.abort(new DOMException("late", "TimeoutError")),
  ],
])("a transfer ends when %s (%s)", async (_, code, end) => {
  await using hub = await AssetHub.start();
  const { client } = hub;
  const own = new AbortController();
  hub.content = [() => end(client, own)];
  const { signal } = own;
  await expect(client.assets.upload(bytes, { ...named, signal })).rejects.toMatchObject({ code });
});

// So many transfers take a while on a busy machine; what counts is the one after them.
vi.setConfig({ testTimeout: 180_000 });

test(`${times} uploads that are given up leave no asset, and every connection free`, async () => {
  const open = new Set<AbortController>();
  await using hub = await hubWith(() => giveUpAll(open));
  const codes = await repeated(() => {
    const { signal } = newController(open);
    return hub.client.assets.upload(bytes, { ...named, signal });
  });
  expect(codes).toEqual(new Set(["CANCELLED"]));
  const linesWith = (text: string) => hub.log.filter((line) => line.startsWith(text)).length;
  expect(linesWith("DELETE")).toBe(linesWith("POST /assets"));
  await worksAtOnce(hub);
});
