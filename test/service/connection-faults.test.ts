import { createServer } from "node:net";
import { expect, test } from "vitest";
import type { CallOptions } from "../../provider/service/client.js";
import { connectService } from "../../provider/service/connect.js";
import type { Operation } from "../../provider/service/operations.js";
import { httpTransport, type Timer } from "../../provider/service/transport.js";
import { JumpingClock } from "./support/clocks.js";
import { connected, failureOf, noPauses } from "./support/connected.js";
import { FakeHub, type Handler, inTurn, json, portOf, raw } from "./support/fake-hub.js";

const operation = (method: Operation["method"], template: string): Operation => ({
  method,
  template,
  title: "do it",
  scopes: [],
  rate: "standard",
});

const calls: Readonly<Record<Operation["method"], readonly [Operation, CallOptions]>> = {
  GET: [operation("GET", "/channels/{id}"), { id: "c1" }],
  POST: [operation("POST", "/channels"), { body: { type: "x" } }],
  PUT: [operation("PUT", "/channels/{id}"), { id: "c1", body: { type: "x" } }],
  DELETE: [operation("DELETE", "/channels/{id}"), { id: "c1" }],
};

const reset: Handler = (_seen, _response, socket) => socket.resetAndDestroy();
const hangUp: Handler = (_seen, _response, socket) => socket.destroy();
const halfAnswer =
  (text: string, status = 201): Handler =>
  (_seen, response) => {
    response.writeHead(status, { "content-length": "100" });
    response.write(text, () => setImmediate(() => response.destroy()));
  };

test.each([
  ["a reset", reset],
  ["a hang-up", hangUp],
])("after %s a POST is not repeated and its effect is unknown", async (_, handler) => {
  await using live = await connected(handler);
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "UNREACHABLE",
    effect: "unknown",
  });
  expect(live.hub.calls).toHaveLength(1);
});

test.each(["GET", "PUT", "DELETE"] as const)("a %s is repeated after a reset", async (method) => {
  await using live = await connected(inTurn(reset, hangUp, json(200, { id: "c1" })));
  expect(await live.service.request(...calls[method])).toMatchObject({ status: 200 });
  expect(live.hub.calls).toHaveLength(3);
});

test("repeats end after four", async () => {
  await using live = await connected(reset);
  await expect(live.service.request(...calls.GET)).rejects.toMatchObject({ code: "UNREACHABLE" });
  expect(live.hub.calls).toHaveLength(5);
});

test.each([500, 502, 503, 504])("a POST that fails with %i is not repeated", async (status) => {
  await using live = await connected(json(status, { code: `${status}-100` }));
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    effect: "unknown",
    details: { status },
  });
  expect(live.hub.calls).toHaveLength(1);
});

test.each(["GET", "PUT", "DELETE"] as const)("a %s is repeated after a 503", async (method) => {
  await using live = await connected(inTurn(raw(503, "<html>"), json(200, { id: "c1" })));
  expect(await live.service.request(...calls[method])).toMatchObject({ status: 200 });
});

