import { createHash } from "node:crypto";
import { settingLabel } from "../../service/settings.js";
import { type BucketStore, keptOf } from "./bucket-store.js";
import { connectRedis, type RedisClient } from "./redis-client.js";

/** The first release keeps hashes under `conversation:`; this one does not touch them. */
const prefix = "conversation:2:";

const dayMs = 24 * 60 * 60_000;

/**
 * Compare and swap on Redis' own clock, so that clocks of machines do not matter. Keeps ARGV[2] where
 * ARGV[1] is still what is kept, and gives `1`; else, and where ARGV[2] is empty, `0`. With it comes
 * the time in milliseconds and what is kept. What is calculated in between is the same code as for
 * every other store.
 */
const script = `
local t = redis.call('TIME')
local now = string.format('%.3f', t[1] * 1000 + t[2] / 1000)
local kept = redis.call('GET', KEYS[1]) or ''
if ARGV[2] == '' or kept ~= ARGV[1] then return { '0', now, kept } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ${dayMs})
return { '1', now, ARGV[2] }
`;

const sha = createHash("sha1").update(script).digest("hex");

/** Redis forgets its scripts when it is restarted or flushed. */
const isForgotten = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("NOSCRIPT");

/** Processes that are faster each time; every loss means that one of them got on. */
const mostAttempts = 100;

interface Seen {
  readonly done: boolean;
  readonly now: number;
  readonly text: string;
}

const seenIn = (answer: unknown): Seen => {
  const [done, time, text] = Array.isArray(answer) ? answer : [];
  const now = Number(time);
  if (typeof text !== "string" || time === "" || !Number.isFinite(now)) {
    throw new Error("Redis gave an answer that cannot be read");
  }
  return { done: done === "1", now, text };
};

/** What the package for Redis is needed for. */
export const redisNeed = (): string =>
  `${settingLabel("redisUrl")} is set, so that the rate limits are shared through Redis`;

/**
 * Buckets that processes and machines share in Redis. Connects on first use.
 *
 * Rejects while Redis cannot be reached: see `withLocalBuckets`.
 */
export const redisBuckets = (
  url: string,
  connect: (url: string) => Promise<RedisClient> = (address) => connectRedis(address, redisNeed()),
): BucketStore => {
  let client: Promise<RedisClient> | undefined;
  const swap = async (key: string, before: string, after: string): Promise<Seen> => {
    client ??= connect(url);
    const redis = await client;
    const values = [prefix + key, before, after];
    try {
      return seenIn(await redis.evalsha(sha, 1, ...values));
    } catch (error) {
      if (!isForgotten(error)) throw error;
      return seenIn(await redis.eval(script, 1, ...values));
    }
  };
  return {
    change: async (key, change) => {
      let seen = await swap(key, "", "");
      for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
        const before = keptOf(seen.text);
        const { state, result } = change(before, seen.now, 1);
        if (!state || state === before) return result;
        seen = await swap(key, seen.text, JSON.stringify(state));
        if (seen.done) return result;
      }
      throw new Error("Redis is used by too many processes at once");
    },
    close: async () => {
      const opened = client;
      client = undefined;
      await opened?.then((redis) => redis.disconnect()).catch(() => {});
    },
  };
};
