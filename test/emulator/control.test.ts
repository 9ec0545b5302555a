import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindOf, type Running, running, scopes, start } from "./running.js";

const channel = kindOf("Channel");

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

const faultRule = { on: "GET /channels", kind: "hang" };

/** Calls that must be refused: 400, a reason, and nothing changed. */
test.each<[string, string, unknown, RegExp]>([
  ["POST", "/clock", {}, /advanceMs/],
  ["POST", "/clock", { advanceMs: "1" }, /advanceMs/],
  ["POST", "/clock", { advanceMs: -1 }, /advanceMs/],
  ["POST", "/clock", { advanceMs: null }, /advanceMs/],
  ["POST", "/clock", { advanceMs: 1, more: 1 }, /more/],
  ["POST", "/clock", [], /advanceMs/],
  ["POST", "/faults", {}, /"on"/],
  ["POST", "/faults", 5, /object/],
  ["POST", "/faults", { ...faultRule, on: "GET /nothing" }, /POST \/channels/],
  ["POST", "/faults", { ...faultRule, on: "token" }, /TOKEN/],
  ["POST", "/faults", { ...faultRule, on: "GET /channels?a=1" }, /"on"/],
  ["POST", "/faults", { on: "GET /channels" }, /"kind"/],
  ["POST", "/faults", { ...faultRule, kind: "explode" }, /drop-before-commit/],
  ["POST", "/faults", { ...faultRule, kind: "constructor" }, /"kind"/],
  ["POST", "/faults", { ...faultRule, times: 0 }, /times/],
  ["POST", "/faults", { ...faultRule, times: 1.5 }, /times/],
  ["POST", "/faults", { ...faultRule, times: "2" }, /times/],
  ["POST", "/faults", { ...faultRule, after: -1 }, /after/],
  ["POST", "/faults", { ...faultRule, status: 500 }, /status/],
  ["POST", "/faults", { ...faultRule, kind: "status" }, /status/],
  ["POST", "/faults", { ...faultRule, kind: "status", status: 100 }, /status/],
  ["POST", "/faults", { ...faultRule, kind: "status", status: 600 }, /status/],
  ["POST", "/faults", { ...faultRule, kind: "status", status: "500" }, /status/],
  ["POST", "/faults", { ...faultRule, kind: "status", status: 500, headers: [] }, /headers/],
  ["POST", "/faults", { ...faultRule, kind: "status", status: 500, headers: { a: 1 } }, /headers/],
  [
    "POST",
    "/faults",
    { ...faultRule, kind: "status", status: 500, headers: { a: "\n" } },
    /headers/,
  ],
  [
    "POST",
    "/faults",
    { ...faultRule, kind: "status", status: 500, headers: { a: "→" } },
    /headers/,
  ],
  [
    "POST",
    "/faults",
    { ...faultRule, kind: "status", status: 500, headers: { "a b": "" } },
    /headers/,
  ],
  [
    "POST",
    "/faults",
    { ...faultRule, kind: "status", status: 500, headers: { "Content-Length": "1" } },
    /headers/,
  ],
  ["POST", "/faults", { ...faultRule, kind: "delay" }, /ms/],
  ["POST", "/faults", { ...faultRule, kind: "delay", ms: -1 }, /ms/],
  ["POST", "/faults", { ...faultRule, kind: "delay", ms: "1" }, /ms/],
  ["POST", "/faults", { ...faultRule, kind: "redirect" }, /location/],
  ["POST", "/faults", { ...faultRule, kind: "redirect", location: "" }, /location/],
  [
    "POST",
    "/faults",
    { ...faultRule, kind: "redirect", location: "http://x/\r\na: b" },
    /location/,
  ],
  ["POST", "/faults", { ...faultRule, kind: "stale-list" }, /ms/],
  ["POST", "/faults", { on: "GET /channels/{id}", kind: "stale-list", ms: 1 }, /lists/],
  ["POST", "/faults", { on: "POST /channels", kind: "forbidden-list" }, /lists/],
  ["POST", "/faults", { on: "TOKEN", kind: "forbidden-list" }, /lists/],
  ["POST", "/faults", [faultRule, { ...faultRule, kind: "explode" }], /"kind"/],
  ["POST", "/clients", {}, /clientId/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b" }, /scopes/],
  ["POST", "/clients", { clientId: "", clientSecret: "b", scopes: [] }, /clientId/],
  ["POST", "/clients", { clientId: "a", clientSecret: "", scopes: [] }, /clientSecret/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b", scopes: "all" }, /scopes/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b", scopes: [1] }, /scopes/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b", scopes: [], more: 1 }, /more/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b", scopes: ["two words"] }, /one word/],
  ["POST", "/clients", { clientId: "a", clientSecret: "b", scopes: ['"'] }, /one word/],
  ["POST", "/clients", { clientId: "a", public: true, scopes: [] }, /redirectUris/],
  ["POST", "/clients", { clientId: "a", public: true, redirectUris: [], scopes: [] }, /redirect/],
  [
    "POST",
    "/clients",
    { clientId: "a", public: true, redirectUris: ["back"], scopes: [] },
    /absolute/,
  ],
  [
    "POST",
    "/clients",
    { clientId: "a", public: true, redirectUris: ["https://x/ü b"], scopes: [] },
    /percent-encoded/,
  ],
  [
    "POST",
    "/clients",
    { clientId: "a", public: true, clientSecret: "b", redirectUris: ["https://x/"], scopes: [] },
    /public/,
  ],
  ["PUT", "/switches", [], /switches/],
  ["PUT", "/switches", { nothing: 1 }, /secrets, put, inUseStatus/],
  [
    "PUT",
    "/switches",
    { put: "keep", inUseStatus: 418 },
    /inUseStatus must be one of 400, 403, 409, 412/,
  ],
  ["PUT", "/snapshot", {}, /version/],
  ["PUT", "/snapshot", [], /version/],
])("%s %s with %j is refused", async (method, path, body, reason) => {
  const seen = async () =>
    Promise.all(
      ["/snapshot", "/faults"].map(async (at) => (await service.control("GET", at)).text),
    );
  const before = await seen();
  const reply = await service.control(method, path, body);
  expect(reply.status).toBe(400);
  expect(reply.json).toEqual({ error: expect.stringMatching(reason) });
  expect(await seen()).toEqual(before);
});

