import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectControl, type EmulatorControl } from "../../emulator/index.js";
import { createClock } from "../../emulator/service/clock.js";
import { listenHere } from "../support/loopback-server.js";
import { scopes } from "../support/specification.js";
import { kindOf, type Running, running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

const channel = kindOf("Channel");

test("the manual clock goes forward only", async () => {
  const own = await running();
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])
    expect(() => own.emulator.advance(ms)).toThrow("must be from 0 to 1,000,000,000,000 milli");
});

test("one long step of the manual clock does what is due in its order", () => {
  const clock = createClock("manual");
  const done: string[] = [];
  for (const [name, ms] of [
    ["late", 2_000],
    ["early", 1_000],
    ["never", 9_000],
  ] as const)
    clock.schedule(clock.now() + ms, () => done.push(name));
  clock.advance(3_000);
  expect(done).toEqual(["early", "late"]);
});

test("the log lists every call in order, without secret, token or body", async () => {
  const own = await running();
  const id = await own.make(kindOf("Authentication"));
  await own.call("GET", `/authentications/${id}?secret=in-the-query`);
  await own.call("GET", "/channels", undefined, { token: null });
  await own.call("GET", "/nothing");
  const { json, text } = await own.control("GET", "/log");
  const entry = {
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    ms: expect.any(Number),
  };
  const clientId = "emulator";
  const made = { method: "POST", template: "/authentications", path: "/authentications" };
  const read = { method: "GET", template: "/authentications/{id}", path: `/authentications/${id}` };
  const refused = { method: "GET", template: "/channels", path: "/channels", status: 401 };
  const unknown = { method: "GET", template: "(none)", path: "/nothing", status: 404 };
  const calls = [
    { ...made, status: 201, clientId },
    { ...read, status: 200, clientId },
  ];
  expect(json.items).toEqual(
    [...calls, refused, unknown].map((each, place) => ({ place, ...entry, ...each })),
  );
  for (const secret of [await own.token(), own.emulator.clientSecret, "not-a-real", "in-the-query"])
    expect(text).not.toContain(secret);
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
  await own.control("PUT", "/switches", { deliveryRetries: 3 });
  await own.make(channel);
  await own.call("GET", "/channels");
  await own.call("GET", "/channels");
  await own.control("POST", "/faults", { on: "GET /channels", kind: "drop-before-commit" });
  expect((await own.control("POST", "/reset")).status).toBe(204);
  expect((await own.control("GET", "/log")).text).toBe("[]");
  expect((await own.control("GET", "/faults")).text).toBe("[]");
  expect((await own.control("GET", "/stats")).json).toEqual({
    calls: {},
    tokensIssued: 0,
  });
  const { status, json } = await own.call("GET", "/channels");
  expect({ status, json }).toEqual({
    status: 200,
    json: { paginationInfo: { count: 0, pagenum: 1, pagesize: 25 }, channel: [] },
  });
  expect((await own.control("GET", "/switches")).json.deliveryRetries).toBe(3);
  const robot = own.credentials({ client_id: "robot", client_secret: "s" });
  expect((await own.form(own.emulator.tokenUrl, robot)).status).toBe(200);
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

/** The same client in the emulator's process, and over the network. */
const ways: readonly [string, (own: Running) => EmulatorControl][] = [
  ["in process", ({ emulator }) => emulator.control],
  ["by its address", ({ emulator }) => connectControl(emulator.controlUrl)],
];

test.each(ways)("it looks at calls, rates and objects (%s)", async (_, of) => {
  const own = await running({ plan: "developer", burst: 2 });
  const control = of(own);
  for (let call = 0; call < 3; call += 1) await own.call("GET", "/channels");
  await own.call("GET", "/channels/unknown");
  expect(await control.stats()).toEqual({
    calls: {
      "GET /channels": { accepted: 2, refused: 1 },
      "GET /channels/{id}": { accepted: 1, refused: 0 },
    },
    tokensIssued: 1,
  });
  const log = await control.log();
  expect(log.map(({ status }) => status)).toEqual([200, 200, 429, 404]);
  const now = await control.advance(1_000);
  expect(await control.advance(0)).toBe(now);
  expect(await control.deliveries()).toEqual([]);
  expect(await control.conversations()).toEqual([]);
});

test.each(ways)("it makes things go wrong, and right again (%s)", async (_, of) => {
  const own = await running();
  const control = of(own);
  const rule = { on: "GET /channels", kind: "status", status: 503, body: { a: [1] } } as const;
  expect(await control.faults(rule)).toEqual([{ ...rule, times: 1, after: 0 }]);
  expect(await control.faults([rule, rule])).toHaveLength(3);
  expect((await own.call("GET", "/channels")).status).toBe(503);
  expect(await control.faults()).toHaveLength(2);
  await control.clearFaults();
  expect((await own.call("GET", "/channels")).status).toBe(200);
});

test.each(ways)(
  "it turns switches, adds clients, keeps and restores everything (%s)",
  async (_, of) => {
    const own = await running();
    const control = of(own);
    await control.switches({ put: "keep", deliveryRetries: 2 });
    expect((await control.switches({ deliveryRetries: 3 })).deliveryRetries).toBe(3);
    const turned = { put: "keep", deliveryRetries: 3, secrets: "mask" };
    expect(await control.switches()).toMatchObject(turned);
    await control.clients([
      { clientId: "one", clientSecret: "s", scopes: [scopes.R] },
      { clientId: "two", public: true, redirectUris: ["https://x.example/"], scopes: [scopes.R] },
    ]);
    await control.clients({ clientId: "three", clientSecret: "s", scopes: [scopes.R] });
    const id = await own.make(channel);
    const kept = await control.snapshot();
    expect(kept.objects.channels).toMatchObject([{ id }]);
    expect(kept.clients.map(({ clientId }) => clientId)).toEqual([
      "emulator",
      "one",
      "two",
      "three",
    ]);
    await control.reset();
    expect((await own.call("GET", `/channels/${id}`)).status).toBe(404);
    await control.restore(kept);
    expect((await own.call("GET", `/channels/${id}`)).status).toBe(200);
    expect(await control.snapshot()).toEqual(kept);
  },
);

test.each(ways)("a refusal says what was called, and why (%s)", async (_, of) => {
  const control = of(await running({ clock: "real" }));
  await expect(control.advance(1)).rejects.toMatchObject({ name: "ControlError", status: 400 });
  await expect(control.faults({ on: "GET /nothing", kind: "hang" })).rejects.toThrow(
    'Could not control the emulator: POST /faults was refused (400): A fault\'s "on" must be one of',
  );
  await expect(control.clients({ clientId: "", clientSecret: "s", scopes: [] })).rejects.toThrow(
    "A client has the form",
  );
});

test("what is no emulator is distinguished from one", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/down/log") response.writeHead(502).end("<h1>Bad gateway</h1>");
    else response.end('{"at": 5}');
  });
  const origin = await listenHere(server);
  onTestFinished(() => void server.close());
  await expect(connectControl(origin).log()).rejects.toThrow(
    "Could not control the emulator: GET /log: the response is not from an emulator. Check the control URL.",
  );
  await expect(connectControl(`${origin}/down`).log()).rejects.toThrow(
    "GET /log was refused (502): no reason given",
  );
});

