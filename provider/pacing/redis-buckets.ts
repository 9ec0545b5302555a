import { createHash } from "node:crypto";
import { ConversationError } from "../kernel/errors.js";
import { assertInstalled, notInstalled } from "../kernel/package.js";
import { settingLabel } from "../service/settings.js";
import { type BucketStore, keptOf } from "./bucket-store.js";

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

/** What is used of the optional package `ioredis`. */
export interface RedisClient {
  connect(): Promise<unknown>;
  evalsha(sha: string, keys: number, ...values: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  disconnect(): void;
}

type RedisClass = new (url: string, options: Readonly<Record<string, unknown>>) => RedisClient;

const waitMs = 5_000;

const mostPauseMs = 5_000;

/** Fails at once while there is no connection, and connects again by itself. */
const options: Readonly<Record<string, unknown>> = {
  lazyConnect: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: waitMs,
  commandTimeout: waitMs,
  retryStrategy: (attempts: number) => Math.min(mostPauseMs, 100 * 2 ** Math.min(attempts, 6)),
};

/** A name that the compiler does not look up: the package need not be there. */
const packageName: string = "ioredis";

const isRedisClass = (value: unknown): value is RedisClass => typeof value === "function";

type Load = () => Promise<{ readonly Redis?: unknown }>;

const redisClass = async (need: string, load: Load): Promise<RedisClass> => {
  let found: unknown;
  try {
    found = (await load()).Redis;
  } catch {
    throw notInstalled(packageName, need);
  }
  if (isRedisClass(found)) return found;
  throw new ConversationError(
    "SETTINGS_INVALID",
    "The installed package ioredis is too old. Install version 5 or newer: npm install ioredis@latest.",
  );
};

/** @throws ConversationError `SETTINGS_INVALID` where the package `ioredis` is missing */
export const assertRedisPackage = (need: string): void => assertInstalled(packageName, need);

/**
 * A connection to Redis.
 *
 * @param need what it is for, for the message where the package is missing
 * @throws ConversationError `SETTINGS_INVALID` where the package `ioredis` is missing
 */
export const connectRedis = async (
  url: string,
  need: string,
  load: Load = () => import(packageName),
): Promise<RedisClient> => {
  const Redis = await redisClass(need, load);
  const client = new Redis(url, options);
  // Without a listener a lost connection would end up on the console.
  client.on("error", () => {});
  // Failing now is no end: the client goes on trying by itself.
  await client.connect().catch(() => {});
  return client;
};
