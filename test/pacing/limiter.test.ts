import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import {
  type Bucket,
  bucketOf,
  type LimiterState,
  longestHoldPeriods,
  ownAtFirst,
} from "../../provider/pacing/limiter.js";
import { keptOf } from "../../provider/pacing/shared-buckets.js";
import {
  accepted,
  admitted,
  asked,
  askedAndAnswered,
  atFirst,
  bucket,
  ended,
  limit,
  waitOf,
} from "./support/single-step.js";

/** Times between questions in ms, and how many calls others make before each. */
const questions = fc.array(
  fc.record({ ms: fc.integer({ min: 0, max: 30_000 }), others: fc.integer({ min: 0, max: 3 }) }),
  { maxLength: 120 },
);

test("what may be sent is never more than the burst and what the rate adds, whoever else calls", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), questions, (size, asks) => {
      const service = new TrueBucket(1, size);
      let [state, now] = [atFirst(), 0];
      for (const { ms, others } of asks) {
        now += ms;
        for (let n = 0; n < others; n += 1) service.take(now);
        state = askedAndAnswered(state, now, service).state;
        expect(state.bucket?.tokens).toBeLessThanOrEqual(limit.burst);
      }
    }),
    { numRuns: 500 },
  );
});

const anyBucket = fc.record({
  at: fc.integer({ min: -1e12, max: 1e12 }),
  periodMs: fc.constant(1000),
  // JSON has no negative zero.
  tokens: fc.double({ min: 1 - longestHoldPeriods, max: 1e6, noNaN: true }).map((n) => n + 0),
  margin: fc.integer({ min: 0, max: 512 }),
  marginLeftMs: fc.integer({ min: 0, max: 1e9 }),
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
  let state = atFirst(bucket({ at: 500, tokens: 0 }));
  let [slept, last] = [0, 0];
  for (let calls = 0; calls < 3; ) {
    const { state: next, decision } = asked(state, 500, { ms: last, since: 500 });
    state = next;
    if ("kind" in decision) {
      calls += 1;
      state = ended(state, decision, accepted, 500);
      last = 0;
    } else {
      last = decision.waitMs;
      slept += last;
    }
  }
  expect(slept).toBeGreaterThan(2_900);
  expect(slept).toBeLessThanOrEqual(3_100);
});

test("what no store of this release writes is no bucket", () => {
  const texts = ["", "4 0 1 0", "null", "{}", '{"at":1}', '{"at":1,"tokens":"1"}', "[", "7"];
  expect(texts.map((text) => bucketOf(keptOf(text)))).toEqual(texts.map(() => undefined));
  const half = JSON.stringify({ ...bucket(), margin: "1" });
  expect(bucketOf(keptOf(half))).toBeUndefined();
});

/** A bucket whose first call was answered already. */
const answered = (known: Bucket): LimiterState => ({
  own: { ...ownAtFirst, isAnswered: true },
  bucket: known,
});

test.each([
  ["7", 7_000, [0.02, 1, 2, 4, 7, 7]],
  ["a day", 86_400_000, [0.02, 1, 2, 4, 8, 16, 16]],
])(
  "Retry-After %s, which no bucket asks for, is believed only as far as refusals repeat themselves",
  (_, askedMs, periods) => {
    let state = answered(bucket({ tokens: 1 }));
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
  const known = answered(bucket({ tokens: 1 }));
  const sent = admitted(known, 0);
  const state = ended(sent.state, sent.admission, { type: "refused", askedMs }, 0);
  expect(waitOf(state, 0)).toBeCloseTo(waitMs, 3);
});
