import { setMaxListeners } from "node:events";
import { expect, test } from "vitest";
import { CallLog } from "../../emulator/http/call-log.js";
import { RateLimiter } from "../../emulator/http/rate-limit.js";
import { CallSlots } from "../../emulator/runtime/outgoing.js";
import { createClock } from "../../emulator/service/clock.js";
import { noJournal } from "../../emulator/service/journal.js";
import { savedSwitches } from "../../emulator/service/switches.js";
import { coreMsOf } from "../support/core-time.js";

const created = "2024-01-01T00:00:00.000Z";

const words = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `w${place}`);

test("callers who make endpoints up fill no memory, and others keep their counts", () => {
  const log = new CallLog();
  const call = (template: string) =>
    log.add({ at: created, method: "GET", template, path: "", status: 200, ms: 0, clientId: "c" });
  for (const word of words(10_000)) {
    call(`/case-manager/v3/${word}`);
    call("/channels");
  }
  expect(Object.keys(log.counts()).length).toBeLessThanOrEqual(2_000);
  expect(log.counts()["GET /channels"]).toEqual({ accepted: 10_000, refused: 0 });
});

test("callers who make endpoints up do not fill the bucket of another", () => {
  const clock = createClock("manual");
  const switches = savedSwitches(noJournal, {});
  const limiter = new RateLimiter({ plan: "basic", burst: 1, clock, switches });
  expect(limiter.refusal("GET /channels")).toBeUndefined();
  for (const word of words(10_000)) {
    limiter.refusal(`GET /case-manager/v3/${word}`, [1, 1, 1]);
    expect(limiter.refusal("GET /channels")?.status).toBe(429);
  }
});

test("20,000 calls that wait are given up, or let another by, in no time", async () => {
  const slots = new CallSlots(160, 80);
  const leaving = words(20_000).map(() => new AbortController());
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  let outcomes: readonly string[] = [];
  const ms = await coreMsOf(async () => {
    const slow = leaving.map((controller) =>
      slots.take("slow", controller.signal).then(
        () => "had a turn",
        () => "given up",
      ),
    );
    for (const turn of words(500).map(() => slots.take("quick", signal))) (await turn)();
    for (const controller of leaving) controller.abort();
    outcomes = await Promise.all(slow);
  });
  expect(outcomes.filter((outcome) => outcome === "given up")).toHaveLength(20_000 - 80);
  // With a look at all that wait for each of them it takes half a minute.
  expect(ms).toBeLessThan(10_000);
});
