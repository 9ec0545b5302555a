import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connectionFault, httpTransport } from "../../provider/service/transport.js";
import { startUntrustedServer } from "../support/untrusted-server.js";
import { calls } from "./support/calls.js";
import { connected, failureOf } from "./support/connected.js";
import { FakeHub, type Handler, inTurn, json, raw } from "./support/fake-hub.js";

const reset: Handler = (_seen, _response, socket) => socket.resetAndDestroy();
const hangUp: Handler = (_seen, _response, socket) => socket.destroy();

const halfAnswer =
  (text: string, status = 201): Handler =>
  (_seen, response) => {
    response.writeHead(status, { "content-length": "100" });
    response.write(text, () => setImmediate(() => response.destroy()));
  };

const found = json(200, { id: "c1" });

/** As any server may answer a call that does not say which encodings it reads (RFC 9110 §12.5.3). */
const compressed: Handler = (seen, response, socket) => {
  if (seen.headers["accept-encoding"] === "identity") return found(seen, response, socket);
  response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"id":"c1"}'));
};
const unclear = { code: "BAD_RESPONSE", effect: "unknown" };
const unreachable = { code: "UNREACHABLE", effect: "unknown" };

/** What the service does, in turn: what becomes of a call by a method, and how often it is sent. */
const outcomes: readonly (readonly [
  what: string,
  method: keyof typeof calls,
  answers: readonly Handler[],
  outcome: object,
  sent: number,
])[] = [
  ["a reset", "POST", [reset], unreachable, 1],
  ["a hang-up", "POST", [hangUp], unreachable, 1],
  ["a reset and a hang-up", "GET", [reset, hangUp, found], { status: 200 }, 3],
  ["a reset and a hang-up", "PUT", [reset, hangUp, found], { status: 200 }, 3],
  ["nothing but resets", "GET", [reset], { code: "UNREACHABLE" }, 5],
  ["a 503", "GET", [raw(503, "<html>"), found], { status: 200 }, 2],
  ["a 404", "PUT", [json(404, {})], { code: "NOT_FOUND", effect: "none" }, 1],
  ["a 500, then a 404", "PUT", [raw(500, ""), json(404, {})], { effect: "unknown" }, 2],
  [
    "half a 201 with its id",
    "POST",
    [halfAnswer('{"id":"c-7","na')],
    { effect: "done", details: { objectId: "c-7" } },
    1,
  ],
  ["half a 201 without an id", "POST", [halfAnswer('{"name":"x')], unreachable, 1],
  ["half an answer", "GET", [halfAnswer('{"id', 200), found], { body: { id: "c1" } }, 2],
  ["half an answer", "PUT", [halfAnswer("{", 200)], { status: 200 }, 1],
  [
    "half a refusal",
    "POST",
    [halfAnswer('{"code":"400-1', 400)],
    { code: "REJECTED", effect: "none" },
    1,
  ],
  ["a page", "POST", [raw(201, "<html>")], unclear, 1],
  ["a page", "PATCH", [raw(200, "<html>")], unclear, 1],
  ["a 503", "PATCH", [raw(503, ""), found], { code: "UNAVAILABLE", effect: "unknown" }, 1],
  ["nothing but pages", "GET", [raw(200, "<html>")], { code: "BAD_RESPONSE", effect: "none" }, 3],
  ["a redirect", "GET", [raw(302, "", { location: "/x" })], { code: "BAD_RESPONSE" }, 1],
  ["what it may compress", "POST", [compressed], { body: { id: "c1" } }, 1],
  ["a byte order mark", "GET", [raw(200, '\ufeff{"id":"c1"}')], { body: { id: "c1" } }, 1],
  ...([400, 403, 404, 409, 500, 503] as const).map(
    (status) =>
      [
        `status ${status}`,
        "POST",
        [json(status, { code: `${status}-1` })],
        {
          code:
            { 403: "FORBIDDEN", 404: "NOT_FOUND" }[String(status)] ??
            (status < 500 ? "REJECTED" : "UNAVAILABLE"),
          effect: status < 500 ? "none" : "unknown",
          details: { method: "POST", template: "/channels", status, serviceCode: `${status}-1` },
        },
        1,
      ] as const,
  ),
];

