import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import type { ContentSource, UploadOptions } from "../../sdk/runtime/index.js";
import { AssetHub, status } from "./support/asset-hub.js";

const folder = mkdtempSync(join(tmpdir(), "conversation-assets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytes = randomBytes(200_000);
const file = join(folder, "receipt.PNG");
writeFileSync(file, bytes);

const from = { channel: "custom.kiosk", sender: "customer" } as const;
const named = { ...from, name: "receipt.png" } as const;
const pieces = () => Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]);

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

test("what tells the progress fails as the caller's, with its cause", async () => {
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
