import { describe, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, inTurn, json, raw } from "./support/fake-hub.js";

const objects = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ id: `c${from + index}` }));

const page = (items: unknown, paginationInfo?: unknown) =>
  json(200, { ...(paginationInfo ? { paginationInfo } : {}), channel: items });

/** Pages of so many out of all objects, wide ones where they are asked for. */
const paged =
  (all: readonly unknown[], size = 2, widest = size): Handler =>
  (seen, ...rest) => {
    const asked = (name: string) => Number(new RegExp(`\\$${name}=(\\d+)`).exec(seen.path)?.[1]);
    const pagesize = Math.min(widest, asked("pagesize") || size);
    const pagenum = asked("pagenum") || 1;
    const items = all.slice((pagenum - 1) * pagesize, pagenum * pagesize);
    page(items, { count: all.length, pagenum, pagesize })(seen, ...rest);
  };

const idsOf = (listing: { objects: ReadonlyMap<string, unknown> }) => [...listing.objects.keys()];

describe("a list", () => {
  test("without paging is one call and complete", async () => {
    await using live = await connected(page(objects(0, 3)));
    const listing = await live.service.list(channel);
    expect([idsOf(listing), listing.complete]).toEqual([["c0", "c1", "c2"], true]);
    expect(live.hub.log).toEqual(["GET /channels"]);
  });

  test("in pages is read to its end, with a literal $ in the query", async () => {
    await using live = await connected(paged(objects(0, 5)));
    const listing = await live.service.list(channel);
    expect([idsOf(listing), listing.complete]).toEqual([["c0", "c1", "c2", "c3", "c4"], true]);
    expect(live.hub.log).toEqual([
      "GET /channels",
      "GET /channels?$pagenum=2",
      "GET /channels?$pagenum=3",
    ]);
  });

  test("whose second page fails, fails", async () => {
    await using live = await connected(inTurn(page(objects(0, 2), { count: 5 }), raw(500, "")));
    await expect(live.service.list(channel)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  const counted = page(objects(0, 2), { count: 5 });
  test.each([
    ["whose pages ignore their number", counted, 2],
    ["whose further pages are refused", inTurn(counted, json(400, { code: "400-101" })), 2],
    ["whose second page speaks of no paging", inTurn(counted, page(objects(2, 4))), 4],
    ["with a count that is no number", page(objects(0, 2), { count: "many" }), 2],
    ["without a count", page(objects(0, 2), { pagenum: 1 }), 2],
    ["with paging that is no object", page(objects(0, 2), "yes"), 2],
  ])("%s is not complete", async (_, handler, size) => {
    await using live = await connected(handler);
    const listing = await live.service.list(channel);
    expect([listing.objects.size, listing.complete]).toEqual([size, false]);
    expect(live.hub.calls.length).toBeLessThanOrEqual(2);
  });

  test("from which an object disappears between two pages is read again", async () => {
    const removed = inTurn(
      page(objects(0, 2), { count: 3, pagesize: 2 }),
      page([], { count: 2, pagesize: 2 }),
      page(objects(1, 3), { count: 2, pagesize: 2 }),
    );
    await using live = await connected(removed);
    const listing = await live.service.list(channel);
    expect([idsOf(listing), listing.complete]).toEqual([["c1", "c2"], true]);
  });

  test.each([
    ["an array of another name", { channels: [] }],
    ["no array", { hello: 1 }],
    ["something that is no object", { channel: [{ id: "c0" }, "c1"] }],
  ])("with %s cannot be used", async (_, body) => {
    await using live = await connected(json(200, body));
    await expect(live.service.list(channel)).rejects.toMatchObject({ code: "BAD_RESPONSE" });
  });

  test("is shared by concurrent and later callers", async () => {
    await using live = await connected(page(objects(0, 1)));
    await Promise.all([1, 2, 3].map(() => live.service.list(channel)));
    await live.service.list(channel);
    expect(live.hub.calls).toHaveLength(1);
  });

  test("that must be fresh does not join one that began before, but one follows for all", async () => {
    await using live = await connected(inTurn(page(objects(0, 1)), page(objects(0, 2))));
    const early = live.service.list(channel);
    const fresh = [1, 2].map(() => live.service.list(channel, { fresh: true }));
    expect(idsOf(await early)).toEqual(["c0"]);
    expect((await Promise.all(fresh)).map(idsOf)).toEqual([
      ["c0", "c1"],
      ["c0", "c1"],
    ]);
    expect(live.hub.calls).toHaveLength(2);
  });

  test("that is forbidden is not asked for twice", async () => {
    await using live = await connected(json(403, {}));
    await expect(live.service.list(channel)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(live.service.list(channel)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(live.hub.calls).toHaveLength(1);
  });
});

describe("an own write shows in the list", () => {
  const byMethod =
    (answers: Readonly<Record<string, Handler>>): Handler =>
    (seen, ...rest) =>
      answers[seen.method]?.(seen, ...rest);
  const answers = byMethod({
    GET: page([{ id: "c0", type: "old", created: "then" }]),
    POST: json(201, { id: "c9" }),
    PUT: raw(204, ""),
    DELETE: raw(204, ""),
  });

  test("when it creates, replaces and removes", async () => {
    await using live = await connected(answers);
    await live.service.list(channel);
    await live.service.create(channel, { type: "new" });
    await live.service.replace(channel, "c0", { type: "new" });
    const { objects: kept } = await live.service.list(channel);
    expect([...kept.values()]).toEqual([
      { id: "c0", type: "new", created: "then" },
      { id: "c9", type: "new" },
    ]);
    await live.service.remove(channel, "c0");
    expect(idsOf(await live.service.list(channel))).toEqual(["c9"]);
    expect(live.hub.log.filter((call) => call.startsWith("GET"))).toHaveLength(1);
  });

  test("even if the list began before the write and knows nothing of it", async () => {
    let answerList = (): void => undefined;
    const slow: Handler = (...call) => {
      answerList = () => page(objects(0, 1))(...call);
    };
    await using live = await connected(byMethod({ GET: slow, POST: json(201, { id: "c9" }) }));
    await live.service.token();
    const listing = live.service.list(channel);
    await live.service.create(channel, { type: "new" });
    answerList();
    expect(idsOf(await listing)).toEqual(["c0", "c9"]);
    expect(idsOf(await live.service.list(channel))).toEqual(["c0", "c9"]);
  });

  test("whose effect is unknown makes the next caller ask again", async () => {
    const lost: Handler = (_seen, _response, socket) => socket.destroy();
    await using live = await connected(byMethod({ GET: page([]), POST: lost }));
    await live.service.list(channel);
    await failureOf(live.service.create(channel, { type: "new" }));
    await live.service.list(channel);
    expect(live.hub.log).toEqual(["GET /channels", "POST /channels", "GET /channels"]);
  });
});

test("a list that was under way during a write of unknown effect is not kept", async () => {
  let answerList = (): void => undefined;
  const slow: Handler = (...call) => {
    answerList = () => page(objects(0, 1))(...call);
  };
  const handler: Handler = (seen, response, socket) =>
    seen.method === "POST" ? socket.destroy() : slow(seen, response, socket);
  await using live = await connected(inTurn(handler, handler, page(objects(0, 2))));
  await live.service.token();
  const listing = live.service.list(channel);
  await failureOf(live.service.create(channel, { type: "new" }));
  answerList();
  expect(idsOf(await listing)).toEqual(["c0"]);
  expect(idsOf(await live.service.list(channel))).toEqual(["c0", "c1"]);
});

/** Pages of ten, or of as many as are asked for up to `most`. */
const wide = (total: number, most: number) => paged(objects(0, total), 10, most);

/** Pages of two, whatever is asked for. */
const narrow = (total: number) => paged(objects(0, total));

/** Pages of two, and no parameter but the page number. */
const refusesWidth: Handler = (seen, ...rest) =>
  (seen.path.includes("$pagesize") ? json(400, { code: "400-101" }) : narrow(31))(seen, ...rest);

test("a list of many pages is read in the widest ones, once the first has said how many", async () => {
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

test.each([
  ["ignores", narrow(31)],
  ["refuses", refusesWidth],
])("a list of a service that %s the width is read in its own pages", async (_, handler) => {
  await using live = await connected(handler);
  const listing = await live.service.list(channel);
  expect([listing.objects.size, listing.complete]).toEqual([31, true]);
  expect(live.hub.calls).toHaveLength(1 + 1 + 15);
});

test.each<[string, unknown]>([
  ["another folder", ".."],
  ["a slash", "a/b"],
  ["the name of a prototype", "__proto__"],
  ["no text at all", ""],
  ["nothing", undefined],
  ["an object", { a: 1 }],
  ["ten thousand characters", "x".repeat(10_240)],
])(
  "an object whose id is %s is in the list, blocks no other, and is called by nobody",
  async (_, id) => {
    const foreign = { ...(id === undefined ? {} : { id }), type: "custom.theirs" };
    const all = [{ id: "c0", type: "custom.a" }, foreign, { id: "c1", type: "custom.b" }];
    await using live = await connected(
      json(200, { paginationInfo: { count: all.length }, channel: all }),
    );
    const { objects, complete } = await live.service.list(channel);
    const [first, own = "", last] = objects.keys();
    expect([first, last, objects.size, complete]).toEqual(["c0", "c1", 3, true]);
    expect(own).toMatch(/^\(unusable ID, [0-9a-f]{16}\)$/);
    expect(objects.get(own)).toEqual(foreign);
    for (const call of [
      () => live.service.read(channel, own),
      () => live.service.replace(channel, own, {}),
      () => live.service.remove(channel, own),
    ])
      await expect(call()).rejects.toMatchObject({ code: "ID_INVALID" });
    expect(live.hub.log).toEqual(["GET /channels"]);
  },
);

const nameless = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ type: `custom.${place}` }));

test.each([
  ["pages of two", 2, 2],
  ["pages of ten, then wide ones", 10, 75],
])("objects without an id are counted once each in %s", async (_, size, widest) => {
  const all = [...nameless(40), { id: "c0" }, { id: "..", type: "x" }];
  await using live = await connected(paged(all, size, widest));
  const listing = await live.service.list(channel);
  expect([listing.objects.size, listing.complete]).toEqual([42, true]);
});

test("where equal objects cannot be distinguished, the list does not claim to be complete", async () => {
  await using live = await connected(paged([{ a: 1 }, { id: "c0" }, { a: 1 }, { id: "c1" }], 2));
  const { objects, complete } = await live.service.list(channel);
  expect([objects.has("c0"), objects.has("c1"), complete]).toEqual([true, true, false]);
});
