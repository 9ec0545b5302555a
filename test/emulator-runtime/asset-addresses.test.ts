import { expect, test } from "vitest";
import { bytesOf, codeOf, content, create, send, uploaded } from "./asset-calls.js";
import { hub } from "./hub.js";

test("an upload address is good once", async () => {
  const all = await hub();
  const { contentUrl } = await uploaded(all);
  expect(codeOf(await send(all, "POST", contentUrl, content))).toEqual([403, "403-100"]);
});

test("an upload address that was used is refused before the content is looked at", async () => {
  const all = await hub();
  const { contentUrl } = await uploaded(all);
  expect((await send(all, "POST", contentUrl, content.subarray(1), "text/plain")).status).toBe(403);
});

test("an address ends when its time is over, on the emulator's clock", async () => {
  const all = await hub({ switches: { assetUrlLifetime: 60 } });
  const { json } = await create(all);
  const { id } = await uploaded(all);
  const got = (await all.service.call("GET", `/assets/${id}`)).json;
  all.service.emulator.advance(59_999);
  expect((await send(all, "GET", got.contentUrl)).status).toBe(200);
  all.service.emulator.advance(1);
  expect(codeOf(await send(all, "GET", got.contentUrl))).toEqual([403, "403-100"]);
  expect(codeOf(await send(all, "POST", json.contentUrl, content))).toEqual([403, "403-100"]);
  const renewed = (await all.service.call("GET", `/assets/${id}`)).json;
  expect((await bytesOf(renewed.contentUrl)).equals(content)).toBe(true);
});

/** Changes one part of an address. */
const altered: readonly (readonly [string, (url: URL, other: URL) => void])[] = [
  [
    "another id",
    (url, other) => {
      url.pathname = other.pathname;
    },
  ],
  ["a later end", (url) => url.searchParams.set("expires", "9999999999999")],
  [
    "another signature",
    (url, other) => url.searchParams.set("signature", other.searchParams.get("signature") ?? ""),
  ],
  [
    "one bit of the signature",
    (url) => {
      const signature = url.searchParams.get("signature") ?? "";
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const last = alphabet.charAt(alphabet.indexOf(signature.slice(-1)) ^ 1);
      url.searchParams.set("signature", signature.slice(0, -1) + last);
    },
  ],
  ["no signature", (url) => url.searchParams.delete("signature")],
  ["another method", (url) => url.searchParams.set("method", "GET")],
  ["a further member", (url) => url.searchParams.append("expires", "1")],
];

test.each(altered)("an address with %s is refused", async (_what, change) => {
  const all = await hub();
  const url = new URL(String((await create(all)).json.contentUrl));
  const other = new URL(String((await create(all)).json.contentUrl));
  change(url, other);
  expect(codeOf(await send(all, "POST", url, content))).toEqual([403, "403-100"]);
});

test("an address for one direction is none for the other", async () => {
  const all = await hub();
  const { id, contentUrl } = await uploaded(all);
  const { json } = await all.service.call("GET", `/assets/${id}`);
  expect((await send(all, "GET", contentUrl)).status).toBe(403);
  expect((await send(all, "POST", json.contentUrl, content)).status).toBe(403);
  expect((await send(all, "DELETE", json.contentUrl)).status).toBe(403);
});
