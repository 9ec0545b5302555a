import { randomUUID } from "node:crypto";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { assertInstalled } from "../../provider/kernel/package.js";
import {
  connectRedis,
  type RedisClient,
  redisRefusal,
} from "../../provider/pacing/redis-buckets.js";
import { redisAddress } from "../../provider/service/settings.js";
import { guardInput, inputInvalid } from "./caller-input.js";
import type { MessageMemory } from "./message-memory.js";

/** Options for a memory in Redis that several processes share. */
export interface RedisMemoryOptions {
  /** `redis:` or `rediss:` URL, including the password if there is one. */
  readonly url: string;
  /**
   * Name of the callback: the same in all its processes, but different for each participant,
   * because several callbacks can receive the same messages.
   */
  readonly name: string;
  /** How long to remember a message, in milliseconds. Default: 86,400,000 (one day). */
  readonly rememberMs?: number;
}

/** A message memory in Redis. */
export interface RedisMemory extends MessageMemory, AsyncDisposable {
  /** Closes the connection, which would otherwise keep the process alive. Never fails. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;

/**
 * A claim lasts this long unless it is renewed: a service that repeats a delivery for some seconds
 * still finds the message free after the process that handled it was killed.
 */
const claimMs = 5_000;
const renewEveryMs = 1_500;

/** Taken by one who calls, and by nobody else. */
const takeScript = `
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return "new" end
return redis.call("GET", KEYS[1]) == "done" and "done" or "taken"`;

const doneScript = `return redis.call("SET", KEYS[1], "done", "PX", ARGV[1])`;

/** Only what is still ours. */
const renewScript = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return 0`;

const releaseScript = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

const doing = "create the message memory";

const checkMemoryOptions = (options: RedisMemoryOptions): Required<RedisMemoryOptions> =>
  guardInput(doing, () => {
    const { url, name, rememberMs = dayMs } = { ...options };
    const parsed = typeof url === "string" ? redisAddress(url) : { rule: "must be a string" };
    if ("rule" in parsed) throw inputInvalid(doing, `url ${parsed.rule}`);
    if (typeof name !== "string" || name === "") {
      throw inputInvalid(doing, "name must be a non-empty string");
    }
    if (!(Number.isSafeInteger(rememberMs) && rememberMs > 0)) {
      throw inputInvalid(doing, "rememberMs must be a whole number greater than 0");
    }
    return { url, name, rememberMs };
  });

const need = "redisMemory remembers messages in Redis";

/** Why Redis did not remember a message. */
const redisFailure = (url: string, error: unknown): ConversationError => {
  if (isConversationError(error)) return error;
  const said = redisRefusal(url, error);
  const what = said === undefined ? "is not reachable" : `refused the call (${said})`;
  return new ConversationError(
    said === undefined ? "UNREACHABLE" : "REJECTED",
    `Redis at ${new URL(url).host} ${what}. Until this is fixed, a message that reaches two processes may be handled twice.`,
  );
};

/**
 * Returns a memory in Redis that all processes with the same URL and name share. Requires the
 * `ioredis` package, and connects on first use. While Redis is unreachable or refuses calls, each
 * process uses its own memory. A killed process's messages stay claimed for up to 5 s, so the
 * service must retry for longer than that.
 *
 * @throws ConversationError `INPUT_INVALID` naming the invalid option, `SETTINGS_INVALID` if the
 * package is not installed
 *
 * @example
 * const memory = redisMemory({ url: "redis://localhost:6379", name: "orders-bot" });
 * const hub = callbacks({ authenticate, onMessage, memory });
 */
export const redisMemory = (options: RedisMemoryOptions): RedisMemory => {
  const { url, name, rememberMs } = checkMemoryOptions(options);
  assertInstalled("ioredis", need);
  const owner = randomUUID();
  const renewals = new Map<string, NodeJS.Timeout>();
  let client: Promise<RedisClient> | undefined;
  const run = async (script: string, key: string, ...values: string[]): Promise<unknown> => {
    client ??= connectRedis(url);
    try {
      const redis = await client;
      return await redis.eval(script, 1, `conversation:message:${name}:${key}`, ...values);
    } catch (error) {
      throw redisFailure(url, error);
    }
  };
  const stopRenewing = (key: string): void => {
    clearInterval(renewals.get(key));
    renewals.delete(key);
  };
  const renew = async (key: string): Promise<void> => {
    // Without an answer the claim may end, and somebody else handle the message, too.
    const isRenewed = await run(renewScript, key, owner, `${claimMs}`).catch(() => 1);
    if (isRenewed === 0) stopRenewing(key);
  };
  const close = async (): Promise<void> => {
    for (const key of renewals.keys()) stopRenewing(key);
    const open = await client?.catch(() => undefined);
    client = undefined;
    open?.disconnect();
  };
  return {
    take: async (key) => {
      const answer = await run(takeScript, key, owner, `${claimMs}`);
      if (answer !== "new") return answer === "done" ? "done" : "taken";
      stopRenewing(key);
      renewals.set(key, setInterval(() => void renew(key), renewEveryMs).unref());
      return "new";
    },
    settle: async (key, state) => {
      stopRenewing(key);
      if (state === "done") await run(doneScript, key, `${rememberMs}`);
      else await run(releaseScript, key, owner);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