const reset = (headers: Readonly<Record<string, string>>, raw?: string) =>
  service.send("POST", "/control/reset", { headers, ...(raw === undefined ? {} : { raw }) });

const own = () => new URL(service.emulator.baseUrl).host;

test.each<[string, () => Record<string, string>]>([
  ["another site's page", () => ({ origin: "https://evil.example" })],
  ["a page without an origin of its own", () => ({ origin: "null" })],
  ["a page on another port of this machine", () => ({ origin: "http://127.0.0.1:1" })],
  ["a page whose name was turned to this machine", () => ({ host: "evil.example" })],
  [
    "such a page that says its own origin",
    () => ({ host: "evil.example:80", origin: "http://evil.example:80" }),
  ],
  ["a name that only begins like this machine's", () => ({ host: "127.0.0.1.evil.example" })],
  ["a link or picture of another site", () => ({ "sec-fetch-site": "cross-site" })],
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

const hang = { on: "GET /channels", kind: "hang" };

const status = { on: "GET /channels", kind: "status", status: 500 };
const robot = { clientId: "a", clientSecret: "b", scopes: [] };
const spa = { clientId: "a", public: true, redirectUris: ["https://x/"], scopes: [] };

/** Bodies that a control call must refuse, and what the refusal names. */
const refused: Readonly<Record<string, readonly (readonly [body: unknown, reason: RegExp])[]>> = {
  "POST /clock": [
    [{}, /advanceMs/],
    [{ advanceMs: -1 }, /advanceMs/],
    [{ advanceMs: 1, more: 1 }, /advanceMs/],
  ],
  "POST /faults": [
    [{}, /"on"/],
    [5, /object/],
    [{ ...hang, on: "GET /nothing" }, /POST \/channels/],
    [{ on: "GET /channels" }, /"kind"/],
    [{ ...hang, kind: "explode" }, /drop-before-commit/],
    [{ ...hang, times: 0 }, /times/],
    [{ ...hang, after: -1 }, /after/],
    [{ ...hang, status: 500 }, /status/],
    [{ ...status, status: 100 }, /status/],
    [{ ...status, headers: { a: "\n" } }, /headers/],
    [{ ...status, headers: { "a b": "" } }, /headers/],
    [{ ...status, headers: { "Content-Length": "1" } }, /headers/],
    [{ ...hang, kind: "delay", ms: -1 }, /ms/],
    [{ on: "GET /channels/{id}", kind: "stale-list", ms: 1 }, /lists/],
    [{ on: "POST /channels", kind: "forbidden-list" }, /lists/],
    [[hang, { ...hang, kind: "explode" }], /"kind"/],
  ],
  "POST /clients": [
    [{}, /clientId/],
    [{ ...robot, scopes: undefined }, /scopes/],
    [{ ...robot, clientSecret: "" }, /clientSecret/],
    [{ ...robot, more: 1 }, /more/],
    [{ ...robot, scopes: ["two words"] }, /one word/],
    [{ ...spa, redirectUris: [] }, /redirect/],
    [{ ...spa, redirectUris: ["back"] }, /absolute/],
    [{ ...spa, redirectUris: ["https://x/ü b"] }, /percent-encoded/],
    [{ ...spa, clientSecret: "b" }, /public/],
  ],
  "PUT /switches": [
    [[], /switches/],
    [{ nothing: 1 }, /secrets, put, unknownReference/],
    [{ put: "keep", secrets: "no" }, /secrets must be one of mask, echo, omit/],
  ],
  "PUT /snapshot": [
    [{}, /version/],
    [[], /the document/],
  ],
};

test.each(
  Object.entries(refused).flatMap(([call, bodies]) =>
    bodies.map(([body, reason]) => [call, body, reason] as const),
  ),
)("%s with %j is refused", async (call, body, reason) => {
  const [method = "", path = ""] = call.split(" ");
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
      json: { error: expect.stringContaining("The body must be JSON") },
    });
});

