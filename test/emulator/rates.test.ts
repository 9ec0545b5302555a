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

test("calls without a good token cost nothing", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  for (let call = 0; call < 5; call += 1)
    await service.call("GET", "/channels", undefined, { token: null });
  expect(await allowed(service, "GET", "/channels", 2)).toBe(1);
});

test("a refused call costs nothing, so a token comes in its time", async () => {
  const service = await running({ plan: "basic", burst: 1 });
  const comes = async (ms: number) => {
    service.emulator.advance(ms);
    return (await allowed(service, "GET", "/channels", 1)) === 1;
  };
  expect(await comes(0)).toBe(true);
  expect(await comes(1000)).toBe(false);
  expect(await comes(1000)).toBe(true);
});
