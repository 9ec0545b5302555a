import { describe, expect, test } from "vitest";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, inTurn, json, raw, type Seen } from "./support/fake-hub.js";

const objects = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ id: `c${from + index}` }));

const page = (items: unknown, paginationInfo?: unknown) =>
  json(200, { ...(paginationInfo ? { paginationInfo } : {}), channel: items });

/** Pages of two out of `total`, by the query parameter of sibling services. */
const paged =
  (total: number): Handler =>
  (seen: Seen, ...rest) => {
    const number = Number(/\?\$pagenum=(\d+)$/.exec(seen.path)?.[1] ?? 1);
    const items = objects((number - 1) * 2, Math.min(number * 2, total));
    page(items, { count: total, pagenum: number, pagesize: 2 })(seen, ...rest);
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
    await using live = await connected(paged(5));
    const listing = await live.service.list(channel);
    expect([idsOf(listing), listing.complete]).toEqual([["c0", "c1", "c2", "c3", "c4"], true]);
    expect(live.hub.log).toEqual([
      "GET /channels",
      "GET /channels?$pagenum=2",
      "GET /channels?$pagenum=3",
    ]);
  });

  test("of a service that ignores the page number is not complete", async () => {
    await using live = await connected(page(objects(0, 2), { count: 5 }));
    const listing = await live.service.list(channel);
    expect([idsOf(listing), listing.complete]).toEqual([["c0", "c1"], false]);
    expect(live.hub.calls).toHaveLength(2);
  });

  test("of a service that refuses the page number is not complete", async () => {
    const refused = json(400, { code: "400-101" });
    await using live = await connected(inTurn(page(objects(0, 2), { count: 5 }), refused));
    expect(await live.service.list(channel)).toMatchObject({ complete: false });
  });

  test("whose second page fails, fails", async () => {
    await using live = await connected(inTurn(page(objects(0, 2), { count: 5 }), raw(500, "")));
    await expect(live.service.list(channel)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test.each([
    ["a count that is no number", { count: "many" }],
    ["no count", { pagenum: 1 }],
    ["paging that is no object", "yes"],
  ])("with %s is not complete", async (_, info) => {
    await using live = await connected(page(objects(0, 2), info));
    expect(await live.service.list(channel)).toMatchObject({ complete: false });
  });

  test("whose second page speaks of no paging is not complete", async () => {
    const pages = inTurn(page(objects(0, 2), { count: 5 }), page(objects(2, 4)));
    await using live = await connected(pages);
    const listing = await live.service.list(channel);
    expect([listing.objects.size, listing.complete]).toEqual([4, false]);
  });

  test("ends after 999 pages", async () => {
    await using live = await connected(paged(2 * 999 + 1));
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

  test("when it creates", async () => {
    await using live = await connected(answers);
    await live.service.list(channel);
    await live.service.create(channel, { type: "new" });
    const { objects: kept } = await live.service.list(channel);
    expect(kept.get("c9")).toEqual({ id: "c9", type: "new" });
    expect(live.hub.log).toEqual(["GET /channels", "POST /channels"]);
  });

  test("when it replaces", async () => {
    await using live = await connected(answers);
    await live.service.list(channel);
    await live.service.replace(channel, "c0", { type: "new" });
    const { objects: kept } = await live.service.list(channel);
    expect(kept.get("c0")).toEqual({ id: "c0", type: "new", created: "then" });
  });

  test("when it removes", async () => {
    await using live = await connected(answers);
    await live.service.list(channel);
    await live.service.remove(channel, "c0");
    expect(idsOf(await live.service.list(channel))).toEqual([]);
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
