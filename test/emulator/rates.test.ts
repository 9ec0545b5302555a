import { expect, test } from "vitest";
import type { PlanName } from "../../emulator/index.js";
import { specialRates, standardRates } from "../support/specification.js";
import { kindOf, type Running, running } from "./running.js";

const id = "00000000-0000-4000-8000-000000000000";

/** How many of the calls were not refused for their rate. */
const allowed = async (service: Running, method: string, path: string, calls: number) => {
  const body = method === "POST" || method === "PUT" ? {} : undefined;
  const replies = await Promise.all(
    Array.from({ length: calls }, () => service.call(method, path, body)),
  );
  return replies.filter(({ status }) => status !== 429).length;
};

const standard: readonly (readonly [string, string])[] = [
  ["GET", "/channels"],
  ["POST", "/channels"],
  ["GET", `/channels/${id}`],
  ["PUT", `/channels/${id}`],
  ["DELETE", `/channels/${id}`],
  ["GET", "/authentications"],
  ["POST", "/accounts"],
  ["DELETE", `/assets/${id}`],
];
const special: readonly (readonly [string, string])[] = [
  ["POST", "/conversations/messages"],
  ["GET", `/conversations/${id}`],
  ["POST", "/assets"],
  ["GET", `/assets/${id}`],
];

/** Specification §8.2; bursts by the vendor's documentation. */
const limits: readonly (readonly [PlanName, typeof standard, rate: number, burst: number])[] = [
  ["developer", standard, 0.16, 1],
  ["developer", special, 0.16, 1],
  ["basic", standard, 0.5, 2],
  ["basic", special, 1, 3],
  ["enterprise", standard, 1, 30],
  ["enterprise", special, 5, 15],
];

test.each(
  limits.flatMap(([plan, paths, rate, burst]) =>
    paths.map(([method, path]) => [plan, method, path, rate, burst] as const),
  ),
)("%s, %s %s: %d a second, burst %d", async (plan, method, path, rate, burst) => {
  const service = await running({ plan });
  const tries = burst + 5;
  const saved = Math.min(2, burst);
  expect(await allowed(service, method, path, tries)).toBe(burst);
  const each = 1000 / rate;
  service.emulator.advance(each - 1);
  expect(await allowed(service, method, path, 1)).toBe(0);
  service.emulator.advance(1);
  expect(await allowed(service, method, path, 2)).toBe(1);
  service.emulator.advance(2 * each);
  expect(await allowed(service, method, path, 3)).toBe(saved);
  service.emulator.advance(1_000_000);
  expect(await allowed(service, method, path, tries)).toBe(burst);
});

test("without a plan nothing is refused", async () => {
  expect(await allowed(await running(), "GET", "/channels", 300)).toBe(300);
});

test("the refusal is the specification's, to the letter", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  await service.call("GET", "/channels");
  const { status, text, headers } = await service.call("GET", "/channels");
  expect({ status, text }).toEqual({
    status: 429,
    text: '{"code":"429-001","developerMessage":"Too many requests."}',
  });
  expect(headers["content-type"]).toBe("application/json");
  expect(headers).not.toHaveProperty("retry-after");
});

test("a refused call does not act", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  await service.make(kindOf("Channel"));
  const body = await service.body(kindOf("Channel"));
  expect((await service.call("POST", "/channels", body)).status).toBe(429);
  expect((await service.call("GET", "/channels")).json.paginationInfo).toMatchObject({ count: 1 });
});

test("a burst of one's own holds for every endpoint, and a throttled one affects no other", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  for (const [method, path] of [...standard, ...special])
    expect(await allowed(service, method, path, 2)).toBe(1);
});

test("all ids of a path share one bucket, and so do queries", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  expect(await allowed(service, "GET", "/channels/a", 1)).toBe(1);
  expect(await allowed(service, "GET", "/channels/b", 1)).toBe(0);
  expect(await allowed(service, "GET", "/channels?$pagenum=1", 1)).toBe(1);
  expect(await allowed(service, "GET", "/channels?$pagenum=2", 1)).toBe(0);
});

test("all clients of the tenant share each bucket", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  await service.control("POST", "/clients", {
    clientId: "other",
    clientSecret: "s",
    scopes: ["app.conversation.conversationmgr.manage"],
  });
  const { json } = await service.form(
    service.emulator.tokenUrl,
    service.credentials({ client_id: "other", client_secret: "s" }),
  );
  await service.call("GET", "/channels");
  const token = String(json.access_token);
  expect((await service.call("GET", "/channels", undefined, { token })).status).toBe(429);
});

test("calls without a good token cost nothing", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  for (let call = 0; call < 5; call += 1)
    await service.call("GET", "/channels", undefined, { token: null });
  expect(await allowed(service, "GET", "/channels", 2)).toBe(1);
});

test("neither tokens nor control calls have a rate", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  for (let call = 0; call < 10; call += 1) {
    expect((await service.form(service.emulator.tokenUrl, service.credentials())).status).toBe(200);
    expect((await service.control("GET", "/stats")).status).toBe(200);
  }
});

test.each([
  ["nothing, so a token comes in its time", false, true],
  ["its refill, with refusedCosts", true, false],
])("a refused call costs %s", async (_, refusedCosts, inTime) => {
  const service = await running({ plan: "basic", burst: 1, switches: { refusedCosts } });
  const comes = async (ms: number) => {
    service.emulator.advance(ms);
    return (await allowed(service, "GET", "/channels", 1)) === 1;
  };
  expect(await comes(0)).toBe(true);
  expect(await comes(1000)).toBe(false);
  expect(await comes(1000)).toBe(inTime);
  expect(await comes(2000)).toBe(true);
});

