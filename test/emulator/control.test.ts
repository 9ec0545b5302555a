import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { kindOf, running, scopes } from "./running.js";

const channel = kindOf("Channel");

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
  const own = await running();
  expect((await own.control("GET", "/deliveries")).text).toBe("[]");
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
  const faultRule = { on: "GET /channels", kind: "hang" };
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
