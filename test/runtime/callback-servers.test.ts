import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { ManualClock, nextTurn } from "../service/support/clocks.js";
import { bodyWith, message, receiver, right, served } from "./support/callback-calls.js";

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
  const body = bodyOf("x".repeat(2 * 1024 * 1024));
  const init = { method: "POST", headers: { authorization: right }, body, duplex: "half" };
  const response = await fetch(server.url, init as RequestInit);
  expect([response.status, received]).toEqual([413, []]);
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
  let decide: (passes: boolean) => void = () => {};
  const bearer = () =>
    new Promise<boolean>((resolve) => {
      decide = resolve;
    });
  const { handler, received } = receiver({ clock, authenticate: { bearer } });
  const init = {
    method: "POST",
    headers: { authorization: "Bearer x" },
    body: JSON.stringify(bodyWith(message("1"))),
  };
  const response = handler.fetch(new Request("http://x.example/", init));
  await nextTurn();
  clock.advance(4_999);
  expect((await response).status).toBe(408);
  decide(true);
  await nextTurn();
  await handler.idle();
  expect(received).toEqual([]);
});

/** What a body parser of Express does before the handler. */
const parsing =
  (use: (request: IncomingMessage & { body?: unknown }, text: string) => void) =>
  (next: (request: IncomingMessage, response: ServerResponse) => void) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    use(request, Buffer.concat(pieces).toString());
    next(request, response);
  };

test.each([
  ["json", parsing((request, text) => Object.assign(request, { body: JSON.parse(text) }))],
  ["text", parsing((request, text) => Object.assign(request, { body: text }))],
  ["raw", parsing((request, text) => Object.assign(request, { body: Buffer.from(text) }))],
])("Express: a body that the %s parser read is used", async (_, parser) => {
  const { handler, received } = receiver();
  await using server = await served(
    parser((request, response) => handler.express(request, response)),
  );
  const response = await post(server.url, JSON.stringify(bodyWith(message("1"))));
  await handler.idle();
  expect([response.status, received.map(({ id }) => id)]).toEqual([202, ["1"]]);
});

test("Express: a body that no parser wanted is read, even where it left an empty object", async () => {
  const { handler, received } = receiver();
  await using server = await served((request, response) => {
    Object.assign(request, { body: {} });
    void handler.express(request, response, () => response.end("next"));
  });
  await post(server.url, JSON.stringify(bodyWith(message("1"))));
  await handler.idle();
  expect(received.map(({ id }) => id)).toEqual(["1"]);
});
