import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type LimitedService,
  limitedService,
  longestMs,
  together,
} from "../pacing/support/processes.js";

let folder = "";
let service: LimitedService | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-conversation-buckets-"));
});

afterEach(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

const limited = async (rate: number, burst: number): Promise<LimitedService> => {
  service = await limitedService(rate, burst);
  return service;
};

const path = () => join(folder, "pulumi-conversation", "buckets.sqlite");

test("four processes share a rate and a burst through the file", async () => {
  const limit = { rate: 20, burst: 10, calls: 25 };
  const { url, bucket, accepted } = await limited(limit.rate, limit.burst);
  const task = { url, ...limit, cacheFolder: folder };
  const skews = [0, 30_000, -30_000, 0];
  const { results, warnings, slowness } = await together(
    skews.map((skewMs) => ({ ...task, skewMs })),
  );
  const idealMs = ((4 * limit.calls - limit.burst) / limit.rate) * 1000;
  expect(results.map(({ done }) => done)).toEqual([1, 1, 1, 1].map(() => limit.calls));
  expect(results.flatMap(({ notices }) => notices)).toEqual([]);
  expect(Math.max(...results.map(({ refused }) => refused))).toBeLessThanOrEqual(6 * slowness);
  expect((accepted.at(-1) ?? 0) - (accepted[0] ?? 0)).toBeLessThanOrEqual(
    longestMs(idealMs, slowness),
  );
  expect(bucket.accepted).toBe(4 * limit.calls);
  expect(warnings).toBe("");
});

test("a killed process takes nothing with it", async () => {
  const { url, bucket, accepted } = await limited(10, 5);
  const task = { url, rate: 10, burst: 5, calls: 20, cacheFolder: folder };
  const { results, slowness } = await together([task, task, task, task], async ([first]) => {
    while (accepted.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    first?.kill();
  });
  expect(results.map(({ done }) => done)).toEqual([20, 20, 20]);
  const [from = 0, to = 0] = [accepted[0], accepted.at(-1)];
  const idealMs = ((bucket.accepted - 5) / 10) * 1000;
  expect(to - from).toBeLessThanOrEqual(longestMs(idealMs, slowness));
});

test("the file is for its user only and does not hold the address of the service", async () => {
  const { url } = await limited(20, 4);
  await together([{ url, rate: 20, burst: 4, calls: 2, cacheFolder: folder }]);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(readFileSync(path(), "latin1")).not.toContain("127.0.0.1");
});

test("a damaged file is made anew", async () => {
  const { url } = await limited(20, 4);
  const task = { url, rate: 20, burst: 4, calls: 6, cacheFolder: folder };
  await together([task]);
  writeFileSync(
    path(),
    "this is no database, and it is long enough to be taken for one".repeat(99),
  );
  const { results } = await together([task]);
  expect(results).toMatchObject([{ done: 6, notices: [] }]);
  expect(readFileSync(path(), "latin1").startsWith("SQLite format 3")).toBe(true);
});
