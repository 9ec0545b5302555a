import { describe, expect, test } from "vitest";
import { isId } from "../../provider/kernel/object-id.js";
import { channel } from "../../provider/resources/channel.js";
import { connected } from "./support/connected.js";
import { type Handler, json } from "./support/fake-hub.js";

/** Ids as a service has them, and as the listing has them. */
const odd: readonly (readonly [name: string, id: unknown, key: string | RegExp])[] = [
  ["digits", "1007", "1007"],
  ["a number", 1007, "1007"],
  ["a negative number", -7, "-7"],
  ["a dot", "a.b", "a.b"],
  ["another folder", "..", ".."],
  ["a slash", "a/b", "a/b"],
  ["blanks", "a b", "a b"],
  ["letters of another alphabet", "канал", "канал"],
  ["the name of a prototype", "__proto__", "__proto__"],
  ["no text at all", "", /^\(no id, /],
  ["nothing", undefined, /^\(no id, /],
  ["null", null, /^\(no id, /],
  ["an object", { a: 1 }, /^\(no id, /],
  ["ten thousand characters", "x".repeat(10_240), /^x{40}… \(10240 characters, [0-9a-f]{16}\)$/],
  ["control characters", "a\r\n\u001b[31m\u202eb", /^a \[31m b… /],
];

describe.each(odd)("an object whose id is %s", (_, id, key) => {
  const foreign = { ...(id === undefined ? {} : { id }), type: "custom.theirs" };
  const all = [{ id: "c0", type: "custom.a" }, foreign, { id: "c1", type: "custom.b" }];
  const answer = json(200, { paginationInfo: { count: all.length }, channel: all });

  test("is in the list and blocks no other", async () => {
    await using live = await connected(answer);
    const { objects, complete } = await live.service.list(channel);
    const [first, own = "", last] = objects.keys();
    expect([first, last, objects.size, complete]).toEqual(["c0", "c1", 3, true]);
    if (typeof key === "string") expect(own).toBe(key);
    else expect(own).toMatch(key);
    expect(objects.get(own)).toEqual(foreign);
    expect(own.length).toBeLessThan(130);
  });

  test("is called by nobody unless its id is one", async () => {
    await using live = await connected(answer);
    const [, own = ""] = (await live.service.list(channel)).objects.keys();
    if (isId(own)) return;
    for (const call of [
      () => live.service.read(channel, own),
      () => live.service.replace(channel, own, {}),
      () => live.service.remove(channel, own),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "ID_INVALID" });
    }
    expect(live.hub.log).toEqual(["GET /channels"]);
  });
});

test("two ids that are cut alike are told apart", async () => {
  const long = "x".repeat(500);
  await using live = await connected(
    json(200, { channel: [{ id: `${long}a` }, { id: `${long}b` }] }),
  );
  expect((await live.service.list(channel)).objects.size).toBe(2);
});

/** Pages of so many out of all objects, wide ones where they are asked for. */
const pages =
  (all: readonly unknown[], size: number, widest = size): Handler =>
  (seen, ...rest) => {
    const asked = (name: string) => Number(new RegExp(`\\$${name}=(\\d+)`).exec(seen.path)?.[1]);
    const pagesize = Math.min(widest, asked("pagesize") || size);
    const pagenum = asked("pagenum") || 1;
    const channels = all.slice((pagenum - 1) * pagesize, pagenum * pagesize);
    const paginationInfo = { count: all.length, pagenum, pagesize };
    json(200, { paginationInfo, channel: channels })(seen, ...rest);
  };

const nameless = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ type: `custom.${place}` }));

test.each([
  ["pages of two", 2, 2],
  ["pages of ten, then wide ones", 10, 75],
])("objects without an id are counted once each in %s", async (_, size, widest) => {
  const all = [...nameless(40), { id: "c0" }, { id: "..", type: "x" }];
  await using live = await connected(pages(all, size, widest));
  const listing = await live.service.list(channel);
  expect([listing.objects.size, listing.complete]).toEqual([42, true]);
});

test("equal objects without an id on one page are counted one by one", async () => {
  const twin = { type: "custom.twin" };
  await using live = await connected(pages([twin, twin, { id: "c0" }, twin], 10));
  expect(await live.service.list(channel)).toMatchObject({ complete: true });
});

test("where equal objects on several pages cannot be told apart, the list does not claim to be complete", async () => {
  await using live = await connected(pages([{ a: 1 }, { id: "c0" }, { a: 1 }, { id: "c1" }], 2));
  const { objects, complete } = await live.service.list(channel);
  expect([objects.has("c0"), objects.has("c1"), complete]).toEqual([true, true, false]);
});

test("an own object is found beside strange ones, and a write on it shows", async () => {
  const own: Handler = (seen, ...rest) =>
    (seen.method === "GET" ? json(200, { channel: [{ id: 7 }, {}, { id: "c1" }] }) : json(200, {}))(
      seen,
      ...rest,
    );
  await using live = await connected(own);
  expect(await live.service.find(channel, "c1")).toEqual({ id: "c1" });
  await live.service.remove(channel, "c1");
  expect(await live.service.find(channel, "c1")).toBeUndefined();
  expect((await live.service.list(channel)).objects.size).toBe(2);
});
