import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { exchangeCode, type UploadOptions } from "../../sdk/runtime/index.js";
import { codeFromRedirect } from "../../sdk/runtime/pkce.js";
import { ManualClock } from "../service/support/clocks.js";
import { status } from "./support/asset-hub.js";
import { call, message, never, progressed, receiver } from "./support/callback-calls.js";
import { hubWith, named, whole } from "./support/many-transfers.js";

const three: UploadOptions = { ...named, size: 3 };
const okay = status(200);

test("bytes of another realm are bytes", async () => {
  await using hub = await hubWith(okay);
  const other: { bytes: Uint8Array; buffer: ArrayBuffer } = runInNewContext(
    "({ bytes: new Uint8Array([1, 2, 3]), buffer: new Uint8Array([1, 2, 3]).buffer })",
  );
  expect(other.bytes).not.toBeInstanceOf(Uint8Array);
  const pieces = async function* () {
    yield other.bytes;
  };
  for (const source of [other.bytes, other.buffer, pieces()])
    expect(await hub.client.assets.upload(source, three)).toMatchObject({ size: 3 });
  const bodies = hub.calls.filter(({ line }) => line.includes("/content/"));
  expect(bodies.map(({ body }) => [...body])).toEqual(Array(3).fill([1, 2, 3]));
});

test("a progress callback that never ends ends with the time of the transfer", async () => {
  await using hub = await hubWith(whole);
  const options = { onProgress: never, timeoutMs: 50 };
  const { assets } = hub.client;
  for (const download of [
    () => assets.download("a-1", undefined, options),
    () => assets.download("a-1", new WritableStream(), options),
  ])
    await expect(download()).rejects.toMatchObject({ code: "TIMED_OUT" });
});

test("an upload that takes too long leaves no asset", async () => {
  await using hub = await hubWith(() => {});
  const late = hub.client.assets.upload(Buffer.from("abc"), { ...named, timeoutMs: 1000 });
  await expect(late).rejects.toMatchObject({ code: "TIMED_OUT" });
  expect(hub.log.at(-1)).toMatch(/^DELETE /);
});

test("an error handler that is called, and never comes back, does not hold up the conversation", async () => {
  const clock = new ManualClock();
  const taken: string[] = [];
  const { handler } = receiver({
    clock,
    messageTimeoutMs: 1_000,
    onError: never,
    onMessage: ({ id = "" }) => {
      taken.push(id);
      if (id === "1") throw new Error("work");
    },
  });
  await call(handler, message("1"), message("2"));
  await progressed();
  expect(taken).toEqual(["1"]);
  clock.advance(1_000);
  await handler.idle();
  expect(taken).toEqual(["1", "2"]);
});

const exchange = {
  clientId: "spa-1",
  redirectUri: "https://app.example.com/back",
  code: "c",
  verifier: "v".repeat(43),
};

test.each<[string, unknown]>([
  ["null", null],
  ["no status", { text: async () => '{"access_token": "t"}' }],
  ["a number", { status: 200, text: async () => 5 }],
])("a fetch that gives %s is reported as a failure", async (_, answer) => {
  // What a caller without type checks may give.
  const fetch = async () => JSON.parse("null") ?? answer;
  const exchanged = exchangeCode({ ...exchange, tokenUrl: "https://h.example/t", fetch });
  await expect(exchanged).rejects.toMatchObject({ name: "ConversationError" });
});

test("a redirect with a second state is refused", () => {
  const redirect = "https://app.example.com/back?code=c&state=s&state=t";
  expect(() => codeFromRedirect(redirect, "s")).toThrow(/state/);
  expect(() => codeFromRedirect(redirect, "s,t")).toThrow(/state/);
});