test("retryAfter gives seconds, rounded up", async () => {
  const service = await running({
    plan: "developer",
    burst: 1,
    switches: { retryAfter: "seconds" },
  });
  await service.call("GET", "/channels");
  expect((await service.call("GET", "/channels")).headers["retry-after"]).toBe("7");
  service.emulator.advance(6000);
  expect((await service.call("GET", "/channels")).headers["retry-after"]).toBe("1");
});

test("retryAfter gives a date on the emulator's clock, not before the token", async () => {
  const service = await running({ plan: "basic", burst: 1, switches: { retryAfter: "date" } });
  service.emulator.advance(1e11);
  service.forgetToken();
  const { json } = await service.control("POST", "/clock", { advanceMs: 0 });
  await service.call("GET", "/channels");
  const { headers } = await service.call("GET", "/channels");
  const wait = Date.parse(String(headers["retry-after"])) - Number(json.now);
  expect(headers["retry-after"]).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  expect(wait).toBeGreaterThanOrEqual(2000);
  expect(wait).toBeLessThanOrEqual(3000);
});

/** Addresses of another service: `/ai-services/v4/things`. */
const siblingPath = (service: string, version: string, template: string): string =>
  `/${service.toLowerCase().replaceAll(" ", "-")}/${version}${template.replace(/\{\w+\}/g, "1001")}`;

const siblings = ([service]: readonly [string, ...unknown[]]): boolean =>
  service !== "Conversation";

/** Every service beside the conversation service, and each of its endpoints with a rate of its own. */
const endpoints = [
  ...standardRates
    .filter(siblings)
    .map(
      ([name, version, rates]) => ["GET", siblingPath(name, version, "/things"), rates] as const,
    ),
  ...specialRates.filter(siblings).map(([name, version, endpoint, rates]) => {
    const [method = "", template = ""] = endpoint.split(" ");
    return [method, siblingPath(name, version, template), rates] as const;
  }),
  // The same path with another method has the standard rate.
  ["GET", "/user-manager/v3/user", [1, 10, 60]],
  ["POST", "/portal-manager/v3/portals/p1/search/typeahead", [1, 10, 60]],
] as const;

const call = async (own: Running, method: string, path: string) =>
  own.send(method, path, { headers: { authorization: `Bearer ${await own.token()}` } });

const plans = ["developer", "basic", "enterprise"] as const;

test.each(plans)("the services that share the plan keep their rates (%s)", async (plan) => {
  const own = await running({ plan, burst: 1, switches: { tokenLifetime: 86_400 } });
  for (const [method, path, rates] of endpoints) {
    const rate = rates[plans.indexOf(plan)] ?? 0;
    const first = await call(own, method, path);
    expect([path, first.status, first.json]).toEqual([path, 200, {}]);
    const refused = await call(own, method, path);
    expect([path, refused.status, refused.json.code]).toEqual([path, 429, "429-001"]);
    await own.emulator.control.advance(Math.ceil(1000 / rate) - 1);
    expect([path, (await call(own, method, path)).status]).toEqual([path, 429]);
    await own.emulator.control.advance(1);
    expect([path, (await call(own, method, path)).status]).toEqual([path, 200]);
  }
});

test("each path and method of a service has its own bucket, ids apart", async () => {
  const own = await running({ plan: "developer", burst: 1 });
  const status = async (method: string, path: string) => (await call(own, method, path)).status;
  expect(await status("GET", "/case-manager/v3/cases")).toBe(200);
  expect(await status("GET", "/case-manager/v3/cases")).toBe(429);
  expect(await status("GET", "/case-manager/v3/cases/1001")).toBe(200);
  expect(await status("GET", "/case-manager/v3/cases/1002?x=y")).toBe(429);
  expect(await status("POST", "/case-manager/v3/cases")).toBe(200);
  expect(await status("GET", "/customer-manager/v3/cases")).toBe(200);
  expect((await own.emulator.control.stats()).calls).toMatchObject({
    "GET /case-manager/v3/cases/{id}": { accepted: 1, refused: 1 },
  });
});

test("they have the plan's usual burst", async () => {
  const own = await running({ plan: "basic" });
  const statuses: number[] = [];
  for (let calls = 0; calls < 3; calls += 1)
    statuses.push((await call(own, "GET", "/event-manager/v4/events")).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test("they ask for a token, and are no more than the table names", async () => {
  const own = await running();
  expect((await own.send("GET", "/case-manager/v3/cases")).status).toBe(401);
  expect((await call(own, "OPTIONS", "/case-manager/v3/cases")).status).toBe(405);
  for (const path of [
    "/case-manager/v4/cases",
    "/case-manager/v3",
    "/case-manager/v3/",
    "/case-manager/v3//x",
    "/case-manager/v3/a/b/c/d/e/f/g/h/i",
    "/knowledge-manager/v3/x",
    "/__proto__/v3/x",
  ])
    expect([path, (await call(own, "GET", path)).status]).toEqual([path, 404]);
});

test("they can go wrong on demand, too", async () => {
  const own = await running();
  const { control } = own.emulator;
  await control.faults({ on: "GET /case-manager/v3/cases/{id}", kind: "status", status: 503 });
  expect((await call(own, "GET", "/case-manager/v3/cases/7")).status).toBe(503);
  expect((await call(own, "GET", "/case-manager/v3/cases/7")).status).toBe(200);
  await expect(control.faults({ on: "GET /no-manager/v3/x", kind: "hang" })).rejects.toThrow(
    '"on"',
  );
  await expect(control.faults({ on: "HEAD /case-manager/v3/x", kind: "hang" })).rejects.toThrow(
    '"on"',
  );
});
