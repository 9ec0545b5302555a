import fc from "fast-check";
import { expect, test } from "vitest";
import { calls } from "./support/calls.js";
import { connected, failureOf } from "./support/connected.js";
import { FakeHub, type Handler, inTurn, json, raw } from "./support/fake-hub.js";

const halfAnswer =
  (text: string, status = 201): Handler =>
  (_seen, response) => {
    response.writeHead(status, { "content-length": "100" });
    response.write(text, () => setImmediate(() => response.destroy()));
  };

test("a truncated 201 with a readable id tells the id", async () => {
  await using live = await connected(halfAnswer('{"id":"c-7","na'));
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    effect: "done",
    details: { objectId: "c-7" },
  });
  expect(live.hub.calls).toHaveLength(1);
});

test("a truncated 201 without an id leaves the effect unknown", async () => {
  await using live = await connected(halfAnswer('{"name":"x'));
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "UNREACHABLE",
    effect: "unknown",
  });
});

test("a truncated answer to a GET is asked for again", async () => {
  await using live = await connected(inTurn(halfAnswer('{"id', 200), json(200, { id: "c1" })));
  expect(await live.service.request(...calls.GET)).toMatchObject({ body: { id: "c1" } });
});

test("a truncated refusal is still that refusal", async () => {
  await using live = await connected(halfAnswer('{"code":"400-1', 400));
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "REJECTED",
    effect: "none",
  });
});

test("a truncated answer to a PUT or DELETE does not matter", async () => {
  await using live = await connected(halfAnswer("{", 200));
  expect(await live.service.request(...calls.PUT)).toMatchObject({ status: 200 });
  expect(await live.service.request(...calls.DELETE)).toMatchObject({ status: 200 });
  expect(live.hub.calls).toHaveLength(2);
});

test("an answer that is not JSON is asked for twice more on GET", async () => {
  await using live = await connected(raw(200, "<html>canary</html>"));
  const error = await failureOf(live.service.request(...calls.GET));
  expect(error).toMatchObject({ code: "BAD_RESPONSE", effect: "none" });
  expect(String(error)).not.toContain("canary");
  expect(live.hub.calls).toHaveLength(3);
});

test("an answer that is not JSON leaves the effect of a POST unknown", async () => {
  await using live = await connected(raw(201, "<html>"));
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    effect: "unknown",
  });
  expect(live.hub.calls).toHaveLength(1);
});

const unclear = { code: "BAD_RESPONSE", effect: "unknown" };

/** What somebody in front of the service may answer with. */
const notJson = fc.oneof(
  fc.constantFrom("<html>Sign in</html>", "OK", "upstream", "<!doctype html>", "{", "\ufeff<html>"),
  fc.string({ minLength: 1 }).map((text) => `<p>${text}`),
);

test("a change or deletion counts only where the service itself answered", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom("PUT" as const, "DELETE" as const),
      fc.integer({ min: 0, max: 4 }),
      notJson,
      async (method, pages, text) => {
        const answers = Array.from({ length: pages }, () => raw(200, text));
        await using live = await connected(inTurn(...answers, raw(204, "")));
        const outcome = live.service.request(...calls[method]);
        if (pages <= 2) expect(await outcome).toMatchObject({ status: 204 });
        else expect(await failureOf(outcome)).toMatchObject(unclear);
        expect(live.hub.calls).toHaveLength(Math.min(pages + 1, 3));
      },
    ),
    { numRuns: 20 },
  ));

test.each(["PUT", "DELETE"] as const)(
  "a %s that is refused after an attempt that may have acted may have had its effect",
  async (method) => {
    await using live = await connected(inTurn(raw(500, ""), json(404, {})));
    expect(await failureOf(live.service.request(...calls[method]))).toMatchObject({
      code: "NOT_FOUND",
      effect: "unknown",
    });
    live.hub.handle = json(404, {});
    expect(await failureOf(live.service.request(...calls[method]))).toHaveProperty(
      "effect",
      "none",
    );
  },
);

test("a PATCH that somebody else answered is not sent again", async () => {
  await using live = await connected(raw(200, "<html>"));
  expect(await failureOf(live.service.request(...calls.PATCH))).toMatchObject(unclear);
  expect(live.hub.calls).toHaveLength(1);
});

test("a byte order mark before the JSON is no part of it", async () => {
  await using live = await connected(raw(200, '\ufeff{"id":"c1"}'));
  expect(await live.service.request(...calls.GET)).toMatchObject({ body: { id: "c1" } });
});

const huge: Handler = (_seen, response) => {
  const chunk = "x".repeat(1024 * 1024);
  const more = (): void => {
    if (!response.destroyed) response.write(chunk, () => setImmediate(more));
  };
  response.writeHead(200);
  more();
};

test("an endless answer is cut off and not asked for again", async () => {
  await using live = await connected(huge);
  await expect(live.service.request(...calls.GET)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("8 MiB"),
  });
  expect(live.hub.calls).toHaveLength(1);
});

test.each([301, 302, 307, 308])(
  "a %i is not followed, and the token stays here",
  async (status) => {
    await using elsewhere = await FakeHub.start(json(200, { id: "c1" }));
    const location = `http://127.0.0.1:${elsewhere.port}/steal`;
    await using live = await connected(raw(status, "", { location }));
    await expect(live.service.request(...calls.GET)).rejects.toMatchObject({
      code: "BAD_RESPONSE",
      message: expect.stringContaining("redirected"),
    });
    expect([live.hub.calls.length, elsewhere.calls.length]).toEqual([1, 0]);
  },
);

test.each([
  ["plainly", '{"id":"c1","__proto__":{"polluted":1},"a":{}}'],
  ["in disguise", '{"id":"c1","a":{"\\u005f_proto__":{"polluted":1}}}'],
])("__proto__ in an answer, written %s, is dropped", async (_, text) => {
  await using live = await connected(raw(200, text));
  const { body } = await live.service.request(...calls.GET);
  expect(JSON.stringify(body)).toBe('{"id":"c1","a":{}}');
});
