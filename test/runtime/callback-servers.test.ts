import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { ManualClock, nextTurn } from "../service/support/clocks.js";
import { ask, bodyWith, message, receiver, right, served } from "./support/callback-calls.js";

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { authorization: right, ...headers } });

test("node:http: a message arrives, and the same connection carries the next one", async () => {
  const { handler, received } = receiver();
  await using server = await served(handler.node);
  for (const id of ["1", "2"]) {
    const response = await post(server.url, JSON.stringify(bodyWith(message(id))));
    expect([response.status, await response.text()]).toEqual([202, ""]);
  }
  await handler.idle();
  expect(received.map(({ id }) => id)).toEqual(["1", "2"]);
});

test("node:http: characters that are cut between pieces stay whole", async () => {
  const { handler, received } = receiver();
  await using server = await served(handler.node);
  const bytes = Buffer.from(JSON.stringify(bodyWith(message("1", "grüße 🙂"))));
  const cut = bytes.indexOf("🙂") + 2;
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: right };
    const request = httpRequest(server.url, { method: "POST", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    request.on("error", reject);
    request.write(bytes.subarray(0, cut), () =>
      setImmediate(() => request.end(bytes.subarray(cut))),
    );
  });
  await handler.idle();
  expect([status, received[0]?.text]).toEqual([202, "grüße 🙂"]);
});

test.each([
  ["with its length given", (text: string) => text],
  ["without its length given", (text: string) => new Blob([text]).stream()],
])("node:http: a body that is too long gets a 413, %s", async (_, bodyOf) => {
  const { handler, received } = receiver();
  await using server = await served(handler.node);
  const body = bodyOf("x".repeat(9 * 1024 * 1024));
  const init = { method: "POST", headers: { authorization: right }, body, duplex: "half" };
  const response = await fetch(server.url, init as RequestInit);
  expect([response.status, received]).toEqual([413, []]);
});

test("node:http: what was not read of a body holds up no later call of its connection", async () => {
  const { handler } = receiver();
  await using server = await served(handler.node);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").setEncoding("utf8");
  const send = (body: string): boolean =>
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\nauthorization: ${right}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  send("x".repeat(9 * 1024 * 1024));
  send(JSON.stringify(bodyWith(message("1"))));
  let answers = "";
  for await (const piece of socket) {
    answers += piece;
    if (answers.includes("202 Accepted")) break;
  }
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 202"]);
});

test("node:http: a call that breaks off is reported, with what that means", async () => {
  const reported = Promise.withResolvers<unknown>();
  const { handler } = receiver({ onError: reported.resolve });
  await using server = await served(handler.node);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const head = `POST / HTTP/1.1\r\nhost: x\r\nauthorization: ${right}\r\ncontent-length: 9\r\n\r\n`;
  socket.write(`${head}{`, () => socket.destroy());
  expect(await reported.promise).toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("its body did not arrive completely"),
  });
});

test("node:http: a call that something else has answered is no failure", async () => {
  const { handler } = receiver();
  const ended = Promise.withResolvers<void>();
  await using server = await served((request, response) => {
    response.writeHead(504).flushHeaders();
    handler
      .node(request, response)
      .then(ended.resolve, ended.reject)
      .finally(() => response.end());
  });
  expect((await post(server.url, JSON.stringify(bodyWith(message("1"))))).status).toBe(504);
  await ended.promise;
});

test("node:http: wrong credentials get a 401 without the body being read", async () => {
  const { handler } = receiver();
  await using server = await served(handler.node);
  const response = await post(server.url, "not even JSON", { authorization: "Basic eA==" });
  expect(response.status).toBe(401);
});

test("node:http: a call that does not end is answered in time, and does no harm", async () => {
  const clock = new ManualClock();
  const { handler, received, errors } = receiver({ clock });
  await using server = await served(handler.node);
  const answered = new Promise((resolve) => {
    const headers = { authorization: right };
    const request = httpRequest(server.url, { method: "POST", headers }, (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.on("error", () => {});
    request.write('{"messages":');
  });
  while (clock.sleeping === 0) await nextTurn();
  clock.advance(4_999);
  expect(await answered).toBe(408);
  expect([received, errors]).toEqual([[], []]);
});

test("a check of a token that takes too long is answered in time, and nothing is taken", async () => {
  const clock = new ManualClock();
  const decided = Promise.withResolvers<boolean>();
  const bearer = () => decided.promise;
  const { handler, received } = receiver({ clock, authenticate: { bearer } });
  const body = JSON.stringify(bodyWith(message("1")));
  const response = ask(handler, body, { authorization: "Bearer x" });
  await nextTurn();
  clock.advance(4_999);
  expect((await response).status).toBe(408);
  decided.resolve(true);
  await nextTurn();
  await handler.idle();
  expect(received).toEqual([]);
});

test("a body that a parser has read cannot be read again, and the answer says why", async () => {
  const { handler, received, errors } = receiver();
  await using server = await served(async (request, response) => {
    await once(request.resume(), "end");
    await handler.node(request, response);
  });
  const response = await post(server.url, JSON.stringify(bodyWith(message("1"))));
  expect([response.status, received]).toEqual([500, []]);
  expect(await response.text()).toContain("use the handler before body parsers");
  expect(errors).toMatchObject([{ code: "BAD_RESPONSE" }]);
});

const asked = (body: RequestInit["body"], authorization = right): Request => {
  const init = { method: "POST", headers: { authorization }, body, duplex: "half" };
  return new Request("http://x.example/", init as RequestInit);
};

test("fetch: a message arrives, from a stream, too", async () => {
  const { handler, received } = receiver();
  const text = (id: string) => JSON.stringify(bodyWith(message(id)));
  for (const body of [text("1"), new Blob([text("2")]).stream()]) {
    const response = await handler.fetch(asked(body));
    expect([response.status, await response.text()]).toEqual([202, ""]);
  }
  await handler.idle();
  expect(received.map(({ id }) => id)).toEqual(["1", "2"]);
});

test("fetch: what is refused says why, and nothing arrives", async () => {
  const { handler, received } = receiver();
  const wrong = await handler.fetch(asked("{}", "Basic eA=="));
  expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringMatching(/^Basic /),
  ]);
  expect((await handler.fetch(new Request("http://x.example/"))).status).toBe(405);
  const long = await handler.fetch(asked(new Blob(["x".repeat(2 ** 24)]).stream()));
  expect(long.status).toBe(413);
  const read = asked(JSON.stringify(bodyWith(message("1"))));
  await read.text();
  const late = await handler.fetch(read);
  expect([late.status, await late.text()]).toEqual([500, expect.stringContaining("read before")]);
  const none = await handler.fetch(asked(null));
  expect([none.status, none.headers.get("content-type")]).toEqual([
    400,
    expect.stringMatching(/^text\/plain/),
  ]);
  expect(received).toEqual([]);
});
