import { expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { connected } from "./support/connected.js";
import { type Handler, json } from "./support/fake-hub.js";

const objects = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ id: `c${from + index}` }));

const asked = (path: string, name: string) => new RegExp(`\\$${name}=(\\d+)`).exec(path)?.[1];

const pages =
  (total: number, sizeFor: (asked: string | undefined) => number): Handler =>
  (seen, ...rest) => {
    const pagenum = Number(asked(seen.path, "pagenum") ?? 1);
    const pagesize = sizeFor(asked(seen.path, "pagesize"));
    const items = objects((pagenum - 1) * pagesize, Math.min(pagenum * pagesize, total));
    const body = { paginationInfo: { count: total, pagenum, pagesize }, channel: items };
    json(200, body)(seen, ...rest);
  };

/** Pages of ten, or of as many as are asked for up to `most`. */
const wide = (total: number, most: number) =>
  pages(total, (size) => Math.min(most, Number(size ?? 10)));

/** Pages of two, whatever is asked for. */
const narrow = (total: number) => pages(total, () => 2);

/** Pages of two, and no parameter but the page number. */
const refusesWidth: Handler = (seen, ...rest) =>
  (seen.path.includes("$pagesize") ? json(400, { code: "400-101" }) : narrow(31))(seen, ...rest);

test("a list of many pages is read in the widest ones, once the first has told how many", async () => {
  await using live = await connected(wide(200, 75));
  const listing = await live.service.list(channel);
  expect([listing.objects.size, listing.complete]).toEqual([200, true]);
  expect(live.hub.log).toEqual([
    "GET /channels",
    "GET /channels?$pagenum=1&$pagesize=75",
    "GET /channels?$pagenum=2&$pagesize=75",
    "GET /channels?$pagenum=3&$pagesize=75",
  ]);
});

test("a list of a service whose widest page is smaller is read in those", async () => {
  await using live = await connected(wide(120, 50));
  expect(await live.service.list(channel)).toMatchObject({ complete: true });
  expect(live.hub.calls).toHaveLength(1 + 3);
});

test.each([
  ["ignores", narrow(31)],
  ["refuses", refusesWidth],
])("a list of a service that %s the width is read in its own pages", async (_, handler) => {
  await using live = await connected(handler);
  const listing = await live.service.list(channel);
  expect([listing.objects.size, listing.complete]).toEqual([31, true]);
  expect(live.hub.calls).toHaveLength(1 + 1 + 15);
});

test("a list of a few pages is not widened", async () => {
  await using live = await connected(wide(30, 75));
  await live.service.list(channel);
  expect(live.hub.log.at(-1)).toBe("GET /channels?$pagenum=3");
});

const find = async (live: Awaited<ReturnType<typeof connected>>, ...ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await live.service.find(channel, id))?.id));

const tenThousand = () => wide(10_000, 75);

test("one object of a long list is looked for on its first page only", async () => {
  await using live = await connected(tenThousand());
  expect(await find(live, "c9", "c9000")).toEqual(["c9", undefined]);
  expect(live.hub.log).toEqual(["GET /channels"]);
});

test("where many are looked for, the list is read to its end, once", async () => {
  await using live = await connected(tenThousand());
  const ids = Array.from({ length: 40 }, (_, index) => `c${index * 250}`);
  expect(await find(live, ...ids)).toEqual(ids);
  expect(live.hub.calls).toHaveLength(1 + 134);
});

test("who looks for an object of the first page does not wait for the others", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Handler = (seen, ...rest) => {
    const answer = () => wide(20, 10)(seen, ...rest);
    if (seen.path.includes("$pagenum")) void held.then(answer);
    else answer();
  };
  await using live = await connected(slow);
  const late = find(live, "c15");
  expect(await find(live, "c1")).toEqual(["c1"]);
  release();
  expect(await late).toEqual(["c15"]);
  expect(live.hub.calls).toHaveLength(2);
});

test("an own write shows also where only the first page was read", async () => {
  const get = tenThousand();
  const service: Handler = (seen, ...rest) =>
    (seen.method === "GET" ? get : json(200, {}))(seen, ...rest);
  await using live = await connected(service);
  await find(live, "c1");
  await live.service.replace(channel, "c1", { type: "new" });
  expect(await live.service.find(channel, "c1")).toEqual({ id: "c1", type: "new" });
  await live.service.remove(channel, "c2");
  expect(await live.service.find(channel, "c2")).toBeUndefined();
  expect(live.hub.log.filter((call) => call.startsWith("GET"))).toEqual(["GET /channels"]);
});

test("a list that must be fresh does not go on from an earlier first page", async () => {
  await using live = await connected(tenThousand());
  await find(live, "c1");
  await live.service.list(channel, { fresh: true });
  expect(live.hub.calls).toHaveLength(1 + 1 + 134);
});
