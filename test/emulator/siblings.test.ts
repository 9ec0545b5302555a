import { expect, test } from "vitest";
import { type Running, running } from "./running.js";

/** The table of the specification's §8.3, by hand: service, version, rates of Developer, Basic, Enterprise. */
const table: readonly [string, string, number, number, number][] = [
  ["message-router", "v3", 0.16, 0.5, 0.5],
  ["notification-manager", "v3", 0.16, 0.5, 1],
  ["secure-messaging-manager", "v3", 0.16, 0.5, 1],
  ["ai-services", "v3", 0.16, 0.3, 1],
  ["ai-services", "v4", 30, 30, 30],
  ["auth-manager", "v3", 1, 10, 60],
  ["case-manager", "v3", 0.16, 0.5, 1],
  ["customer-manager", "v3", 0.16, 0.5, 1],
  ["department-manager", "v3", 0.16, 0.16, 0.5],
  ["department-manager", "v4", 0.16, 0.16, 0.5],
  ["events-channel", "v3", 0.16, 0.16, 0.5],
  ["file-manager", "v3", 0.16, 0.5, 0.5],
  ["info-manager", "v3", 0.16, 0.16, 0.5],
  ["info-manager", "v4", 0.16, 0.16, 0.5],
  ["integration-manager", "v4", 0.16, 0.5, 1],
  ["micro-services-manager", "v3", 0.16, 0.5, 1],
  ["personalization-manager", "v4", 0.16, 0.5, 1],
  ["user-manager", "v3", 1, 10, 60],
  ["work-assignment-manager", "v3", 0.16, 0.16, 0.5],
  ["content-manager", "v4", 1, 10, 60],
  ["event-manager", "v4", 0.5, 0.5, 0.5],
  ["portal-manager", "v3", 1, 10, 60],
  ["portal-manager", "v4", 1, 10, 60],
];

/** Endpoints with rates of their own, in the same way. */
const special: readonly [string, string, number, number, number][] = [
  ...["agentavailability", "capacity", "checkeligibility", "chatallowed", "livesessionstatus"].map(
    (last): [string, string, number, number, number] => [
      "GET",
      `/message-router/v3/entrypoint/1001/${last}`,
      0.16,
      0.5,
      1,
    ],
  ),
  ["POST", "/notification-manager/v3/messages", 0.16, 1, 5],
  ["POST", "/notification-manager/v3/assets", 0.16, 1, 5],
  ["GET", "/ai-services/v3/instantanswers/suggestions", 10, 20, 40],
  ["GET", "/ai-services/v3/instantanswers/generative", 0.16, 0.3, 30],
  ["GET", "/ai-services/v3/instantanswers/extractive", 0.16, 0.3, 30],
  ["POST", "/user-manager/v3/user", 0.16, 0.16, 0.5],
  ["PATCH", "/user-manager/v3/user", 0.16, 0.16, 0.5],
  ["DELETE", "/user-manager/v3/user/7", 0.16, 0.16, 0.5],
  ["DELETE", "/user-manager/v3/user/ext-id/7", 0.16, 0.16, 0.5],
  ["POST", "/content-manager/v4/import/content", 0.02, 0.08, 0.17],
  ["POST", "/content-manager/v4/import/content/validate", 0.02, 0.08, 0.17],
  ["GET", "/portal-manager/v3/portals/p1/search/typeahead", 10, 20, 60],
  // The same path with another method has the standard rate.
  ["GET", "/user-manager/v3/user", 1, 10, 60],
  ["POST", "/portal-manager/v3/portals/p1/search/typeahead", 1, 10, 60],
];

const call = async (own: Running, method: string, path: string) =>
  own.send(method, path, { headers: { authorization: `Bearer ${await own.token()}` } });

const plans = ["developer", "basic", "enterprise"] as const;

const endpoints = [
  ...table.map(
    ([service, version, ...rates]) => ["GET", `/${service}/${version}/things`, ...rates] as const,
  ),
  ...special,
];

test.each(plans)("the services that share the plan keep their rates (%s)", async (plan) => {
  const own = await running({ plan, burst: 1, switches: { tokenLifetime: 86_400 } });
  for (const [method, path, ...rates] of endpoints) {
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

test("a burst is twenty times the rate, at least one call", async () => {
  const own = await running({ plan: "developer" });
  const burst = async (method: string, path: string) => {
    for (let calls = 0; ; calls += 1)
      if ((await call(own, method, path)).status !== 200) return calls;
  };
  expect(await burst("GET", "/event-manager/v4/events")).toBe(10);
  expect(await burst("POST", "/content-manager/v4/import/content")).toBe(1);
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

test("paths that a caller makes up fill no memory", async () => {
  const { RateLimiter } = await import("../../emulator/http/rate-limit.js");
  const { createClock } = await import("../../emulator/service/clock.js");
  const { switches } = JSON.parse('{"switches":{"refusedCosts":false,"retryAfter":"none"}}');
  const limiter = new RateLimiter({
    plan: "developer",
    burst: 1,
    clock: createClock("manual"),
    switches,
  });
  for (let path = 0; path < 6_000; path += 1) limiter.refusal(`GET /x/${path}`, [1, 1, 1]);
  expect(limiter.refusal("GET /x/5999", [1, 1, 1])?.status).toBe(429);
  expect(limiter.refusal("GET /x/0", [1, 1, 1])).toBeUndefined();
});
