import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
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

/** Sends a body in pieces, so without its length, if `isChunked`. */
const send = async (url: string, body: Uint8Array, given: object, isChunked = true) => {
  const pieces = new Blob([body.slice(0, 9), body.slice(9)]);
  const headers = { authorization: right, ...given };
  const init = { method: "POST", headers, body: pieces, duplex: "half" };
  return fetch(url, (isChunked ? { ...init, body: pieces.stream() } : init) as RequestInit);
};

test.each([
  ["gzip", gzipSync],
  ["X-Gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["identity", Buffer.from],
])(
  "a body with the encoding %s is read by every server, chunked or not",
  async (encoding, encode) => {
    const { handler, received } = receiver();
    await using server = await served(handler.node);
    const headers = {
      "content-encoding": encoding,
      "content-type": 'application/json; charset="UTF-8"',
    };
    const bodyOf = (id: string) => encode(Buffer.from(JSON.stringify(bodyWith(message(id, "🙂")))));
    await send(server.url, bodyOf("1"), headers, true);
    await send(server.url, bodyOf("2"), headers, false);
    const init = {
      method: "POST",
      headers: { ...headers, authorization: right },
      body: bodyOf("3"),
    };
    await handler.fetch(new Request(server.url, init));
    await handler.idle();
    expect(received.map(({ id, text }) => [id, text])).toEqual([
      ["1", "🙂"],
      ["2", "🙂"],
      ["3", "🙂"],
    ]);
  },
);

const sound = Buffer.from(JSON.stringify(bodyWith(message("1"))));
const large = Buffer.alloc(32 * 1024 * 1024, " ");
const tooLong = "its body is longer than 1048576 bytes (maxBytes)";

test.each<[string, Uint8Array, number, string]>([
  ["zstd", sound, 415, 'its content encoding "zstd" is none of: gzip, deflate, br'],
  ["gzip, br", sound, 415, 'its content encoding "gzip, br" is none of: gzip, deflate, br'],
  ["gzip", gzipSync(large), 413, tooLong],
  ["br", brotliCompressSync(large), 413, tooLong],
  ["gzip", sound, 400, "its body is not valid gzip"],
  ["gzip", gzipSync(sound).subarray(0, -9), 400, "its body is not valid gzip"],
])(
  "a body with the encoding %s that cannot be read gets its reason",
  async (encoding, body, status, rule) => {
    const { handler, received, errors } = receiver();
    await using server = await served(handler.node);
    const response = await send(server.url, body, { "content-encoding": encoding });
    const text = `Could not read a callback: ${rule}. Its messages, if any, were not handled.`;
    expect([response.status, await response.text(), received]).toEqual([status, text, []]);
    expect(errors).toEqual([expect.objectContaining({ message: text })]);
  },
);

const utf16 = Buffer.from(sound.toString(), "utf16le");

test.each([
  ["no", 415, undefined],
  ["json", 202, JSON.parse(sound.toString())],
  ["text", 202, sound.toString()],
  ["raw", 415, utf16],
])("Express: after %s parser, a charset other than UTF-8 gets a %i", async (_, status, parsed) => {
  const { handler } = receiver();
  await using server = await served(async (request, response) => {
    if (parsed !== undefined) await once(request.resume(), "end");
    await handler.express(Object.assign(request, { body: parsed }), response);
  });
  const type = { "content-type": "application/json;Charset=utf-16le" };
  // What a parser read, it has decoded.
  const response = await send(
    server.url,
    utf16,
    parsed ? { ...type, "content-encoding": "br" } : type,
  );
  expect(response.status).toBe(status);
  if (status === 415)
    expect(await response.text()).toContain('its charset "utf-16le" is not UTF-8');
});
