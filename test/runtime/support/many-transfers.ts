import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { AssetHub, status } from "./asset-hub.js";

/** Transfers of one sort: `npm run test:long` makes 1,000 of each. */
export const times = Number(process.env.TRANSFERS ?? 50);
const atOnce = 25;
export const bytes = randomBytes(100_000);
export const about = { name: "receipt.png", size: bytes.length, contentType: "image/png" };
export const named = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;

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

/** A transfer that nothing is wrong with. It fails where it takes longer than two seconds. */
export const worksAtOnce = async (hub: AssetHub): Promise<void> => {
  const { assets } = hub.client;
  const signal = AbortSignal.timeout(2_000);
  hub.content = [whole];
  expect((await assets.download("a-1", { signal })).size).toBe(bytes.length);
  hub.content = [status(200)];
  expect(await assets.upload(bytes, { ...named, signal })).toMatchObject({ size: bytes.length });
};

export const hubWith = async (...content: AssetHub["content"]): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = about;
  hub.content = content;
  return hub;
};

/** Something that can be given up, together with all others of the set. */
export const newController = (open: Set<AbortController>): AbortController => {
  const controller = new AbortController();
  open.add(controller);
  return controller;
};

export const giveUpAll = (open: Set<AbortController>): void => {
  for (const controller of open) controller.abort();
  open.clear();
};