test.each(["/clock", "/faults", "/clients"])("POST %s without JSON is refused", async (path) => {
  const url = service.emulator.controlUrl + path;
  for (const raw of ["", "{", "advanceMs=1"])
    expect(await service.send("POST", url, { raw })).toMatchObject({
      status: 400,
      json: { error: "The body must be JSON." },
    });
});

test.each([
  ["GET", ""],
  ["GET", "/"],
  ["GET", "/nothing"],
  ["GET", "/%ff"],
  ["DELETE", "/switches"],
  ["POST", "/stats"],
  ["PATCH", "/faults"],
])("%s %s is no control call", async (method, path) => {
  const reply = await service.control(method, path);
  expect({ status: reply.status, names: Object.keys(reply.json) }).toEqual({
    status: 404,
    names: ["error"],
  });
});

test("the manual clock stands still and is moved by POST /clock", async () => {
  const own = await running();
  const id = await own.make(channel);
  const at = async () => (await own.call("GET", `/channels/${id}`)).json;
  const { created } = await at();
  await own.control("POST", "/clock", { advanceMs: 1500 });
  await own.call("PUT", `/channels/${id}`, await own.body(channel));
  const later = await at();
  expect(later.created).toBe(created);
  expect(Date.parse(String(later.modified)) - Date.parse(String(created))).toBe(1500);
});

test("the manual clock does not leave the calendar", async () => {
  const own = await running();
  for (let call = 0; call < 300; call += 1)
    await own.control("POST", "/clock", { advanceMs: 1e12 });
  own.forgetToken();
  expect((await own.call("GET", "/channels")).status).toBe(200);
  expect(() => own.emulator.advance(-1)).toThrow("forward only");
  expect(() => own.emulator.advance(Number.NaN)).toThrow("forward only");
});

test("the real clock cannot be moved", async () => {
  const own = await running({ clock: "real" });
  const reply = await own.control("POST", "/clock", { advanceMs: 1 });
  expect({ status: reply.status, names: Object.keys(reply.json) }).toEqual({
    status: 409,
    names: ["error"],
  });
  expect(() => own.emulator.advance(1)).toThrow("real clock");
});

test("stats count calls by endpoint, refused ones apart, and tokens", async () => {
  const own = await running({ plan: "developer", burst: 1 });
  await own.call("GET", "/channels");
  await own.call("GET", "/channels");
  await own.call("GET", "/channels/00000000-0000-4000-8000-000000000000");
  expect((await own.control("GET", "/stats")).json).toEqual({
    calls: {
      "GET /channels": { accepted: 1, refused: 1 },
      "GET /channels/{id}": { accepted: 1, refused: 0 },
    },
    tokensIssued: 1,
  });
});

