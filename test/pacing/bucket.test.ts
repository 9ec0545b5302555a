import fc from "fast-check";
import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import {
  bucketAt,
  emptyBucket,
  fullBucket,
  type RateLimit,
  takeToken,
} from "../../provider/pacing/bucket.js";
import { parseBucket } from "../../provider/pacing/bucket-store.js";

const limit: RateLimit = { periodMs: 2000, burst: 3 };

test("a full bucket lets its burst through at once, the rest at its rate, and fills up again", () => {
  let bucket = fullBucket(0, limit);
  const waitsAt = (now: number, calls: number) =>
    Array.from({ length: calls }, () => {
      bucket = bucketAt(bucket, now, limit);
      const waitMs = Math.max(0, bucket.dueMs);
      bucket = takeToken(bucket, limit);
      return waitMs / 1000;
    });
  const expected = [0, 0, 0, 2, 4].map((seconds) => expect.closeTo(seconds, 0));
  expect(waitsAt(0, 5)).toEqual(expected);
  expect(waitsAt(100_000, 5)).toEqual(expected);
});

test("it never allows more than the service does, whoever else calls and whatever was refused", () => {
  const events = fc.array(
    fc.record({ ms: fc.integer({ min: 0, max: 9000 }), others: fc.integer({ min: 0, max: 2 }) }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), events, (burst, all) => {
      const own: RateLimit = { periodMs: 1000, burst };
      const service = new TrueBucket(1, burst);
      let [bucket, now, isEmptied] = [fullBucket(0, own), 0, true];
      for (const { ms, others } of all) {
        now += ms;
        for (let n = 0; n < others; n += 1) if (service.take(now)) isEmptied = false;
        bucket = bucketAt(bucket, now, own);
        if (bucket.dueMs > 0) continue;
        const accepted = service.take(now);
        // Only others are a reason for a refusal, and after it nothing is taken for granted.
        expect(accepted || !isEmptied).toBe(true);
        bucket = takeToken(bucket, own);
        if (!accepted) [bucket, isEmptied] = [emptyBucket(bucket, own), true];
      }
    }),
  );
});

test("a clock that goes back lets no time pass, and takes nothing away", () => {
  const bucket = takeToken(fullBucket(1e9, limit), limit);
  expect(bucketAt(bucket, 0, limit)).toEqual({ at: 0, dueMs: bucket.dueMs });
});

test.each(["", "7", "{}", '{"at":1}', '{"at":1,"dueMs":"1"}', '{"at":1,"dueMs":1e999}'])(
  "%j, which no store of this release writes, is no bucket",
  (text) => {
    expect(parseBucket(text)).toBeUndefined();
  },
);
