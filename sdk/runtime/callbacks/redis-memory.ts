import { randomUUID } from "node:crypto";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { connectRedis, type RedisClient } from "../../../provider/pacing/stores/redis-client.js";
import { redisAddress } from "../../../provider/service/settings/setting-rules.js";
import { inputInvalid, prepared } from "../caller-input.js";
import type { MessageMemory, Taken } from "./message-memory.js";

/** Where several processes remember messages together. */
export interface RedisMemoryOptions {
  /** `redis:` or `rediss:` address, with its password where it has one. */
  readonly url: string;
  /**
   * Names the callback: the same for all its processes, another one for the callback of another
   * participant, which gets the same messages.
   */
  readonly name: string;
  /** How long a message is remembered, in milliseconds. Default: a day. */
  readonly rememberMs?: number;
}

/** A memory in Redis. */
export interface RedisMemory extends MessageMemory, AsyncDisposable {
  /** Ends the connection, which would keep the process alive. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;

/** Taken by one who calls, and by nobody else. */
const takeScript = `
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return "new" end
return redis.call("GET", KEYS[1]) == "done" and "done" or "taken"`;

const doneScript = `return redis.call("SET", KEYS[1], "done", "PX", ARGV[1])`;

/** Only what is still ours: after its lease another process may have taken it. */
const releaseScript = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

const takenOf = (answer: unknown): Taken =>
  answer === "new" || answer === "done" ? answer : "taken";

const checked = (options: RedisMemoryOptions): Required<RedisMemoryOptions> => {
  const doing = "make the memory of messages";
  return prepared(doing, () => {
    const { url, name, rememberMs = dayMs } = { ...options };
    const parsed = typeof url === "string" ? redisAddress(url) : { rule: "must be text" };
    if ("rule" in parsed) throw inputInvalid(doing, `url ${parsed.rule}`);
    if (typeof name !== "string" || name === "") throw inputInvalid(doing, "name must be text");
    if (!(Number.isSafeInteger(rememberMs) && rememberMs > 0)) {
      throw inputInvalid(doing, "rememberMs must be a whole number above 0");
    }
    return { url, name, rememberMs };
  });
};

const connected = async (connect: typeof connectRedis, url: string): Promise<RedisClient> => {
  try {
    return await connect(url);
  } catch (error) {
    throw new ConversationError(
      "SETTINGS_INVALID",
      "Could not remember messages in Redis: the package ioredis is not installed, or too old. Install it: npm install ioredis",
      {},
      "none",
      { cause: error },
    );
  }
};

/**
 * Remembers messages in Redis, for all processes with the same address and name. Needs the package
 * `ioredis`; connects on first use. While Redis cannot be reached each process remembers by itself.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used
 *
 * @example
 * const memory = redisMemory({ url: "redis://localhost:6379", name: "orders-bot" });
 * const hub = callbacks({ authenticate, onMessage, memory });
 */
export const redisMemory = (
  options: RedisMemoryOptions,
  connect: (url: string) => Promise<RedisClient> = connectRedis,
): RedisMemory => {
  const { url, name, rememberMs } = checked(options);
  const owner = randomUUID();
  let client: Promise<RedisClient> | undefined;
  const run = async (script: string, key: string, ...values: string[]): Promise<unknown> => {
    client ??= connected(connect, url);
    return (await client).eval(script, 1, `conversation:message:${name}:${key}`, ...values);
  };
  const close = async (): Promise<void> => {
    const open = await client?.catch(() => undefined);
    client = undefined;
    open?.disconnect();
  };
  return {
    take: async (key, leaseMs) =>
      takenOf(await run(takeScript, key, owner, `${Math.ceil(leaseMs)}`)),
    done: async (key) => void (await run(doneScript, key, `${rememberMs}`)),
    release: async (key) => void (await run(releaseScript, key, owner)),
    close,
    [Symbol.asyncDispose]: close,
  };
};
