import { describe, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { connected } from "./support/connected.js";
import { type Handler, inTurn, json, raw } from "./support/fake-hub.js";

const date = "Sun, 08 Mar 2026 10:20:30 GMT";
const iso = "2026-03-08T10:20:30.000Z";

const at =
  (text: string, handler: Handler): Handler =>
  (seen, response, socket) => {
    response.setHeader("date", text);
    handler(seen, response, socket);
  };

/** Without a Date header, which Node would add by itself. */
const timeless =
  (handler: Handler): Handler =>
  (seen, response, socket) => {
    response.sendDate = false;
    handler(seen, response, socket);
  };

const reported = { created: "2026-01-01T00:00:00.123Z", modified: 7 };

test.each<[string, Handler, object]>([
  ["at the time of its answer", at(date, json(201, { id: "c1" })), { created: iso, modified: iso }],
  [
    "when its answer says so",
    at(date, json(201, { id: "c1", ...reported })),
    { created: reported.created, modified: iso },
  ],
  ["at no time if nobody gives one", timeless(json(201, { id: "c1" })), {}],
])("a creation was made %s", async (_, handler, times) => {
  await using live = await connected(handler);
  expect(await live.service.create(channel, { type: "x" })).toEqual({ id: "c1", ...times });
});

describe("a replacement", () => {
  test.each([
    ["the time of its answer", at(date, raw(204, "")), { modified: iso }],
    ["the time of an answer without a use", at(date, json(200, [])), { modified: iso }],
    ["what its answer says", at(date, json(200, { modified: "then" })), { modified: "then" }],
    ["no time if nobody gives one", timeless(raw(204, "")), {}],
  ])("has %s", async (_, handler, reported) => {
    await using live = await connected(handler);
    expect(await live.service.replace(channel, "c1", { type: "x" })).toEqual(reported);
  });

  test("leaves no old time in the list, which a PUT would carry back", async () => {
    const list = json(200, { channel: [{ id: "c1", created: "then", modified: "before" }] });
    await using live = await connected(inTurn(list, at(date, raw(204, ""))));
    await live.service.list(channel);
    await live.service.replace(channel, "c1", { type: "x", modified: "before" });
    expect(await live.service.find(channel, "c1")).toEqual({
      id: "c1",
      type: "x",
      created: "then",
    });
  });
});

describe("the service's time", () => {
  const { getAsset } = runtimeOperations;

  test.each([
    ["an answer", at(date, json(200, { id: "a1" }))],
    ["a refusal", at(date, json(400, {}))],
    ["an answer that cannot be read", at(date, raw(200, "<html>"))],
  ])("is given by %s, and goes on by this machine's clock", async (_, handler) => {
    await using live = await connected(handler, { retry: { retries: 0 } });
    await live.service.request(getAsset, { id: "a1" }).catch(() => undefined);
    expect(live.service.now()).toBe(Date.parse(date));
    live.clock.time += 5_000;
    expect(live.service.now()).toBe(Date.parse(date) + 5_000);
  });

  test.each([
    "yesterday",
    "7",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 1999 23:59:59 GMT",
    "Sun, 08 Foo 2026 10:20:30 GMT",
  ])("does not come from the header %j", async (text) => {
    await using live = await connected(at(text, json(201, { id: "c1" })));
    expect(await live.service.create(channel, {})).toEqual({ id: "c1" });
    expect(live.service.now()).toBe(live.clock.wall());
  });

  test("does not come from the token address, which may be elsewhere", async () => {
    await using live = await connected(timeless(json(200, {})));
    const granted = live.hub.handleToken;
    live.hub.handleToken = at(date, granted);
    await live.service.token();
    expect(live.service.now()).toBe(live.clock.wall());
  });
});
