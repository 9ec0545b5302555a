import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type LimitedService,
  limitedService,
  longestMs,
  together,
} from "../pacing/support/processes.js";
import { type RedisServer, startRedis } from "../pacing/support/redis-server.js";

let redis: RedisServer | undefined;
let service: LimitedService | undefined;

beforeEach(async () => {
  redis = await startRedis();
});

afterEach(async () => {
  await service?.close();
  await redis?.stop();
});

const tasksFor = async (rate: number, burst: number, calls: number) => {
  service = await limitedService(rate, burst);
  const task = { url: service.url, rate, burst, calls, ...(redis ? { redisUrl: redis.url } : {}) };
  return { service, tasks: [task, task, task, task] };
};

const wallMs = ({ accepted }: LimitedService): number =>
  (accepted.at(-1) ?? 0) - (accepted[0] ?? 0);

const after = async ({ accepted }: LimitedService, count: number): Promise<void> => {
  while (accepted.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("four processes whose clocks differ by a minute share one limit", async () => {
  const { service: limited, tasks } = await tasksFor(10, 5, 15);
  const skews = [0, 30_000, -30_000, 0];
  const { results, warnings, slowness } = await together(
    tasks.map((task, place) => ({ ...task, skewMs: skews[place] ?? 0 })),
  );
  expect(results.map(({ done, notices }) => [done, notices])).toEqual(tasks.map(() => [15, []]));
  expect(Math.max(...results.map(({ refused }) => refused))).toBeLessThanOrEqual(6 * slowness);
  expect(wallMs(limited)).toBeLessThanOrEqual(longestMs(((60 - 5) / 10) * 1000, slowness));
  expect(warnings).toBe("");
});

test("a Redis that is lost makes it slower, says so once, and is used again when it is back", async () => {
  const { service: limited, tasks } = await tasksFor(10, 5, 15);
  const { results } = await together(tasks, async () => {
    await after(limited, 15);
    const port = redis?.port;
    await redis?.stop();
    await after(limited, 25);
    redis = await startRedis(port);
  });
  expect(results.map(({ done }) => done)).toEqual([15, 15, 15, 15]);
  for (const { notices } of results) {
    expect(notices).toEqual([
      "Could not reach Redis to share the rate limits. Until it is available again, this process uses half of each rate.",
    ]);
  }
});
