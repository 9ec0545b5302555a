import { randomUUID } from "node:crypto";
import type { Clock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import {
  assertRedisPackage,
  connectRedis,
  type RedisClient,
  redisRefusal,
} from "../../provider/pacing/redis-buckets.js";
import { redisAddress } from "../../provider/service/settings.js";
import { prepared } from "./caller-input.js";

/** A limit for one piece of work. */
interface TimeLimit {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly ms: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Runs a task with a time limit. When time is up, aborts the task's signal with an error, throws
 * the same error, and ignores later results.
 */
export const withinTime = async <T>(
  { clock, ms, late }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> => {
  const [over, done] = [new AbortController(), new AbortController()];
  const limit = clock.sleep(ms, done.signal).then(() => {
    const error = late();
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([(async () => work(over.signal))(), limit]);
  } finally {
    done.abort();
  }
};

/** A message's state. `new`: not claimed yet. `taken`: being handled. `done`: handled. */
export type Taken = "new" | "taken" | "done";

/**
 * Remembers which messages have arrived, so that each is handled once, however often it is
 * delivered. A memory such as {@link redisMemory} can serve several processes. If a method fails or
 * takes longer than 2 s, the process uses its own memory and calls `onError`; it reports later
 * failures only after a method has succeeded.
 */
export interface MessageMemory {
  /**
   * Atomically claims a message for the caller if it is new, and returns the previous state.
   *
   * @param key identifies the message
   * @param leaseMs how long it stays taken if the caller never finishes it, in milliseconds
   */
  take(key: string, leaseMs: number): Promise<Taken>;
  /**
   * Extends the lease on a message that the caller is still handling. If the memory has this
   * method, leases are short, so that a killed process's messages soon become available; otherwise,
   * a lease lasts 5 s longer than a message's time limit. If the lease has expired and no other
   * process has claimed the message, claims it again.
   *
   * @param leaseMs how long it stays taken from now on, in milliseconds
   */
  renew?(key: string, leaseMs: number): Promise<void>;
  /** Remembers that a message has been handled. */
  done(key: string): Promise<void>;
  /**
   * Releases a message that could not be handled, so that it counts as new when it arrives again.
   */
  release(key: string): Promise<void>;
}

/** The states of messages, those seen longest ago forgotten first. */
class RecentStates<S extends Taken> {
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
 * Returns a memory in this process. Its content is lost when the process ends.
 *
 * Never fails.
 *
 * @param most number of messages; those seen longest ago are removed first. Default: 10,000
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

/** Taken by one who calls, and by nobody else. */
const takeScript = `
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return "new" end
return redis.call("GET", KEYS[1]) == "done" and "done" or "taken"`;

const doneScript = `return redis.call("SET", KEYS[1], "done", "PX", ARGV[1])`;

/** What is ours or free: a process that was paused for longer than its lease takes the message again. */
const renewScript = `
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then return false end
return redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])`;

/** Only what is still ours. */
const releaseScript = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

const takenOf = (answer: unknown): Taken =>
  answer === "new" || answer === "done" ? answer : "taken";

const checked = (options: RedisMemoryOptions): Required<RedisMemoryOptions> => {
  const invalid = (rule: string): ConversationError =>
    new ConversationError("INPUT_INVALID", `Could not create the message memory: ${rule}.`);
  return prepared("create the message memory", () => {
    const { url, name, rememberMs = dayMs } = { ...options };
    const parsed = typeof url === "string" ? redisAddress(url) : { rule: "must be a string" };
    if ("rule" in parsed) throw invalid(`url ${parsed.rule}`);
    if (typeof name !== "string" || name === "") throw invalid("name must be a non-empty string");
    if (!(Number.isSafeInteger(rememberMs) && rememberMs > 0)) {
      throw invalid("rememberMs must be a whole number greater than 0");
    }
    return { url, name, rememberMs };
  });
};

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
 * process uses its own memory. If a message handled in that time arrives again, the process records it in Redis. A
 * killed process's messages stay claimed for up to 5 s, so the service must retry for longer than
 * that.
 *
 * @throws ConversationError `INPUT_INVALID` naming the invalid option, `SETTINGS_INVALID` if the
 * package is not installed
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
    client ??= (connect ?? connectRedis)(url);
    try {
      const redis = await client;
      return await redis.eval(script, 1, `conversation:message:${name}:${key}`, ...values);
    } catch (error) {
      throw redisFailure(url, error);
    }
  };
  const close = async (): Promise<void> => {
    const open = await client?.catch(() => undefined);
    client = undefined;
    open?.disconnect();
  };
  return {
    take: async (key, leaseMs) =>
      takenOf(await run(takeScript, key, owner, `${Math.ceil(leaseMs)}`)),
    renew: async (key, leaseMs) =>
      void (await run(renewScript, key, owner, `${Math.ceil(leaseMs)}`)),
    done: async (key) => void (await run(doneScript, key, `${rememberMs}`)),
    release: async (key) => void (await run(releaseScript, key, owner)),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/** A memory that does not answer by then is taken for lost. */
const memoryWithinMs = 2_000;

/** So many messages are remembered here. */
const mostRemembered = 10_000;

const late = () => new Error("the message memory did not respond in time");

/**
 * Wraps the caller's memory, which can fail at any time; this process remembers whatever it could
 * not store there. A message might be handled twice, but is never lost, because it counts as taken
 * only while it is being handled.
 *
 * @param report called with the memory's first error since it last worked; must not fail
 */
export const reliableMemory = (
  memory: MessageMemory,
  clock: Clock,
  report: (error: unknown) => unknown,
): MessageMemory => {
  // `new`: given back here, though the memory may still have it as taken.
  const untold = new RecentStates<Taken>(mostRemembered);
  // For while the memory is away: of what it took, too.
  const finished = new RecentStates<"done">(mostRemembered);
  let isAway = false;
  const asked = async <T, F>(use: () => Promise<T>, failed: F): Promise<T | F> => {
    try {
      const answer = await withinTime({ clock, ms: memoryWithinMs, late }, use);
      isAway = false;
      return answer;
    } catch (error) {
      if (!isAway) report(error);
      isAway = true;
      return failed;
    }
  };
  const ended = async (key: string, state: Taken, use: () => Promise<void>): Promise<void> => {
    // First of all here: the memory may take its time, and the message come again meanwhile.
    untold.set(key, state);
    const isRecorded = await asked(async () => {
      await use();
      return true;
    }, false);
    if (isRecorded) untold.delete(key);
  };
  const done = (key: string): Promise<void> => {
    finished.set(key, "done");
    return ended(key, "done", () => memory.done(key));
  };
  const takenHere = (key: string): Taken => {
    const state = finished.get(key);
    if (state === undefined) untold.set(key, "taken");
    return state ?? "new";
  };
  const { renew } = memory;
  return {
    ...(renew ? { renew: renew.bind(memory) } : {}),
    done,
    release: (key) => ended(key, "new", () => memory.release(key)),
    take: async (key, leaseMs) => {
      const here = untold.get(key);
      if (here === "done") await done(key);
      if (here === "done" || here === "taken") return here;
      const there = await asked(() => memory.take(key, leaseMs), undefined);
      if (there === undefined) return takenHere(key);
      untold.delete(key);
      return there === "taken" && here === "new" ? "new" : there;
    },
  };
};
