import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, start } from "./running.js";

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

test.each([
  ["POST", "/faults", '{"on":"GET /channels","kind":"status","status":500,"body":DEEP}'],
  ["PUT", "/snapshot", '{"version":1,"objects":{"channels":DEEP}}'],
  ["PUT", "/switches", '{"put":DEEP}'],
])(
  "%s %s with a body that is nested too deeply is refused, and leaves nothing",
  async (method, path, text) => {
    const raw = text.replace("DEEP", `${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    const reply = await service.send(method, service.emulator.controlUrl + path, { raw });
    expect(reply).toMatchObject({
      status: 400,
      json: { error: "The body is nested too deeply." },
    });
    expect((await service.control("GET", "/faults")).text).toBe("[]");
    expect((await service.control("GET", "/snapshot")).status).toBe(200);
  },
);
