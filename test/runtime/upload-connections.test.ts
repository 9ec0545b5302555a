import { PassThrough, Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import type { ConversationClient } from "../../sdk/runtime/index.js";
import { status } from "./support/asset-hub.js";
import {
  bytes,
  hubWith,
  named,
  repeated,
  streamed,
  times,
  worksAtOnce,
  wrongProgress,
} from "./support/many-transfers.js";

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