test("a POST whose connection is refused was not sent, so it is repeated", async () => {
  await using live = await connected(json(201, { id: "c1" }));
  const closed = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => closed.once("listening", resolve));
  const port = portOf(closed);
  await new Promise((resolve) => closed.close(resolve));
  const settings = live.hub.settings({ baseUrl: `http://127.0.0.1:${port}/v3` });
  let attempts = 0;
  const transport = httpTransport();
  const counted = {
    ...transport,
    send: (request: Parameters<typeof transport.send>[0]) => {
      if (request.url.includes("/v3")) attempts += 1;
      return transport.send(request);
    },
  };
  const clock = new JumpingClock();
  const service = connectService(settings, { clock, retry: noPauses, transport: counted });
  await expect(service.request(...calls.POST)).rejects.toMatchObject({
    code: "UNREACHABLE",
    effect: "none",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(attempts).toBe(5);
  await service.close();
});

test("a name that does not resolve is told, with no effect", async () => {
  const hub = await FakeHub.start();
  const settings = hub.settings({ tokenUrl: "http://no-such-host.invalid/token" });
  const service = connectService(settings, { retry: { ...noPauses, retries: 0 } });
  await expect(service.request(...calls.POST)).rejects.toMatchObject({
    code: "UNREACHABLE",
    effect: "none",
    message: expect.stringMatching(/access token.*no-such-host\.invalid/),
  });
  await service.close();
  await hub[Symbol.asyncDispose]();
});

test("a TLS failure says so and is not repeated", async () => {
  let connections = 0;
  // Plain HTTP where TLS is expected: the handshake cannot work.
  const plain = createServer((socket) => {
    connections += 1;
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => plain.once("listening", resolve));
  const port = portOf(plain);
  await using live = await connected(
    json(200, {}),
    {},
    { baseUrl: `https://127.0.0.1:${port}/v3` },
  );
  await expect(live.service.request(...calls.GET)).rejects.toMatchObject({
    code: "UNREACHABLE",
    effect: "none",
    message: expect.stringMatching(/TLS/),
  });
  expect(connections).toBe(1);
  await new Promise((resolve) => plain.close(resolve));
});

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

/** A deadline that comes when the test says so. */
const manualTimer = () => {
  const pending = new Set<() => void>();
  const timer: Timer = (_ms, expire) => {
    pending.add(expire);
    return () => pending.delete(expire);
  };
  return { timer, expireAll: () => [...pending].forEach((expire) => void expire()) };
};

test("an answer that drips for ever ends at the deadline, its effect unknown", async () => {
  const { timer, expireAll } = manualTimer();
  const drip: Handler = (_seen, response) => {
    response.writeHead(201);
    response.write("{", () => expireAll());
  };
  await using live = await connected(drip, { transport: httpTransport({ timer }) });
  await expect(live.service.request(...calls.POST)).rejects.toMatchObject({
    code: "TIMED_OUT",
    effect: "unknown",
  });
});

test("a service that never answers ends at the deadline; a GET is asked again", async () => {
  const { timer, expireAll } = manualTimer();
  const silent: Handler = () => expireAll();
  await using live = await connected(inTurn(silent, json(200, { id: "c1" })), {
    transport: httpTransport({ timer }),
  });
  expect(await live.service.request(...calls.GET)).toMatchObject({ status: 200 });
  expect(live.hub.calls).toHaveLength(2);
});

test("a call whose time is over while it waits for a connection is never written", async () => {
  const { timer } = manualTimer();
  const held: (() => void)[] = [];
  await using hub = await FakeHub.start((...call) => {
    held.push(() => json(200, {})(...call));
    if (held.length === 8) expireLast();
    if (held.length > 8) held.at(-1)?.();
  });
  const expiries: (() => void)[] = [];
  const transport = httpTransport({
    timer: (ms, expire) => {
      expiries.push(expire);
      return timer(ms, expire);
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

test.each([
  ["plainly", '{"id":"c1","__proto__":{"polluted":1},"a":{}}'],
  ["in disguise", '{"id":"c1","a":{"\\u005f_proto__":{"polluted":1}}}'],
])("__proto__ in an answer, written %s, is dropped", async (_, text) => {
  await using live = await connected(raw(200, text));
  const { body } = await live.service.request(...calls.GET);
  expect(JSON.stringify(body)).toBe('{"id":"c1","a":{}}');
});

test("calls go through the proxy where one is set", async () => {
  await using proxy = await FakeHub.start(json(200, { via: "proxy" }));
  const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  const transport = httpTransport({ environment });
  const url = "http://service.invalid/conversation/v3/channels";
  const response = await transport.send({ method: "GET", url, headers: {} });
  await transport.close();
  expect(response.text).toBe('{"via":"proxy"}');
});

test("this machine is reached without the proxy", async () => {
  await using hub = await FakeHub.start(json(200, { via: "nothing" }));
  const transport = httpTransport({ environment: { HTTP_PROXY: "http://127.0.0.1:1" } });
  const { baseUrl } = hub.settings();
  const response = await transport.send({ method: "GET", url: `${baseUrl}/channels`, headers: {} });
  await transport.close();
  expect(response.text).toBe('{"via":"nothing"}');
});

test("a host of NO_PROXY is reached without the proxy", async () => {
  const environment = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "service.invalid" };
  const transport = httpTransport({ environment });
  const url = "http://service.invalid/v3/channels";
  const failure = await failureOf(transport.send({ method: "GET", url, headers: {} }));
  await transport.close();
  expect(failure).toMatchObject({
    sent: false,
    cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) },
  });
});
