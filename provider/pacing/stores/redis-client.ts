import { ConversationError } from "../../kernel/errors.js";
import { settingLabel } from "../../service/settings/settings.js";

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

const redisClass = async (load: Load): Promise<RedisClass> => {
  let found: unknown;
  try {
    found = (await load()).Redis;
  } catch {
    throw new ConversationError(
      "SETTINGS_INVALID",
      `${settingLabel("redisUrl")} is set, but the package ioredis, which talks to Redis, is not installed. Install it (npm install ioredis), or remove the setting: then the rate limits are shared on this machine only.`,
    );
  }
  if (isRedisClass(found)) return found;
  throw new ConversationError(
    "SETTINGS_INVALID",
    "The installed package ioredis is too old. Install version 5 or newer: npm install ioredis@latest.",
  );
};

/**
 * A connection to Redis.
 *
 * @throws ConversationError `SETTINGS_INVALID` where the package `ioredis` is missing
 */
export const connectRedis = async (
  url: string,
  load: Load = () => import(packageName),
): Promise<RedisClient> => {
  const Redis = await redisClass(load);
  const client = new Redis(url, options);
  // Without a listener a lost connection would end up on the console.
  client.on("error", () => {});
  // Failing now is no end: the client goes on trying by itself.
  await client.connect().catch(() => {});
  return client;
};
