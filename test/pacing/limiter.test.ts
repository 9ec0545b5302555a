import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import {
  type Bucket,
  bucketOf,
  longestHoldPeriods,
  ownAtFirst,
} from "../../provider/pacing/limiter.js";
import { keptOf } from "../../provider/pacing/shared-buckets.js";
import {
  admitted,
  asked,
  askedAndAnswered,
  atFirst,
  bucket,
  callsFrom,
  ended,
  limit,
  waitOf,
} from "./support/single-step.js";

const hourMs = 3_600_000;
const burstOf = ({ bucket: known }: { bucket: Bucket | undefined }): number => known?.burst ?? 0;

/** Times between questions in ms, and how many calls others make before each. */
const questions = fc.array(
  fc.record({ ms: fc.integer({ min: 0, max: 30_000 }), others: fc.integer({ min: 0, max: 3 }) }),
  { maxLength: 120 },
);

test("what is learnt of the burst is never more than the bucket holds, whatever was spent and whoever else calls", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      questions,
      (size, part, asks) => {
        const service = new TrueBucket(1, size, size * part);
        let [state, now] = [atFirst(), 0];
        for (const { ms, others } of asks) {
          now += ms;
          for (let n = 0; n < others; n += 1) service.take(now);
          state = askedAndAnswered(state, now, service).state;
          expect(burstOf(state)).toBeLessThanOrEqual(size);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("processes that come one after the other find the burst, and none is slower than the first", () => {
  const cases = fc.record({
    size: fc.integer({ min: 1, max: 20 }),
    calls: fc.integer({ min: 1, max: 30 }),
    pauseMs: fc.integer({ min: 60_000, max: 600_000 }),
  });
  fc.assert(
    fc.property(cases, ({ size, calls, pauseMs }) => {
      const service = new TrueBucket(1, size);
      let [known, now] = [bucket() as Bucket | undefined, 0];
      for (let process = 1; process <= 6; process += 1) {
        const start = now;
        const { state, now: end } = callsFrom(
          { own: ownAtFirst, bucket: known },
          now,
          calls,
          service,
        );
        const idealMs = Math.max(0, calls - size) * limit.periodMs;
        expect(end - start).toBeLessThanOrEqual(idealMs * 1.03 + limit.periodMs * 1.2);
        known = state.bucket;
        now = end + pauseMs;
      }
      expect(known?.burst).toBeLessThanOrEqual(size);
    }),
    { numRuns: 300 },
  );
});

const anyPhase = fc.oneof(
  fc.constantFrom("slow start", "resting", "probing").map((name) => ({ name }) as const),
  fc.integer({ max: hourMs }).map((leftMs) => ({ name: "found", leftMs }) as const),
  fc.record({
    name: fc.constant("spaced" as const),
    leftMs: fc.integer({ max: hourMs }),
    factor: fc.integer({ min: 1, max: 512 }),
  }),
);

const anyBucket = fc.record({
  at: fc.integer({ min: -1e12, max: 1e12 }),
  periodMs: fc.constant(1000),
  // JSON has no negative zero.
  tokens: fc.double({ min: 1 - longestHoldPeriods, max: 1e6, noNaN: true }).map((n) => n + 0),
  spent: fc.double({ min: Number.EPSILON, max: 1e6, noNaN: true }),
  idle: fc.double({ min: Number.EPSILON, max: 1e6, noNaN: true }),
  burst: fc.integer({ min: 0, max: 1000 }),
  unprovedMs: fc.double({ min: Number.EPSILON, max: 1e12, noNaN: true }),
  phase: anyPhase,
});

test("from any state, on a clock that jumps at will, a call goes within the longest pause", () => {
  const jumps = fc.array(fc.integer({ min: -1e9, max: 1e9 }), { maxLength: 5 });
  fc.assert(
    fc.property(anyBucket, jumps, (known, by) => {
      const left = [...by];
      let [state, now, slept] = [atFirst(known), known.at, 0];
      for (;;) {
        now += left.pop() ?? 0;
        const { state: next, decision } = asked(state, now);
        if ("kind" in decision) break;
        state = next;
        const ms = Math.min(10_000, decision.waitMs);
        slept += ms;
        now += ms;
        expect(slept).toBeLessThanOrEqual((longestHoldPeriods + 1) * 1000 + by.length * 10_000);
      }
    }),
  );
});

test("on a clock that stands still a call goes after the time that was slept", () => {
  let state = atFirst(bucket({ at: 500, phase: { name: "resting" }, burst: 1 }));
  let [slept, last] = [0, 0];
  for (let calls = 0; calls < 3; ) {
    const { state: next, decision } = asked(state, 500, { ms: last, since: 500 });
    state = next;
    if ("kind" in decision) {
      calls += 1;
      state = ended(state, decision, { type: "accepted" }, 500);
      last = 0;
    } else {
      last = decision.waitMs;
      slept += last;
    }
  }
  expect(slept).toBeGreaterThan(2_900);
  expect(slept).toBeLessThanOrEqual(3_100);
});

test("a state that went through JSON decides the same", () => {
  fc.assert(
    fc.property(anyBucket, fc.integer({ min: 0, max: 1e6 }), (known, ms) => {
      const read = bucketOf(keptOf(JSON.stringify(known)));
      const now = known.at + ms;
      expect(asked(atFirst(read), now)).toEqual(asked(atFirst(known), now));
    }),
  );
});

test("what no store of this release writes is no bucket", () => {
  const texts = ["", "4 0 1 0", "null", "{}", '{"at":1}', '{"at":1,"tokens":"1"}', "[", "7"];
  expect(texts.map((text) => bucketOf(keptOf(text)))).toEqual(texts.map(() => undefined));
  const half = JSON.stringify({ ...bucket(), phase: { name: "found" } });
  expect(bucketOf(keptOf(half))).toBeUndefined();
});

test("a burst that was not seen for a day is found out again, also where calls are made all day", () => {
  const service = new TrueBucket(1, 3);
  let state = atFirst(bucket({ burst: 40, phase: { name: "found", leftMs: hourMs } }));
  let now = 0;
  for (let call = 0; call < 26 * 60; call += 1) {
    now += 60_000;
    state = askedAndAnswered(state, now, service).state;
  }
  expect(burstOf(state)).toBeLessThanOrEqual(3);
});

test("what was found too low is searched for again after an hour", () => {
  const service = new TrueBucket(1, 10);
  const low = bucket({ burst: 2, phase: { name: "found", leftMs: hourMs } });
  const early = callsFrom(atFirst(low), 60_000, 12, service);
  expect(early.now - 60_000).toBeGreaterThan(9_000);
  const later = callsFrom(
    { own: ownAtFirst, bucket: early.state.bucket },
    hourMs + 60_000,
    12,
    service,
  );
  expect(later.now - hourMs - 60_000).toBeLessThanOrEqual(2_100);
});

test("a burst that has become smaller is found by a refusal or two in each run", () => {
  let known: Bucket | undefined = bucket({ burst: 20, phase: { name: "found", leftMs: hourMs } });
  const refusals: number[] = [];
  for (let run = 1; run <= 4; run += 1) {
    const service = new TrueBucket(1, 5);
    const { state } = callsFrom({ own: ownAtFirst, bucket: known }, run * 600_000, 20, service);
    known = state.bucket;
    refusals.push(service.refused);
  }
  expect(refusals[0]).toBeLessThanOrEqual(3);
  expect(refusals[3]).toBe(0);
});

test("only one process at a time makes probes, until it makes no more", () => {
  const other = { ...limit, process: "two" };
  const first = asked(atFirst(), 0);
  expect(first.decision).toMatchObject({ kind: "probe" });
  const shared = (now: number, rules = other) =>
    asked(atFirst(first.state.bucket), now, undefined, rules).decision;
  expect(shared(10)).toMatchObject({ waitMs: 990 });
  expect(shared(10, limit)).toMatchObject({ kind: "probe" });
  const left = atFirst(bucket({ tokens: -9, prober: { id: "one", agoMs: 3_001 } }));
  expect(asked(left, 0, undefined, other).decision).toMatchObject({ kind: "probe" });
});

test("no more is saved up than the capacity", () => {
  const known = bucket({ burst: 3, phase: { name: "found", leftMs: hourMs } });
  let [state, sent] = [atFirst(known), 0];
  for (; sent < 10; sent += 1) {
    const { state: next, decision } = asked(state, 60_000 + sent);
    if (!("kind" in decision)) break;
    state = ended(next, decision, { type: "accepted" }, 60_000 + sent);
  }
  // The last token is held back by the margin of 5 ms.
  expect(sent).toBe(2);
  expect(asked(state, 60_000 + 6).decision).toMatchObject({ kind: "due" });
});

test.each([
  ["7", 7_000, [0.02, 1, 2, 4, 7, 7]],
  ["a day", 86_400_000, [0.02, 1, 2, 4, 8, 16, 16]],
])(
  "Retry-After %s, which no bucket asks for, is believed only as far as refusals repeat themselves",
  (_, askedMs, periods) => {
    let state = atFirst(bucket({ tokens: 1, burst: 5, phase: { name: "found", leftMs: hourMs } }));
    let now = 0;
    const waits = periods.map(() => {
      const sent = admitted(state, now);
      state = ended(sent.state, sent.admission, { type: "refused", askedMs }, now);
      const waitMs = waitOf(state, now);
      now += waitMs;
      return waitMs;
    });
    waits.forEach((waitMs, place) => {
      expect(waitMs / 1000).toBeGreaterThanOrEqual((periods[place] ?? 0) * 0.74);
      expect(waitMs / 1000).toBeLessThanOrEqual((periods[place] ?? 0) * 1.26);
    });
  },
);

test.each([
  ["exactly", 300, 300],
  ["in whole seconds, of which the bucket knows better", 1_000, 20],
])("a Retry-After that may be true is kept to: %s", (_, askedMs, waitMs) => {
  const known = atFirst(bucket({ tokens: 1, burst: 5, phase: { name: "found", leftMs: hourMs } }));
  const sent = admitted(known, 0);
  const state = ended(sent.state, sent.admission, { type: "refused", askedMs }, 0);
  expect(waitOf(state, 0)).toBeCloseTo(waitMs, 3);
});
