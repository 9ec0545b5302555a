import { randomUUID } from "node:crypto";
import {
  assertRedisPackage,
  connectRedis,
  type RedisClient,
} from "../../../provider/pacing/stores/redis-client.js";
import { redisAddress } from "../../../provider/service/settings/setting-rules.js";
import { inputInvalid, prepared } from "../caller-input.js";

/** `new`: nobody has it yet; `taken`: somebody is at work on it; `done`: it has been worked on. */
export type Taken = "new" | "taken" | "done";

/**
 * Remembers which messages came already, so that each is worked on once however often it is
 * delivered. One memory may serve several processes, such as {@link redisMemory}. A method may fail,
 * or take longer than 2 s: then the process remembers by itself, and `onError` is told.
 */
export interface MessageMemory {
  /**
   * Takes a message for the caller, at once and for nobody else.
   *
   * @param key names the message
   * @param leaseMs so long it stays taken, in milliseconds, should the caller never come back to it
   */
  take(key: string, leaseMs: number): Promise<Taken>;
  /** Remembers that a message was worked on. */
  done(key: string): Promise<void>;
  /** Gives a message back that could not be worked on: when it comes again it is new. */
  release(key: string): Promise<void>;
}

/** The states of messages, those seen longest ago forgotten first. */
export class RecentStates<S extends Taken> {
  readonly #known = new Map<string, S>();

  /** @param most so many are remembered */
  constructor(private readonly most: number) {}

  get(key: string): S | undefined {
    return this.#known.get(key);
  }

  set(key: string, state: S): void {
    this.#known.delete(key);
    this.#known.set(key, state);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.most) break;
      this.#known.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#known.delete(key);
  }
}

/**
 * Remembers in this process, for as long as it lives.
 *
 * Never fails.
 *
 * @param most so many messages; those seen longest ago are forgotten first. Default: 10,000
 *
 * @example
 * const hub = callbacks({ authenticate, onMessage, memory: processMemory(100_000) });
 */
export const processMemory = (most = 10_000): MessageMemory => {
  const known = new RecentStates<Exclude<Taken, "new">>(most);
  return {
    take: async (key) => {
      const state = known.get(key);
      known.set(key, state ?? "taken");
      return state ?? "new";
    },
    done: async (key) => known.set(key, "done"),
    release: async (key) => known.delete(key),
  };
};

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
  /** Ends the connection, which would keep the process alive. Never fails. */
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

const need = "redisMemory remembers messages in Redis";

/**
 * Remembers messages in Redis, for all processes with the same address and name. Needs the package
 * `ioredis`; connects on first use. While Redis cannot be reached each process remembers by itself, and
 * tells Redis later what it could not be told, as far as the messages come again.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used, `SETTINGS_INVALID`
 * where the package is not installed
 *
 * @example
 * const memory = redisMemory({ url: "redis://localhost:6379", name: "orders-bot" });
 * const hub = callbacks({ authenticate, onMessage, memory });
 */
export const redisMemory = (
  options: RedisMemoryOptions,
  connect?: (url: string) => Promise<RedisClient>,
): RedisMemory => {
  const { url, name, rememberMs } = checked(options);
  if (!connect) assertRedisPackage(need);
  const owner = randomUUID();
  let client: Promise<RedisClient> | undefined;
  const run = async (script: string, key: string, ...values: string[]): Promise<unknown> => {
    client ??= connect ? connect(url) : connectRedis(url, need);
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
