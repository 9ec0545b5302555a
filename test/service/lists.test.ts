import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { isId } from "../../provider/kernel/object-id.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import type { Service } from "../../provider/service/connect.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, inTurn, json, raw, type Seen } from "./support/fake-hub.js";

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

  test("ends after 999 pages", async () => {
    await using live = await connected(paged(objects(0, 2 * 999 + 1)));
    expect(await live.service.list(channel)).toMatchObject({ complete: false });
    // One more asked for wider pages.
    expect(live.hub.calls).toHaveLength(1 + 999);
  });

  test("under another key is found when it is the only array", async () => {
    await using live = await connected(json(200, { channels: objects(0, 1) }));
    expect(idsOf(await live.service.list(channel))).toEqual(["c0"]);
  });

  test.each([
    ["two unknown arrays", { a: [], b: [] }],
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

  test("is kept per collection", async () => {
    await using live = await connected(inTurn(page([]), json(200, { authentication: [] })));
    await live.service.list(channel);
    await live.service.list(authentication);
    expect(live.hub.log).toEqual(["GET /channels", "GET /authentications"]);
  });

  test("is asked for again where it must be fresh, and replaces what was kept", async () => {
    await using live = await connected(inTurn(page(objects(0, 1)), page(objects(0, 2))));
    await live.service.list(channel);
    await live.service.list(channel, { fresh: true });
    expect(idsOf(await live.service.list(channel))).toEqual(["c0", "c1"]);
    expect(live.hub.calls).toHaveLength(2);
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

  test("that failed is asked for again by the next caller", async () => {
    const fail = json(400, {});
    await using live = await connected(inTurn(fail, page(objects(0, 1))));
    await failureOf(live.service.list(channel));
    expect(idsOf(await live.service.list(channel))).toEqual(["c0"]);
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

test("two ids that are cut alike are distinguished", async () => {
  const long = "x".repeat(500);
  await using live = await connected(
    json(200, { channel: [{ id: `${long}a` }, { id: `${long}b` }] }),
  );
  expect((await live.service.list(channel)).objects.size).toBe(2);
});

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

test("equal objects without an id on one page are counted one by one", async () => {
  const double = { type: "custom.twin" };
  await using live = await connected(paged([double, double, { id: "c0" }, double], 10));
  expect(await live.service.list(channel)).toMatchObject({ complete: true });
});

test("where equal objects on several pages cannot be distinguished, the list does not claim to be complete", async () => {
  await using live = await connected(paged([{ a: 1 }, { id: "c0" }, { a: 1 }, { id: "c1" }], 2));
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

const kib = 1024;

const pageOf = ({ path }: Seen): number => Number(/\$pagenum=(\d+)/.exec(path)?.[1] ?? 1);

const kindOf = ({ path }: Seen): Definition => {
  const found = resources.find(({ collection }) => path.startsWith(`/${collection}`));
  if (!found) throw new Error(path);
  return found;
};

/** Lists of so many pages, one object of so many bytes on each; 0 pages: without end. */
const lists =
  (sizes: ReadonlyMap<string, { readonly pages: number; readonly bytes: number }>): Handler =>
  (seen, ...rest) => {
    const { collection, listKey } = kindOf(seen);
    const { pages, bytes } = sizes.get(collection) ?? { pages: 1, bytes: 0 };
    const pagenum = pageOf(seen);
    const paging = { count: pages || Number.MAX_SAFE_INTEGER, pagenum, pagesize: 1 };
    const item = { id: `${collection}-${pagenum}`, note: "x".repeat(bytes) };
    json(200, { paginationInfo: paging, [listKey]: [item] })(seen, ...rest);
  };

const endless = (bytes: number) => new Map([[channel.collection, { pages: 0, bytes }]]);

const tooLarge = {
  code: "BAD_RESPONSE",
  effect: "none",
  details: { method: "GET", template: "/channels", permanent: true },
};

test("a list without end is given up when it has become too large, and says how much came", async () => {
  await using live = await connected(lists(endless(100 * kib)), { listBytes: kib * kib });
  const error = await failureOf(live.service.list(channel));
  expect(error).toMatchObject(tooLarge);
  expect(String(error)).toContain(
    "Could not list every channel: the responses to GET /channels are too large to keep. 1.1 MiB arrived in 11 pages; 16 MiB of memory has room for 1.0 MiB.",
  );
  expect(String(error)).toContain("NODE_OPTIONS=--max-old-space-size=32");
  expect(live.hub.calls).toHaveLength(11);
});

test("a list that is too large is not read again for the next caller, but for one who asks for it", async () => {
  const sizes = endless(100 * kib);
  await using live = await connected(lists(sizes), { listBytes: kib * kib });
  await failureOf(live.service.list(channel));
  expect(await failureOf(live.service.list(channel))).toMatchObject(tooLarge);
  expect(await failureOf(live.service.find(channel, "channels-1"))).toMatchObject(tooLarge);
  expect(live.hub.calls).toHaveLength(11);
  sizes.set(channel.collection, { pages: 1, bytes: 10 });
  expect(await live.service.list(channel, { fresh: true })).toMatchObject({ complete: true });
  expect(await live.service.list(channel)).toMatchObject({ complete: true });
});

test("what an earlier reading of a list took does not count any more", async () => {
  const sizes = new Map([[channel.collection, { pages: 8, bytes: 100 * kib }]]);
  await using live = await connected(lists(sizes), { listBytes: kib * kib });
  for (let reading = 0; reading < 4; reading++)
    expect(await live.service.list(channel, { fresh: true })).toMatchObject({ complete: true });
});

const listed = async (service: Service, definition: Definition) => {
  try {
    return await service.list(definition);
  } catch (error) {
    if (error instanceof ConversationError) return error;
    throw error;
  }
};

const size = fc.record({
  pages: fc.integer({ min: 0, max: 12 }),
  bytes: fc.integer({ min: 200, max: 20 * kib }),
});

test("all kinds together take no more than twice the room, and no small list is refused for large ones", () =>
  fc.assert(
    fc.asyncProperty(fc.array(size, { minLength: 6, maxLength: 6 }), async (each) => {
      const room = 120 * kib;
      const sizes = new Map(resources.map(({ collection }, at) => [collection, each[at]]));
      const known = new Map([...sizes].flatMap(([name, one]) => (one ? [[name, one]] : [])));
      await using live = await connected(lists(known), { listBytes: room });
      const outcomes = await Promise.all(
        resources.map(async (definition) => ({
          ...known.get(definition.collection),
          outcome: await listed(live.service, definition),
        })),
      );
      let kept = 0;
      for (const { pages = 0, bytes = 0, outcome } of outcomes) {
        const isError = outcome instanceof ConversationError;
        if (isError) expect(outcome).toMatchObject({ ...tooLarge, details: { permanent: true } });
        else kept += pages * bytes;
        if (pages === 0) expect(isError).toBe(true);
        // Room for the rest of the JSON, and for the first page, which is read once more in the widest pages.
        else if ((pages + 1) * (bytes + 200) <= room / 6) expect(isError).toBe(false);
      }
      expect(kept).toBeLessThanOrEqual(2 * room);
    }),
    { numRuns: 20 },
  ));
