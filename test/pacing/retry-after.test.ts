import { expect, test } from "vitest";
import { retryAfterMs } from "../../provider/service/pace.js";

const now = Date.UTC(2026, 0, 1);
const longestMs = 100_000;

test.each<[value: string | string[], ms: number | undefined]>([
  ["5", 5000],
  ["32.2", 32_200],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["Thu Jan  1 00:00:30 2026", 30_000],
  ["2026-01-01T00:00:30.000Z", 30_000],
  [["5", "7", "soon"], 7000],
  ["101", longestMs],
  ["9".repeat(400), longestMs],
  ["Fri, 31 Dec 9999 23:59:59 GMT", longestMs],
  ["Wed, 31 Dec 2025 23:59:59 GMT", undefined],
  ...["", "0", "-5", "+5", "1e9", "0x10", "soon", "5 s", "5, 7", "2050-01-01"].map(
    (value): [string, undefined] => [value, undefined],
  ),
  ["Thu, 99 Foo 2050 99:99:99 GMT", undefined],
])("a Retry-After of %j asks for %s ms, at most 100 s", (value, ms) => {
  // The service's own clock counts, not this machine's.
  const headers = { "retry-after": value, date: new Date(now).toUTCString() };
  expect(retryAfterMs(headers, 0)).toBe(ms);
});
