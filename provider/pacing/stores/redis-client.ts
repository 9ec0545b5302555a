import { ConversationError } from "../../kernel/errors.js";
import { assertInstalled, notInstalled } from "../../kernel/optional-package.js";

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
