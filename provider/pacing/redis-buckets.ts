import { hash } from "node:crypto";
import { ConversationError } from "../kernel/errors.js";
import { assertInstalled, notInstalled } from "../kernel/package.js";
import { cleaned } from "../kernel/text.js";
import { redact } from "../service/redaction.js";
import { settingLabel } from "../service/settings.js";
import { type BucketStore, parseKept } from "./bucket-store.js";

const prefix = "conversation:";

const dayMs = 24 * 60 * 60_000;

/**
 * Compare and swap on Redis' own clock, so that clocks of machines do not matter. Stores ARGV[2] if
 * ARGV[1] is still the stored value, and returns `1`; otherwise, and if ARGV[2] is empty, `0`. It
 * also returns the time in milliseconds and the stored value. The calculation in between is the
 * same code as for every other store.
 */
const script = `
local t = redis.call('TIME')
local now = string.format('%.3f', t[1] * 1000 + t[2] / 1000)
local kept = redis.call('GET', KEYS[1]) or ''
if ARGV[2] == '' or kept ~= ARGV[1] then return { '0', now, kept } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ${dayMs})
return { '1', now, ARGV[2] }
`;

const sha = hash("sha1", script);

/** Redis forgets its scripts when it is restarted or flushed. */
const isScriptForgotten = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("NOSCRIPT");

/**
 * Maximum attempts against faster processes; every lost one means that another process succeeded.
 */
const mostSwaps = 100;

const readReply = (answer: unknown) => {
  const [done, time, text] = Array.isArray(answer) ? answer : [];
  const now = Number(time);
  if (typeof text !== "string" || time === "" || !Number.isFinite(now)) {
    throw new Error("Redis sent an unreadable reply");
  }
  return { done: done === "1", now, text };
};

/** Returns the reason why the Redis package is needed. */
export const redisNeed = (): string =>
  `${settingLabel("redisUrl")} is set to share the rate limits through Redis`;

/**
 * Creates a store of buckets in Redis, shared across processes and machines. Connects on first use.
 *
 * Rejects while Redis cannot be reached: see `withLocalBuckets`.
 */
export const redisBuckets = (
  url: string,
  connect: (url: string) => Promise<RedisClient> = (address) => connectRedis(address, redisNeed()),
): BucketStore => {
  let client: Promise<RedisClient> | undefined;
  const swap = async (key: string, before: string, after: string) => {
    client ??= connect(url);
    const redis = await client;
    const values = [prefix + key, before, after];
    try {
      return readReply(await redis.evalsha(sha, 1, ...values));
    } catch (error) {
      if (!isScriptForgotten(error)) throw error;
      return readReply(await redis.eval(script, 1, ...values));
    }
  };
  return {
    change: async (key, change) => {
      let seen = await swap(key, "", "");
      for (let attempt = 0; attempt < mostSwaps; attempt += 1) {
        const before = parseKept(seen.text);
        const { state, result } = change(before, seen.now, 1);
        if (!state || state === before) return result;
        seen = await swap(key, seen.text, JSON.stringify(state));
        if (seen.done) return result;
      }
      throw new Error("too many processes use Redis at the same time");
    },
    close: async () => {
      const opened = client;
      client = undefined;
      await opened?.then((redis) => redis.disconnect()).catch(() => {});
    },
  };
};

/** What a caller of Redis uses. */
export interface RedisClient {
  evalsha(sha: string, keys: number, ...values: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>;
  disconnect(): void;
}

/** The part of the optional package `ioredis` that this package uses. */
interface RedisConnection extends RedisClient {
  connect(): Promise<unknown>;
  on(event: "error" | "ready", listener: (error?: unknown) => void): unknown;
}

type RedisClass = new (url: string, options: Readonly<Record<string, unknown>>) => RedisConnection;

/** A reply, as opposed to a failed connection (ioredis). */
const isReply = (error: unknown): error is Error =>
  error instanceof Error && error.name === "ReplyError";

/**
 * Returns what Redis said when it refused a call or a connection, such as `NOAUTH Authentication
 * required`; undefined if it was not reached. Contains no password: a reply to an unknown command
 * quotes its arguments.
 */
export const redisRefusal = (url: string, error: unknown): string | undefined => {
  if (!isReply(error)) return undefined;
  const said = error.message.replace(/, with args beginning with:.*| script: \w+, on .*/s, "");
  return redact(cleaned(said), [new URL(url).password]).replace(/\.$/, "");
};

const connectionMs = 5_000;

const mostPauseMs = 5_000;

/** Fails at once while there is no connection, and reconnects automatically. */
const connectionOptions: Readonly<Record<string, unknown>> = {
  lazyConnect: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: connectionMs,
  commandTimeout: connectionMs,
  retryStrategy: (attempts: number) => Math.min(mostPauseMs, 100 * 2 ** Math.min(attempts, 6)),
};

/** A name that the compiler does not resolve: the package may be absent. */
const redisPackage: string = "ioredis";

const isRedisClass = (value: unknown): value is RedisClass => typeof value === "function";

type Load = () => Promise<{ readonly Redis?: unknown }>;

const redisClass = async (need: string, load: Load): Promise<RedisClass> => {
  let found: unknown;
  try {
    found = (await load()).Redis;
  } catch {
    throw notInstalled(redisPackage, need);
  }
  if (isRedisClass(found)) return found;
  throw new ConversationError(
    "SETTINGS_INVALID",
    "The installed version of ioredis is too old. To install version 5 or later, run: npm install ioredis@latest",
  );
};

/** @throws ConversationError `SETTINGS_INVALID` if the package `ioredis` is missing */
export const assertRedisPackage = (need: string): void => assertInstalled(redisPackage, need);

/**
 * Connects to Redis.
 *
 * @param need its purpose, for the message if the package is missing
 * @throws ConversationError `SETTINGS_INVALID` if the package `ioredis` is missing
 */
export const connectRedis = async (
  url: string,
  need: string,
  load: Load = () => import(redisPackage),
): Promise<RedisClient> => {
  const Redis = await redisClass(need, load);
  // A certificate is checked whatever NODE_TLS_REJECT_UNAUTHORIZED says: a password may follow.
  const tls = url.startsWith("rediss:") ? { tls: { rejectUnauthorized: true } } : {};
  const client = new Redis(url, { ...connectionOptions, ...tls });
  // Calls fail for want of a connection then, and do not say why there is none.
  let refusal: Error | undefined;
  // Without a listener a lost connection would end up on the console.
  client.on("error", (error) => {
    refusal = isReply(error) ? error : undefined;
  });
  client.on("ready", () => {
    refusal = undefined;
  });
  const explain = (error: unknown): never => {
    throw refusal ?? error;
  };
  // A failure now is not final: the client keeps trying.
  await client.connect().catch(() => {});
  return {
    evalsha: (...call) => client.evalsha(...call).catch(explain),
    eval: (...call) => client.eval(...call).catch(explain),
    disconnect: () => client.disconnect(),
  };
};