test.each([
  ["GET", ""],
  ["GET", "/nothing"],
  ["DELETE", "/switches"],
  ["POST", "/stats"],
])("%s %s is no control call", async (method, path) => {
  const reply = await service.control(method, path);
  expect({ status: reply.status, names: Object.keys(reply.json) }).toEqual({
    status: 404,
    names: ["error"],
  });
});

test.each([["POST", "/faults", '{"on":"GET /channels","kind":"status","status":500,"body":DEEP}']])(
  "%s %s with a body that is nested too deeply is refused, and leaves nothing",
  async (method, path, text) => {
    const raw = text.replace("DEEP", `${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    const reply = await service.send(method, service.emulator.controlUrl + path, { raw });
    expect(reply).toMatchObject({
      status: 400,
      json: { error: "The body must be JSON of at most 128 levels." },
    });
    expect((await service.control("GET", "/faults")).text).toBe("[]");
    expect((await service.control("GET", "/snapshot")).status).toBe(200);
  },
);

test("GET /health says that it is ready, to anybody and by any name", async () => {
  const own = await running({ plan: "developer", burst: 1, controlSecret: true });
  for (const headers of [{}, { host: "emulator:4010" }, { origin: "https://elsewhere.example" }]) {
    const { status, json } = await own.send("GET", "/health", { headers });
    expect([status, json]).toEqual([200, { status: "ok" }]);
  }
  expect((await own.send("HEAD", "/health")).status).toBe(200);
  expect((await own.emulator.control.stats()).calls).toEqual({});
});