test.each(outcomes)("after %s a %s ends well, fails, or is sent again", async (...row) => {
  const [, method, answers, outcome, sent] = row;
  await using live = await connected(inTurn(...answers));
  const ended = await live.service.request(...calls[method]).catch((error: unknown) => error);
  expect(ended).toMatchObject(outcome);
  expect(live.hub.calls).toHaveLength(sent);
});

test("a page of 75 channels with the largest icons that the vendor allows is read", async () => {
  const channel = Array(75).fill({ icon: "A".repeat(512_000) });
  await using live = await connected(json(200, { channel }));
  const { body } = await live.service.request(...calls.GET);
  expect(body).toMatchObject({ channel: { length: 75 } });
});

test("a call whose time is over while it waits for a connection is never written", async () => {
  const held: (() => void)[] = [];
  await using hub = await FakeHub.start((...call) => {
    held.push(() => json(200, {})(...call));
    if (held.length === 8) expireLast();
    if (held.length > 8) held.at(-1)?.();
  });
  const expiries: (() => void)[] = [];
  const transport = httpTransport({
    timer: (_ms, expire) => {
      expiries.push(expire);
      return () => undefined;
    },
  });
  const expireLast = (): void => expiries.at(-1)?.();
  const { baseUrl } = hub.settings();
  const request = (path: string) => ({ method: "POST" as const, url: baseUrl + path, headers: {} });
  const busy = Array.from({ length: 8 }, () => transport.send(request("/busy")));
  const late = failureOf(transport.send(request("/late")));
  expect(await late).toMatchObject({ sent: false });
  for (const answer of held) answer();
  await Promise.all(busy);
  await transport.send(request("/after"));
  await transport.close();
  expect(hub.log).not.toContain("POST /late");
});

test("this machine is reached without the proxy", async () => {
  await using hub = await FakeHub.start(json(200, { via: "nothing" }));
  const transport = httpTransport({ environment: { HTTP_PROXY: "http://127.0.0.1:1" } });
  const { baseUrl } = hub.settings();
  const response = await transport.send({ method: "GET", url: `${baseUrl}/channels`, headers: {} });
  await transport.close();
  expect(response.text).toBe('{"via":"nothing"}');
});

test("no variable turns the check of the service's certificate off", async () => {
  const { port, received } = await startUntrustedServer();
  const transport = httpTransport();
  const url = `https://127.0.0.1:${port}/channels`;
  const failure = await failureOf(transport.send({ method: "GET", url, headers: {} }));
  await transport.close();
  const cause = { code: "DEPTH_ZERO_SELF_SIGNED_CERT" };
  expect(failure).toMatchObject({ sent: false, cause });
  expect(connectionFault({ cause, sent: false }, url).details).toEqual({ permanent: true });
  expect(received).toEqual([]);
});

test("a failure of several addresses of a host names the code of one", () => {
  const cause = new AggregateError([Object.assign(new Error("no"), { code: "ECONNREFUSED" })]);
  const { text } = connectionFault({ cause, sent: false }, "https://hub.example.com/");
  expect(text).toContain("no connection to hub.example.com (ECONNREFUSED)");
});

test.each(["not an address", "ftp://proxy.example.com", "::", "http://user:hunter2@[x"])(
  "%s as a proxy is reported before anything is sent, without its password, and closing goes on",
  async (address) => {
    const transport = httpTransport({ environment: { HTTPS_PROXY: address } });
    const url = "https://service.invalid/v3/channels";
    for (const _call of [1, 2]) {
      const failure = await failureOf(transport.send({ method: "GET", url, headers: {} }));
      expect(failure).toMatchObject({
        code: "SETTINGS_INVALID",
        message: expect.stringMatching(/HTTPS_PROXY is not a proxy URL/),
      });
      expect(JSON.stringify([failure, String(failure)])).not.toContain("hunter2");
    }
    await transport.close();
  },
);

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

test.each([
  ["plainly", '{"id":"c1","__proto__":{"polluted":1},"a":{}}'],
  ["in disguise", '{"id":"c1","a":{"\\u005f_proto__":{"polluted":1}}}'],
])("__proto__ in an answer, written %s, is dropped", async (_, text) => {
  await using live = await connected(raw(200, text));
  const { body } = await live.service.request(...calls.GET);
  expect(JSON.stringify(body)).toBe('{"id":"c1","a":{}}');
});
