import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindOf, type Running, running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

const reset = (headers: Readonly<Record<string, string>>, raw?: string) =>
  service.send("POST", "/control/reset", { headers, ...(raw === undefined ? {} : { raw }) });

const own = () => new URL(service.emulator.baseUrl).host;

test.each<[string, () => Record<string, string>]>([
  ["another site's page", () => ({ origin: "https://evil.example" })],
  [
    "another site's page with a simple body",
    () => ({ origin: "http://evil.example", "content-type": "text/plain" }),
  ],
  ["a page without an origin of its own", () => ({ origin: "null" })],
  ["a page on another port of this machine", () => ({ origin: "http://127.0.0.1:1" })],
  ["a page whose name was turned to this machine", () => ({ host: "evil.example" })],
  [
    "such a page that says its own origin",
    () => ({ host: "evil.example:80", origin: "http://evil.example:80" }),
  ],
  ["a name that only begins like this machine's", () => ({ host: "127.0.0.1.evil.example" })],
  ["a name that only ends like this machine's", () => ({ host: "evillocalhost" })],
  ["a link or picture of another site", () => ({ "sec-fetch-site": "cross-site" })],
  ["a page of a neighbouring origin", () => ({ "sec-fetch-site": "same-site" })],
])("%s may not control, and changes nothing", async (_, headers) => {
  await service.make(kindOf("Channel"));
  const before = (await service.control("GET", "/snapshot")).text;
  const reply = await reset(headers());
  expect({ status: reply.status, names: Object.keys(reply.json) }).toEqual({
    status: 403,
    names: ["error"],
  });
  const read = await service.send("GET", "/control/snapshot", { headers: headers() });
  expect(read.status).toBe(403);
  expect(read.headers["access-control-allow-origin"]).toBeUndefined();
  expect((await service.control("GET", "/snapshot")).text).toBe(before);
});

test.each([
  ["text/plain", "{}"],
  ["application/x-www-form-urlencoded", "a=b"],
  ["multipart/form-data; boundary=x", "{}"],
  ["application/jsonp", "{}"],
])("a body of type %s is refused", async (type, raw) => {
  await service.make(kindOf("Channel"));
  expect((await reset({ "content-type": type }, raw)).status).toBe(415);
  expect((await service.call("GET", "/channels")).text).not.toContain('"count":0');
});

test("programs and the emulator's own pages may control", async () => {
  const { port } = new URL(service.emulator.baseUrl);
  for (const headers of [
    {},
    { host: `localhost:${port}` },
    { host: `emulator.localhost:${port}` },
    { host: `[::1]:${port}` },
    { host: own(), origin: `http://${own()}`, "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { "content-type": "application/json; charset=utf-8" },
  ])
    expect((await reset(headers)).status).toBe(204);
});

test("a program that lets fetch name the type of its JSON may control, a browser may not", async () => {
  const { controlUrl } = service.emulator;
  const moved = await fetch(`${controlUrl}/clock`, { method: "POST", body: '{"advanceMs":1}' });
  expect(moved.status).toBe(200);
  const type = { "content-type": "text/plain;charset=UTF-8" };
  expect((await reset({ ...type, "sec-fetch-site": "none" })).status).toBe(415);
});

const secret = "a-secret-of-control";

test("where a secret is asked for, every control call needs it, and the service does not", async () => {
  const guarded = await running({ controlSecret: secret });
  const stats = (headers: Readonly<Record<string, string>>) =>
    guarded.send("GET", "/control/stats", { headers });
  for (const authorization of [
    "",
    "Bearer",
    "Bearer wrong-secret",
    `Basic ${secret}`,
    `Bearer ${secret}x`,
  ]) {
    const reply = await stats({ authorization });
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe("Bearer");
    expect(reply.text).not.toContain(secret);
  }
  expect((await stats({ authorization: `Bearer ${secret}` })).status).toBe(200);
  // A container is called by its own name there.
  expect((await stats({ authorization: `Bearer ${secret}`, host: "emulator:4010" })).status).toBe(
    200,
  );
  expect(
    (await stats({ authorization: `Bearer ${secret}`, origin: "http://evil.example" })).status,
  ).toBe(403);
  expect((await guarded.call("GET", "/channels")).status).toBe(200);
  expect(await guarded.emulator.control.stats()).toMatchObject({ tokensIssued: 1 });
});

test("a secret that is not given is made at random", async () => {
  const [one, other] = [
    await running({ controlSecret: true }),
    await running({ controlSecret: true }),
  ];
  // No sign at its beginning that a command line takes for an option.
  expect(one.emulator.controlSecret).toMatch(/^[0-9a-f]{48}$/);
  expect(one.emulator.controlSecret).not.toBe(other.emulator.controlSecret);
  expect((await running()).emulator.controlSecret).toBeUndefined();
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address && !address.internal && address.family === "IPv4")?.address;

test.skipIf(!outside)("other hosts may control with the secret only", async () => {
  const guarded = await running({ host: "0.0.0.0", controlSecret: secret });
  const url = `http://${outside}:${new URL(guarded.emulator.baseUrl).port}/control/stats`;
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200);
});