test("the log tells every call in order, without secret, token or body", async () => {
  const own = await running();
  const id = await own.make(kindOf("Authentication"));
  await own.call("GET", `/authentications/${id}?secret=in-the-query`);
  await own.call("GET", "/channels", undefined, { token: null });
  await own.call("GET", "/nothing");
  const { json, text } = await own.control("GET", "/log");
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const ms = expect.any(Number);
  const clientId = "emulator";
  expect(json.items).toEqual([
    {
      at,
      ms,
      method: "POST",
      template: "/authentications",
      path: "/authentications",
      status: 201,
      clientId,
    },
    {
      at,
      ms,
      method: "GET",
      template: "/authentications/{id}",
      path: `/authentications/${id}`,
      status: 200,
      clientId,
    },
    { at, ms, method: "GET", template: "/channels", path: "/channels", status: 401 },
    { at, ms, method: "GET", template: "(none)", path: "/nothing", status: 404 },
  ]);
  for (const secret of [await own.token(), own.emulator.clientSecret, "not-a-real", "in-the-query"])
    expect(text).not.toContain(secret);
});

test("deliveries are a list", async () => {
  expect((await service.control("GET", "/deliveries")).text).toBe("[]");
});

test("a new client may ask for tokens at once, and a changed one has what it has now", async () => {
  const own = await running();
  const ask = (secret: string) =>
    own.form(own.emulator.tokenUrl, own.credentials({ client_id: "robot", client_secret: secret }));
  const put = (clientSecret: string, given: string[]) =>
    own.control("POST", "/clients", { clientId: "robot", clientSecret, scopes: given });
  expect((await put("first", [scopes.R])).status).toBe(201);
  expect((await ask("first")).json.scope).toBe(scopes.R);
  await put("second", [scopes.M]);
  expect((await ask("first")).status).toBe(401);
  expect((await ask("second")).json.scope).toBe(scopes.M);
});

test("reset forgets objects, log, counts, faults and buckets; clients, tokens and switches stay", async () => {
  const own = await running({ plan: "developer", burst: 2 });
  await own.control("POST", "/clients", {
    clientId: "robot",
    clientSecret: "s",
    scopes: [scopes.R],
  });
  await own.control("PUT", "/switches", { pageSize: 3 });
  await own.make(channel);
  await own.call("GET", "/channels");
  await own.call("GET", "/channels");
  await own.control("POST", "/faults", { on: "GET /channels", kind: "drop-before-commit" });
  expect((await own.control("POST", "/reset")).status).toBe(204);
  expect((await own.control("GET", "/log")).text).toBe("[]");
  expect((await own.control("GET", "/faults")).text).toBe("[]");
  expect((await own.control("GET", "/stats")).json).toEqual({ calls: {}, tokensIssued: 0 });
  const { status, json } = await own.call("GET", "/channels");
  expect({ status, json }).toEqual({
    status: 200,
    json: { paginationInfo: { count: 0, pagenum: 1, pagesize: 3 }, channel: [] },
  });
  const robot = own.credentials({ client_id: "robot", client_secret: "s" });
  expect((await own.form(own.emulator.tokenUrl, robot)).status).toBe(200);
});

test("DELETE /faults disarms everything", async () => {
  const own = await running();
  await own.control("POST", "/faults", [faultRule, faultRule]);
  expect((await own.control("DELETE", "/faults")).status).toBe(204);
  expect((await own.call("GET", "/channels")).status).toBe(200);
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address && !address.internal && address.family === "IPv4")?.address;

test.skipIf(!outside)(
  "only the loopback interface may control, whatever a header says",
  async () => {
    const own = await running({ host: "0.0.0.0" });
    const port = new URL(own.emulator.baseUrl).port;
    const headers = { "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1" };
    const url = `http://${outside}:${port}`;
    expect((await fetch(`${url}/control/switches`, { headers })).status).toBe(403);
    expect((await fetch(`${url}/conversation/v3/channels`)).status).toBe(401);
    const forwarded = { headers: { "x-forwarded-for": "203.0.113.9" } };
    expect((await fetch(`${own.emulator.controlUrl}/switches`, forwarded)).status).toBe(200);
  },
);
