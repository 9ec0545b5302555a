import { createServer } from "node:net";
import { expect, test } from "vitest";
import { connectService } from "../../provider/service/connect.js";
import { httpTransport, type Timer } from "../../provider/service/http/transport.js";
import { calls } from "./support/calls.js";
import { JumpingClock } from "./support/clocks.js";
import { connected, failureOf, noPauses } from "./support/connected.js";
import { FakeHub, type Handler, inTurn, json, portOf, raw } from "./support/fake-hub.js";

const reset: Handler = (_seen, _response, socket) => socket.resetAndDestroy();
const hangUp: Handler = (_seen, _response, socket) => socket.destroy();

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
