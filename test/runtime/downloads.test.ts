import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { openContentTransfer } from "../../sdk/runtime/content-transfer.js";
import { status } from "./support/asset-hub.js";
import {
  about,
  bytes,
  giveUpAll,
  hubWith,
  newController,
  repeated,
  stuck,
  times,
  worksAtOnce,
} from "./support/many-transfers.js";

const sends =
  (content: Uint8Array, headers: Record<string, string | number> = {}) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "image/png", ...headers }).end(content);
  };

test("content comes back as bytes, fetched without the token", async () => {
  await using hub = await hubWith(sends(bytes));
  const asset = await hub.client.assets.download("a-7");
  expect(asset).toMatchObject({ id: "a-7", ...about });
  expect(bytes.equals(asset.bytes)).toBe(true);
  expect(asset).not.toHaveProperty("contentUrl");
  expect(hub.log).toEqual(["GET /assets/a-7", "GET /content/a-7?signature=s1"]);
  expect(hub.calls[1]?.headers).not.toHaveProperty("authorization");
  expect(hub.calls[1]?.headers).toMatchObject({ "accept-encoding": "identity" });
});

test.each([
  ["longer", Buffer.concat([bytes, bytes])],
  ["shorter", bytes.subarray(1)],
])("%s content than the asset has is refused", async (_, content) => {
  await using hub = await hubWith(sends(content, { "transfer-encoding": "chunked" }));
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("but the asset specifies 100000"),
  });
});

test("more than 10 MiB is refused where the service does not give the size", async () => {
  await using hub = await hubWith(sends(Buffer.alloc(10_485_761)));
  hub.about = {};
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({ code: "BAD_RESPONSE" });
});

test("10 MiB are not too many", async () => {
  await using hub = await hubWith(sends(Buffer.alloc(10_485_760)));
  hub.about = {};
  expect((await hub.client.assets.download("a-7")).size).toBe(10_485_760);
});

test.each([
  ["no server", "http://127.0.0.1:1/x", "no connection to 127.0.0.1:1 (ECONNREFUSED)"],
  ["no proxy", "https://files.example.com/x", "and the proxy 127.0.0.1:1 (HTTPS_PROXY)"],
])("where there is %s, the failure says so", async (_, address, said) => {
  for (const name of ["http_proxy", "https_proxy"]) vi.stubEnv(name, "");
  vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  await using hub = await hubWith(status(200));
  hub.address = address;
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: expect.stringContaining(said),
  });
});

test("content that breaks off is no content", async () => {
  await using hub = await hubWith((_request, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, 50_000), () => response.destroy());
  });
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({ code: "UNREACHABLE" });
});

test.each([403, 503])("an address answered with %i is renewed once", async (refusal) => {
  await using hub = await hubWith(status(refusal), sends(bytes));
  expect((await hub.client.assets.download("a-7")).size).toBe(bytes.length);
  expect(hub.log).toEqual([
    "GET /assets/a-7",
    "GET /content/a-7?signature=s1",
    "GET /assets/a-7",
    "GET /content/a-7?signature=s2",
  ]);
});

test("an address that is refused again is not renewed again", async () => {
  await using hub = await hubWith(status(403));
  await expect(hub.client.assets.download("a-7")).rejects.toMatchObject({
    code: "REJECTED",
    message: expect.not.stringContaining("signature"),
  });
  expect(hub.log).toHaveLength(4);
});

test("get gives what the service says, and nothing more", async () => {
  await using hub = await hubWith(status(200));
  hub.about = { name: "receipt.png", contentUrlExpiry: "never" };
  expect(await hub.client.assets.get("a-7")).toEqual({
    id: "a-7",
    name: "receipt.png",
    contentUrl: `${hub.origin}/content/a-7?signature=s1`,
  });
});

test("the time at which an address expires is in GMT, if it has no zone", async () => {
  await using hub = await hubWith(status(200));
  hub.about = { contentUrlExpiry: "2026-01-02 03:04:05.006" };
  const { contentUrlExpiry } = await hub.client.assets.get("a-7");
  expect(contentUrlExpiry).toEqual(new Date("2026-01-02T03:04:05.006Z"));
});

test.each([
  [403, "IN_USE", "interaction.manage"],
  [403, "FORBIDDEN", "interaction.read"],
  [404, "NOT_FOUND", "interaction.manage"],
])("a deletion that is refused with %i is %s with the scope %s", async (refusal, code, scope) => {
  await using hub = await hubWith(status(200));
  hub.scope = `app.conversation.conversationmgr.${scope}`;
  hub.deletion = status(refusal);
  await expect(hub.client.assets.delete("a-7")).rejects.toMatchObject({
    code,
    details: { status: refusal },
  });
});

test("a deletion is one call", async () => {
  await using hub = await hubWith(status(200));
  await hub.client.assets.delete("a-7");
  expect(hub.log).toEqual(["DELETE /assets/a-7"]);
});

test.each([
  ["is gone by an attempt whose answer was lost", 500, undefined],
  ["was never there", 404, "NOT_FOUND"],
])("a deletion of what %s succeeds or fails by that", async (_, first, code) => {
  await using hub = await hubWith(status(200));
  hub.deletion = (...call) => {
    const isFirst = hub.log.filter((line) => line.startsWith("DELETE")).length === 1;
    status(isFirst ? first : 404)(...call);
  };
  const outcome = await hub.client.assets.delete("a-7").catch((error) => error.code);
  expect(outcome).toBe(code);
});

test("a download that waits for a connection is given up at once", async () => {
  await using hub = await hubWith(stuck);
  const [others, own] = [new AbortController(), new AbortController()];
  let begun = 0;
  const transfer = openContentTransfer(({ type }) => {
    begun += type === "sending" ? 1 : 0;
    if (begun === 9) setImmediate(() => own.abort());
  });
  const url = new URL("/content/a-1", hub.origin);
  const get = ({ signal }: AbortController) => transfer.get({ what: "download", url, signal });
  const open = Array.from({ length: 8 }, () => get(others).catch(({ code }) => code));
  await vi.waitFor(() => expect(hub.log).toHaveLength(8));
  await expect(get(own)).rejects.toMatchObject({ code: "CANCELLED" });
  others.abort();
  expect(await Promise.all(open)).toEqual(Array(8).fill("CANCELLED"));
  await transfer.close();
});

// So many transfers take a while on a busy machine; what counts is the one after them.
vi.setConfig({ testTimeout: 180_000 });

test(`${times} downloads that are given up leave every connection free`, async () => {
  const open = new Set<AbortController>();
  await using hub = await hubWith((request, response) => {
    stuck(request, response);
    giveUpAll(open);
  });
  const codes = await repeated(() => {
    const { signal } = newController(open);
    return hub.client.assets.download("a-1", { signal });
  });
  expect(codes).toEqual(new Set(["CANCELLED"]));
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
