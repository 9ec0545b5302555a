import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  type LimitedService,
  limitedService,
  longestMs,
  together,
} from "../pacing/support/processes.js";
import { startRedis } from "../pacing/support/redis-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const limited = async (rate: number, burst: number): Promise<LimitedService> => {
  const service = await limitedService(rate, burst);
  onTestFinished(() => service.close());
  return service;
};

/** From the first accepted call to the last. */
const wallMs = ({ accepted }: LimitedService): number =>
  (accepted.at(-1) ?? 0) - (accepted[0] ?? 0);

const after = async ({ accepted }: LimitedService, count: number): Promise<void> => {
  while (accepted.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
};

const shares = {
  "the file": async () => ({ cacheFolder: temporaryFolder() }),
  Redis: async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    return { redisUrl: redis.url };
  },
};

test.each(Object.entries(shares))(
  "four processes whose clocks differ by a minute share one limit through %s",
  async (_, share) => {
    const limit = { rate: 10, burst: 5, calls: 15 };
    const service = await limited(limit.rate, limit.burst);
    const task = { url: service.url, ...limit, ...(await share()) };
    const { results, warnings, slowness } = await together(
      [0, 30_000, -30_000, 0].map((skewMs) => ({ ...task, skewMs })),
    );
    expect(results.map(({ accepted, notices }) => [accepted, notices])).toEqual(
      [1, 2, 3, 4].map(() => [limit.calls, []]),
    );
    expect(Math.max(...results.map(({ refused }) => refused))).toBeLessThanOrEqual(6 * slowness);
    expect(wallMs(service)).toBeLessThanOrEqual(longestMs(((60 - 5) / 10) * 1000, slowness));
    expect(warnings).toBe("");
  },
);

test("a killed process takes nothing with it, and the file tells nobody about the service", async () => {
  const service = await limited(10, 5);
  const cacheFolder = temporaryFolder();
  const task = { url: service.url, rate: 10, burst: 5, calls: 20, cacheFolder };
  const { results, slowness } = await together([task, task, task, task], async ([first]) => {
    await after(service, 20);
    first?.kill("SIGKILL");
  });
  expect(results.map(({ accepted }) => accepted)).toEqual([20, 20, 20]);
  const idealMs = ((service.bucket.accepted - 5) / 10) * 1000;
  expect(wallMs(service)).toBeLessThanOrEqual(longestMs(idealMs, slowness));
  const path = join(cacheFolder, "pulumi-conversation", "buckets.sqlite");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "latin1")).not.toContain("127.0.0.1");
});

test("a Redis that is lost makes calls be refused, says so once, and is used again when it is back", async () => {
  const service = await limited(10, 5);
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const task = { url: service.url, rate: 10, burst: 5, calls: 15, redisUrl: redis.url };
  const { results } = await together([task, task, task, task], async () => {
    await after(service, 15);
    await redis.stop();
    await after(service, 25);
    redis = await startRedis(redis.port);
  });
  expect(results.map(({ accepted }) => accepted)).toEqual([15, 15, 15, 15]);
  for (const { notices } of results) {
    expect(notices).toEqual([
      "The rate limits are not shared with other processes for now: could not reach Redis.",
    ]);
  }
});
