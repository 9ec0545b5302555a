import { once } from "node:events";
import { request as startRequest } from "node:http";
import { connect as openSocket, type Socket } from "node:net";
import { expect, test } from "vitest";
import { serveCallbacks } from "../../sdk/runtime/index.js";
import { failureOf } from "../service/support/connected.js";
import { bodyWith, message, receiver, right } from "./support/callback-calls.js";

const host = "127.0.0.1";
const here = { port: 0, host };
const headers = { authorization: right };
const body = (id: string): string => JSON.stringify(bodyWith(message(id)));

test("each path has its handler, /health responds, and nothing else does", async () => {
  const [bot, agent] = [receiver(), receiver()];
  const handlers = { "/bot": bot.handler, "/agent": agent.handler };
  await using server = await serveCallbacks(handlers, here);
  const statusOf = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`http://${host}:${server.port}${path}`, init)).status;
  const post = { method: "POST", headers };
  expect(await statusOf("/bot", { ...post, body: body("1") })).toBe(202);
  expect(await statusOf("/agent?tenant=a", { ...post, body: body("2") })).toBe(202);
  expect(await statusOf("/bot", { ...post, headers: {}, body: body("3") })).toBe(401);
  expect([await statusOf("/health"), await statusOf("/bots")]).toEqual([200, 404]);
  await Promise.all([bot.handler.idle(), agent.handler.idle()]);
  expect([bot, agent].map(({ received }) => received.map(({ id }) => id))).toEqual([["1"], ["2"]]);
});

test("a trailing slash changes nothing, and any other path is told where the callbacks are", async () => {
  const [bot, agent] = [receiver(), receiver()];
  await using server = await serveCallbacks(
    { "/bot": bot.handler, "/agent/": agent.handler },
    here,
  );
  const post = (path: string) =>
    fetch(`http://${host}:${server.port}${path}`, { method: "POST", headers, body: body("1") });
  for (const path of ["/bot/?a=b", "/agent", "/health/"]) {
    expect((await post(path)).ok, path).toBe(true);
  }
  await Promise.all([bot.handler.idle(), agent.handler.idle()]);
  expect([bot.received.length, agent.received.length]).toEqual([1, 1]);
  for (const path of ["/", "/hub/bot", "//bot", "/bot//", "/BOT"]) {
    const response = await post(path);
    expect([response.status, await response.text()]).toEqual([
      404,
      "No callback has this path. Callbacks: /bot, /agent/.",
    ]);
  }
});

test("a request line with the whole address leads to the same handler", async () => {
  const { handler, received } = receiver();
  await using server = await serveCallbacks({ "/bot": handler }, here);
  const path = "http://bot.example.com/bot?a=b";
  const request = startRequest({ ...here, port: server.port, path, method: "POST", headers });
  const [response] = await once(request.end(body("1")), "response");
  await handler.idle();
  expect([response.statusCode, received.length]).toEqual([202, 1]);
});

test.each(["before", "after"] as const)(
  "a handler with two paths handles a message once, and answers both calls (%s)",
  async (acknowledge) => {
    const { handler, received } = receiver({ acknowledge });
    await using server = await serveCallbacks({ "/bot": handler, "/hub/bot": handler }, here);
    const post = async (path: string) => {
      const url = `http://${host}:${server.port}${path}`;
      return (await fetch(url, { method: "POST", headers, body: body("1") })).status;
    };
    expect(await Promise.all([post("/bot"), post("/hub/bot")])).toEqual([202, 202]);
    expect(await post("/hub/bot/")).toBe(202);
    await handler.idle();
    expect(received.map(({ id }) => id)).toEqual(["1"]);
  },
);

test.each([
  [{}, "timeout=75", [75_000, 76_000, 300_000]],
  [{ keepAliveMs: 620_000 }, "timeout=620", [620_000, 621_000, 621_000]],
])("an idle connection stays open with %j", async (options, said, timeouts) => {
  const { handler } = receiver();
  let seen: unknown[] = [];
  const node: typeof handler.node = (request, response) => {
    const of = (name: string) => Reflect.get(Reflect.get(request.socket, "server"), name);
    // A connection that has sent nothing yet is as old as its headers are late.
    seen = [of("keepAliveTimeout"), of("headersTimeout"), of("requestTimeout")];
    return handler.node(request, response);
  };
  const all = { ...here, ...options };
  await using server = await serveCallbacks({ "/bot": { ...handler, node } }, all);
  const response = await fetch(`http://${host}:${server.port}/bot`, { headers });
  expect([response.headers.get("keep-alive"), seen]).toEqual([said, timeouts]);
});

test("it closes at once although a proxy keeps connections, used ones and new ones", async () => {
  const server = await serveCallbacks({ "/bot": receiver().handler }, here);
  const [used, fresh] = [openSocket(server.port, host), openSocket(server.port, host).resume()];
  const ends = [once(used, "close"), once(fresh, "close")];
  used.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(used, "data");
  await Promise.all([server.close(), ...ends]);
});

