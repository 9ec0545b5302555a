import { expect, test } from "vitest";
import { arm, token } from "./fault-calls.js";
import { kindOf, type Running, running } from "./running.js";

const channel = kindOf("Channel");

const statuses = async (service: Running, calls: number): Promise<number[]> => {
  const seen: number[] = [];
  for (let call = 0; call < calls; call += 1)
    seen.push((await service.call("GET", "/channels")).status);
  return seen;
};

test("times and after count the calls of the endpoint", async () => {
  const service = await running();
  await arm(service, { on: "GET /channels", kind: "status", status: 500, times: 2, after: 1 });
  await service.make(channel);
  expect(await statuses(service, 5)).toEqual([200, 500, 500, 200, 200]);
});

test("rules on one endpoint come one after the other", async () => {
  const service = await running();
  await arm(service, [
    { on: "GET /channels", kind: "status", status: 500 },
    { on: "GET /channels", kind: "status", status: 503, times: 2 },
  ]);
  expect(await statuses(service, 4)).toEqual([500, 503, 503, 200]);
});

test("after counts from when the rule was given, also the calls that an earlier rule takes", async () => {
  const service = await running();
  const rule = { on: "GET /channels", kind: "status" };
  await arm(service, [
    { ...rule, status: 500 },
    { ...rule, status: 502 },
    { ...rule, status: 503, after: 2 },
  ]);
  expect(await statuses(service, 4)).toEqual([500, 502, 503, 200]);
});

test("a call without a token or beyond the rate uses no fault up", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  await arm(service, { on: "GET /channels", kind: "status", status: 500, after: 1 });
  expect((await service.call("GET", "/channels", undefined, { token: null })).status).toBe(401);
  expect(await statuses(service, 2)).toEqual([200, 429]);
  service.emulator.advance(6250);
  expect(await statuses(service, 1)).toEqual([500]);
});

test("a call that a fault spoils is in the log and in the counts, with its client", async () => {
  const service = await running();
  await arm(service, { on: "GET /channels", kind: "status", status: 500 });
  await service.call("GET", "/channels");
  const { json } = await service.control("GET", "/log");
  expect(json.items).toMatchObject([{ status: 500, clientId: "emulator" }]);
  expect((await service.control("GET", "/stats")).json.calls).toEqual({
    "GET /channels": { accepted: 1, refused: 0 },
  });
});

test.each([204, 304])(
  "a fault with status %d and a body leaves the connection usable",
  async (status) => {
    const service = await running();
    await arm(service, { on: "GET /channels", kind: "status", status, body: { a: 1 } });
    expect(await statuses(service, 2)).toEqual([status, 200]);
  },
);

test("any JSON can be the body of a fault", async () => {
  const service = await running();
  await arm(service, { on: "GET /channels", kind: "status", status: 500, body: null });
  expect((await service.call("GET", "/channels")).text).toBe("null");
});

test.each(["status", "status-after-commit"])(
  "text as the body of %s is sent as it is, as a page unless a header says otherwise",
  async (kind) => {
    const service = await running();
    const rule = { on: "GET /channels", kind, status: 503, body: "<p>closed</p>" };
    await arm(service, [rule, { ...rule, headers: { "content-type": "text/plain" } }]);
    for (const type of ["text/html", "text/plain"]) {
      const { headers, text } = await service.call("GET", "/channels");
      expect({ type: headers["content-type"], text }).toEqual({ type, text: "<p>closed</p>" });
    }
  },
);

test.each([
  [500, { code: "500-100", developerMessage: expect.any(String) }],
  [429, { code: "429-001", developerMessage: "Too many requests." }],
])("a status of %d without a body has an error body of the service", async (status, body) => {
  const service = await running();
  await arm(service, [
    { on: "GET /channels", kind: "status", status },
    { on: "TOKEN", kind: "status", status },
  ]);
  expect((await service.call("GET", "/channels", undefined, { token: "x" })).status).toBe(401);
  expect((await token(service)).json).toEqual(body);
  expect((await service.call("GET", "/channels")).json).toEqual(body);
});

test("a status below 400 without a body has none", async () => {
  const service = await running();
  await arm(service, { on: "GET /channels", kind: "status", status: 202 });
  expect((await service.call("GET", "/channels")).text).toBe("");
});

test("a header of a fault takes the place of the usual one, in whatever case it is written", async () => {
  const service = await running();
  const headers = { "Content-Type": "text/plain" };
  await arm(service, { on: "GET /channels", kind: "status", status: 500, body: {}, headers });
  expect((await service.call("GET", "/channels")).headers["content-type"]).toBe("text/plain");
});

test.each([204, 205, 304])(
  "an answer with the status %s ends at its head, whatever the rule holds",
  async (status) => {
    const service = await running();
    const rule = { on: "GET /channels", kind: "status", status, body: { a: 1 } };
    await service.control("POST", "/faults", rule);
    const reply = await service.call("GET", "/channels");
    expect([reply.status, reply.text]).toEqual([status, ""]);
    expect(Number(reply.headers["content-length"] ?? 0)).toBe(0);
    expect((await service.call("GET", "/channels")).status).toBe(200);
  },
);
