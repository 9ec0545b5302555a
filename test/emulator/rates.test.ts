import { expect, test } from "vitest";
import type { PlanName } from "../../emulator/index.js";
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

/** Specification §8.2; bursts by a sibling service's plan table. */
const limits: readonly (readonly [PlanName, typeof standard, rate: number, burst: number])[] = [
  ["developer", standard, 0.16, 3],
  ["developer", special, 0.16, 3],
  ["basic", standard, 0.5, 10],
  ["basic", special, 1, 20],
  ["enterprise", standard, 1, 20],
  ["enterprise", special, 5, 100],
];

test.each(
  limits.flatMap(([plan, paths, rate, burst]) =>
    paths.map(([method, path]) => [plan, method, path, rate, burst] as const),
  ),
)("%s, %s %s: %d a second, burst %d", async (plan, method, path, rate, burst) => {
  const service = await running({ plan });
  const tries = burst + 5;
  expect(await allowed(service, method, path, tries)).toBe(burst);
  const each = 1000 / rate;
  service.emulator.advance(each - 1);
  expect(await allowed(service, method, path, 1)).toBe(0);
  service.emulator.advance(1);
  expect(await allowed(service, method, path, 2)).toBe(1);
  service.emulator.advance(2 * each);
  expect(await allowed(service, method, path, 3)).toBe(2);
  service.emulator.advance(1_000_000);
  expect(await allowed(service, method, path, tries)).toBe(burst);
});

test("without a plan nothing is refused", async () => {
  expect(await allowed(await running(), "GET", "/channels", 300)).toBe(300);
});

test("a burst of one's own holds for every endpoint", async () => {
  const service = await running({ plan: "enterprise", burst: 2 });
  expect(await allowed(service, "GET", "/channels", 5)).toBe(2);
  expect(await allowed(service, "GET", `/assets/${id}`, 5)).toBe(2);
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

test("only the throttled endpoint is affected", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  expect(await allowed(service, "GET", "/channels", 2)).toBe(1);
  for (const [method, path] of standard.slice(1))
    expect(await allowed(service, method, path, 1)).toBe(1);
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

test("a refused call costs nothing, so a token comes in its time", async () => {
  const service = await running({ plan: "basic", burst: 1 });
  await allowed(service, "GET", "/channels", 1);
  service.emulator.advance(1000);
  expect(await allowed(service, "GET", "/channels", 10)).toBe(0);
  service.emulator.advance(1000);
  expect(await allowed(service, "GET", "/channels", 1)).toBe(1);
});

test("with refusedCosts a refused call sets the refill back", async () => {
  const service = await running({ plan: "basic", burst: 1, switches: { refusedCosts: true } });
  await allowed(service, "GET", "/channels", 1);
  service.emulator.advance(1000);
  expect(await allowed(service, "GET", "/channels", 1)).toBe(0);
  service.emulator.advance(1000);
  expect(await allowed(service, "GET", "/channels", 1)).toBe(0);
  service.emulator.advance(2000);
  expect(await allowed(service, "GET", "/channels", 1)).toBe(1);
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