test("a port in use is an error that names host, port and what to do", async () => {
  const { handler } = receiver();
  await using first = await serveCallbacks({ "/bot": handler }, here);
  const { port } = first;
  const failure = await failureOf(serveCallbacks({ "/bot": handler }, { port, host }));
  expect(failure).toMatchObject({ code: "SETTINGS_INVALID" });
  expect(String(failure)).toContain(
    `Could not serve callbacks: port ${port} is in use on ${host}. Stop the process that uses it, or choose another port.`,
  );
});

test.each([
  ["a port that is none", { "/bot": receiver().handler }, { port: Number("") - 1 }, "port:"],
  [
    "no time to keep a connection",
    { "/bot": receiver().handler },
    { ...here, keepAliveMs: 0 },
    "keepAliveMs:",
  ],
  ["a path without its slash", { bot: receiver().handler }, here, "bot:"],
  ["a path with a query", { "/bot?a=b": receiver().handler }, here, "/bot?a=b:"],
  ["a path that no URL can have", { "/bot é": receiver().handler }, here, "/bot é:"],
  ["a handler that is none", { "/bot": () => {} }, here, "/bot:"],
])("%s is invalid input", async (_, handlers, options, reason) => {
  const failure = await failureOf(Reflect.apply(serveCallbacks, undefined, [handlers, options]));
  expect(failure).toMatchObject({ code: "INPUT_INVALID" });
  expect(String(failure)).toContain(reason);
});

test("while it closes, accepted messages are handled and answered, and new calls are sent back", async () => {
  const finished = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const handled: unknown[] = [];
  const { handler } = receiver({
    acknowledge: "after",
    onMessage: async ({ id }) => {
      handled.push(id);
      started.resolve();
      await finished.promise;
    },
  });
  const server = await serveCallbacks({ "/bot": handler }, here);
  const socket = openSocket(server.port, host).setEncoding("utf8");
  let answers = "";
  socket.on("data", (piece: string) => {
    answers += piece;
  });
  const send = (id: string): void => {
    const text = body(id);
    const head = `POST /bot HTTP/1.1\r\nhost: x\r\nauthorization: ${right}\r\ncontent-length: ${Buffer.byteLength(text)}`;
    socket.write(`${head}\r\n\r\n${text}`);
  };
  send("1");
  await started.promise;
  const closed = server.close();
  send("2");
  await expect(fetch(`http://${host}:${server.port}/health`)).rejects.toThrow();
  finished.resolve();
  await Promise.all([closed, once(socket, "close")]);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 202", "HTTP/1.1 503"]);
  expect(handled).toEqual(["1"]);
  await server.close();
});

test.each<[string, (socket: Socket) => unknown]>([
  ["left, having sent two calls at once", (socket) => socket.destroy()],
  ["broke the connection", (socket) => socket.resetAndDestroy()],
  ["goes on with what is no call", (socket) => socket.write("no call\r\n\r\n")],
])("it closes when its work is done although a client %s", async (_, spoil) => {
  const started = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const handled: unknown[] = [];
  const { handler } = receiver({
    acknowledge: "after",
    onMessage: async ({ id }) => {
      started.resolve();
      await finished.promise;
      handled.push(id);
    },
  });
  const node: typeof handler.node = (request, response) => {
    request.socket.once("close", () => left.resolve());
    return handler.node(request, response);
  };
  const server = await serveCallbacks({ "/bot": { ...handler, node } }, here);
  const socket = openSocket(server.port, host).on("error", () => {});
  const call = (id: string): string =>
    `POST /bot HTTP/1.1\r\nhost: x\r\nauthorization: ${right}\r\ncontent-length: ${body(id).length}\r\n\r\n${body(id)}`;
  socket.write(call("1") + call("2"));
  await started.promise;
  const closed = server.close();
  spoil(socket);
  await left.promise;
  finished.resolve();
  await closed;
  expect(handled).toEqual(["1", "2"]);
});

test("it closes although a response did not say that its connection is gone, as in Node.js 22", async () => {
  const left = Promise.withResolvers<void>();
  const { handler } = receiver();
  const node: typeof handler.node = (request, response) => {
    response.removeAllListeners("close");
    request.socket.once("close", () => left.resolve());
    return new Promise(() => {});
  };
  const server = await serveCallbacks({ "/bot": { ...handler, node } }, here);
  const socket = openSocket(server.port, host);
  socket.write("POST /bot HTTP/1.1\r\nhost: x\r\n\r\n", () => socket.destroy());
  await left.promise;
  await server.close();
});

test("it closes only when all that was accepted is handled", async () => {
  const started = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  let isHandled = false;
  const { handler } = receiver({
    onMessage: async () => {
      started.resolve();
      await finished.promise;
      isHandled = true;
    },
  });
  const server = await serveCallbacks({ "/bot": handler }, here);
  const url = `http://${host}:${server.port}/bot`;
  expect((await fetch(url, { method: "POST", headers, body: body("1") })).status).toBe(202);
  await started.promise;
  const closed = server.close().then(() => isHandled);
  await expect(fetch(url)).rejects.toThrow();
  finished.resolve();
  expect(await closed).toBe(true);
});
