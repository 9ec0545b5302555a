import { once } from "node:events";
import { connect as openSocket } from "node:net";
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
  let finish = (): void => {};
  const started = Promise.withResolvers<void>();
  const handled: unknown[] = [];
  const { handler } = receiver({
    acknowledge: "after",
    onMessage: async ({ id }) => {
      handled.push(id);
      started.resolve();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
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
  finish();
  await Promise.all([closed, once(socket, "close")]);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 202", "HTTP/1.1 503"]);
  expect(handled).toEqual(["1"]);
  await server.close();
});

test("it closes although a client left that had sent two calls at once", async () => {
  const started = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const { handler } = receiver({
    acknowledge: "after",
    onMessage: () => {
      started.resolve();
      return finished.promise;
    },
  });
  const node: typeof handler.node = (request, response) => {
    request.socket.once("close", () => left.resolve());
    return handler.node(request, response);
  };
  const server = await serveCallbacks({ "/bot": { ...handler, node } }, here);
  const socket = openSocket(server.port, host);
  const call = (id: string): string =>
    `POST /bot HTTP/1.1\r\nhost: x\r\nauthorization: ${right}\r\ncontent-length: ${body(id).length}\r\n\r\n${body(id)}`;
  socket.write(call("1") + call("2"));
  await started.promise;
  socket.destroy();
  await left.promise;
  finished.resolve();
  await server.close();
});
