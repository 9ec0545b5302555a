import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import type { UploadOptions } from "../../../sdk/runtime/index.js";
import { AssetHub, status } from "./asset-hub.js";

/** Transfers of one sort: `npm run test:long` makes 1,000 of each. */
export const times = Number(process.env.TRANSFERS ?? 50);
const atOnce = 25;
export const bytes = randomBytes(100_000);
export const about = { name: "receipt.png", size: bytes.length, contentType: "image/png" };
export const named = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;
export const streamed: UploadOptions = { ...named, size: bytes.length };

/** A content that begins and never ends: nothing but leaving it gives its connection back. */
export const stuck = (_request: unknown, response: ServerResponse): void => {
  response.writeHead(200, { "content-length": bytes.length });
  response.write(bytes.subarray(0, 5_000));
};

export const whole = (_request: unknown, response: ServerResponse): void => {
  response.writeHead(200, { "content-length": bytes.length }).end(bytes);
};

/** Does something many times, some of it side by side; every one of them fails. */
export const repeated = async (one: () => Promise<unknown>): Promise<Set<unknown>> => {
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
export const worksAtOnce = async (hub: AssetHub): Promise<void> => {
  const { assets } = hub.client;
  hub.content = [whole];
  const timeoutMs = 1_000;
  expect((await assets.download("a-1", undefined, { timeoutMs })).size).toBe(bytes.length);
  hub.content = [status(200)];
  expect(await assets.upload(bytes, { ...named, timeoutMs })).toMatchObject({ size: bytes.length });
};

export const hubWith = async (...content: AssetHub["content"]): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = about;
  hub.content = content;
  return hub;
};

/** Options of a transfer whose progress cannot be shown. */
export const wrongProgress = {
  onProgress: () => {
    throw new Error("progress bar");
  },
};
