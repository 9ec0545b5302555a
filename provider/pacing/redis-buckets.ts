import { cleaned } from "../kernel/text.js";
import { redact } from "../service/redaction.js";
import { type BucketStore, parseBucket } from "./bucket-store.js";

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

/**
 * Creates a store of buckets in Redis, shared across processes and machines. Connects on first use.
 *
 * Rejects while Redis cannot be reached: see `withLocalBuckets`.
 */
export const redisBuckets = (url: string, connect = connectRedis): BucketStore => {
  let client: Promise<RedisClient> | undefined;
  const swap = async (key: string, before: string, after: string) => {
    client ??= connect(url);
    return readReply(await (await client).eval(script, 1, prefix + key, before, after));
  };
  return {
    change: async (key, change) => {
      let seen = await swap(key, "", "");
      for (let attempt = 0; attempt < mostSwaps && !seen.done; attempt += 1) {
        const bucket = change(parseBucket(seen.text), seen.now);
        seen = await swap(key, seen.text, JSON.stringify(bucket));
      }
      if (!seen.done) throw new Error("too many processes use Redis at the same time");
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
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>;
  disconnect(): void;
}

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

/**
 * Connects to Redis. Calls fail at once while there is no connection; the client reconnects
 * automatically. Requires the optional package `ioredis`.
 */
export const connectRedis = async (url: string): Promise<RedisClient> => {
  const { Redis } = await import("ioredis");
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectionMs,
    commandTimeout: connectionMs,
    retryStrategy: (attempts) => Math.min(mostPauseMs, 100 * 2 ** Math.min(attempts, 6)),
    // A certificate is checked whatever NODE_TLS_REJECT_UNAUTHORIZED says: a password may follow.
    ...(url.startsWith("rediss:") ? { tls: { rejectUnauthorized: true } } : {}),
  });
  // Calls fail for want of a connection then, and do not say why there is none.
  let refusal: Error | undefined;
  // Without a listener a lost connection would end up on the console.
  client.on("error", (error) => {
    refusal = isReply(error) ? error : undefined;
  });
  client.on("ready", () => {
    refusal = undefined;
  });
  // A failure now is not final: the client keeps trying.
  await client.connect().catch(() => {});
  return {
    eval: (...call) =>
      client.eval(...call).catch((error: unknown) => {
        throw refusal ?? error;
      }),
    disconnect: () => client.disconnect(),
  };
};
