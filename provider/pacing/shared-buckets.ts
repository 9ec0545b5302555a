import { createHash } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { hrtime } from "node:process";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../kernel/clock.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { assertOwnFile, makeOwnFolder } from "../kernel/files.js";
import { isObject, jsonIn } from "../kernel/json.js";
import { assertInstalled, notInstalled } from "../kernel/package.js";
import { cleaned } from "../kernel/text.js";
import { redact } from "../service/redaction.js";
import { settingLabel } from "../service/settings.js";

/** The value stored under a key: plain JSON, with the store's time at which it was valid. */
export interface Kept {
  /** The store's time, in milliseconds. */
  readonly at: number;
}

/** The outcome of a change. */
interface Changed<R> {
  /** The new value: an object whose `at` is its time. The same object: nothing is written. */
  readonly state: Kept | undefined;
  /** What `change` returns. */
  readonly result: R;
}

/**
 * Derives a new value from the stored one.
 *
 * @param state the stored value; undefined: nothing yet
 * @param now the store's own time in milliseconds
 * @param share fraction of the rate that this process may use while others cannot be seen: greater
 * than 0, at most 1
 */
export type StoreChange<R> = (state: Kept | undefined, now: number, share: number) => Changed<R>;

/**
 * The bucket store. Changes are atomic. A change may run again if another process was faster, so it
 * must have no side effects. Nothing is reserved in advance, so no tokens are lost if a process is
 * killed.
 *
 * With `withLocalBuckets`, rejects only with failures that a person must fix, because a local store
 * replaces a shared store that cannot be reached.
 */
export interface BucketStore {
  /** Changes the value stored under a key. */
  change<R>(key: string, change: StoreChange<R>): R | Promise<R>;
  /** Releases what the store holds open. */
  close(): Promise<void>;
}

/** Parses text from a store; undefined if it is not in the store's format. */
export const keptOf = (text: unknown): Kept | undefined => {
  const value = typeof text === "string" ? jsonIn(text) : undefined;
  const at = isObject(value) ? value.at : undefined;
  // 1e999 is read as Infinity.
  return isObject(value) && typeof at === "number" && Number.isFinite(at)
    ? { ...value, at }
    : undefined;
};

/**
 * Creates a store of buckets for this process only.
 *
 * @param now monotonic time in milliseconds
 */
export const memoryBuckets = (now: () => number): BucketStore => {
  const all = new Map<string, Kept>();
  return {
    change: (key, change) => {
      const { state, result } = change(all.get(key), now(), 1);
      if (state) all.set(key, state);
      return result;
    },
    close: async () => {},
  };
};

interface FallbackOptions {
  /** Buckets of this process only, as long as the shared ones cannot be reached. */
  readonly local: BucketStore;
  /**
   * Fraction of each rate that this process uses in the meantime, because others do not notice it.
   */
  readonly share: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Time until the shared buckets are tried again, in milliseconds. */
  readonly againMs: number;
  /** Called the first time that the shared buckets cannot be reached. */
  readonly onLost: (error: unknown) => void;
}

/**
 * Returns a store that uses shared buckets, or local ones while the shared buckets cannot be
 * reached.
 *
 * Rejects with a ConversationError for failures that a person must fix.
 */
export const withLocalBuckets = (shared: BucketStore, options: FallbackOptions): BucketStore => {
  const { local, share, now, againMs, onLost } = options;
  let againAt = Number.NEGATIVE_INFINITY;
  let isReported = false;
  const lost = (error: unknown): void => {
    if (isConversationError(error)) throw error;
    againAt = now() + againMs;
    if (!isReported) onLost(error);
    isReported = true;
  };
  return {
    change: async (key, change) => {
      try {
        if (now() >= againAt) return await shared.change(key, change);
      } catch (error) {
        lost(error);
      }
      return local.change(key, (kept, time) => change(kept, time, share));
    },
    close: async () => {
      await Promise.all([shared.close(), local.close()]);
    },
  };
};

export interface SharedBucketsOptions {
  readonly clock: Clock;
  /**
   * URL of Redis. If omitted, the buckets are shared at most among this user's processes on this
   * machine.
   */
  readonly redisUrl?: string | undefined;
  /** Where to look up XDG_CACHE_HOME. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called once, with a readable sentence, when the buckets temporarily cannot be shared. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** Version of Node.js. Default: the running version. */
  readonly nodeVersion?: string;
}

/**
 * From this version on Node's SQLite prints no warning, which would end up in the engine's display.
 */
const firstQuietMajor = 24;

/** Redis usually returns within seconds; an attempt fails at once while there is no connection. */
const redisAgainMs = 2_000;

/**
 * Twenty times as long as a change waits for the file: while others lock it, 5 % of the time is
 * lost.
 */
const fileAgainMs = 5_000;

/** Machines that lose Redis do not see each other: assume that there are two. */
const aloneShare = 0.5;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");

/** One store for all profiles of a process, because they may belong to the same tenant. */
const inProcess = new WeakMap<Clock, BucketStore>();

const localBuckets = (clock: Clock): BucketStore => {
  const known = inProcess.get(clock) ?? memoryBuckets(() => clock.now());
  inProcess.set(clock, known);
  return known;
};

/**
 * Returns the bucket store: Redis if a URL is given; otherwise, a file in the cache folder or,
 * before Node.js 24, the memory of this process. Opens the store only on the first call.
 *
 * @throws ConversationError `SETTINGS_INVALID` if the package for Redis is needed and missing
 */
export const sharedBuckets = (options: SharedBucketsOptions): BucketStore => {
  const { clock, redisUrl, environment = process.env, onNotice } = options;
  const local = localBuckets(clock);
  const now = (): number => clock.now();
  if (redisUrl !== undefined) {
    assertRedisPackage(redisNeed());
    const onLost = (error: unknown): void => {
      const said = redisRefusal(redisUrl, error);
      onNotice?.(
        said === undefined
          ? "Could not reach Redis to share the rate limits. Until it is available again, this process uses half of each rate."
          : `Redis refused to share the rate limits (${said}). Until this is fixed, this process uses half of each rate.`,
      );
    };
    const fallback = { local, share: aloneShare, now, againMs: redisAgainMs, onLost };
    return withLocalBuckets(redisBuckets(redisUrl), fallback);
  }
  const version = options.nodeVersion ?? process.versions.node;
  if (Number.parseInt(version, 10) < firstQuietMajor) return local;
  const path = bucketFilePath(environment);
  const onLost = (error: unknown): void =>
    onNotice?.(
      `The rate limits are not shared with other processes for now: could not use ${path} (${reasonOf(error)}).`,
    );
  const fallback = { local, share: 1, now, againMs: fileAgainMs, onLost };
  return withLocalBuckets(fileBuckets({ path }), fallback);
};

/** A time that all processes of this machine share. */
interface MachineTime {
  /** Monotonic milliseconds since the machine started: setting the wall clock has no effect. */
  now(): number;
  /** Identifies the start of the machine; times of different starts cannot be compared. */
  readonly start: string;
}

interface FileBucketsOptions {
  readonly path: string;
  /** Default: this machine's. */
  readonly time?: MachineTime;
  /**
   * Wall clock in milliseconds, for data that outlives a restart of the machine. Default: this
   * machine's.
   */
  readonly wall?: () => number;
}

const table = "limits";

/** Layout of the file. */
const layout = 0;

/** SQLite's result codes SQLITE_CORRUPT and SQLITE_NOTADB; SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html). */
const damaged: ReadonlySet<unknown> = new Set([11, 26]);

const inUse: ReadonlySet<unknown> = new Set([5, 6]);

/** Maximum wait for another process's change, in milliseconds; one takes 0.2 ms (measured). */
const busyMs = 250;

/**
 * With pauses of 5 to 50 ms between them: enough for four processes that start together (measured).
 */
const mostAttempts = 5;

/** Rows that were not used for a week are removed: a guessed plan is trusted for only a day. */
const unusedMs = 7 * 24 * 60 * 60_000;

/** Coarse, because it should not change if the wall clock is set by some seconds. */
const roughMs = 600_000;

const machineTime = (): MachineTime => {
  const now = (): number => Number(hrtime.bigint()) / 1e6;
  return { now, start: `about ${Math.round((Date.now() - now()) / roughMs)}` };
};

/** Returns the path of the bucket file for this machine and user. */
export const bucketFilePath = (
  environment: Readonly<Record<string, string | undefined>>,
  home: string = homedir(),
): string => {
  const cache = environment.XDG_CACHE_HOME;
  const folder = cache && isAbsolute(cache) ? cache : join(home, ".cache");
  return join(folder, "pulumi-conversation", "buckets.sqlite");
};

/** SQLite's number of a failure; the higher bits contain the extended code. */
const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

const prepare = (file: DatabaseSync): void => {
  const pragma = (name: string): unknown => file.prepare(`PRAGMA ${name}`).get()?.[name];
  // Changing the mode needs exclusive access to the file, so it is done only once.
  if (pragma("journal_mode") !== "wal") file.exec("PRAGMA journal_mode = WAL");
  file.exec("PRAGMA synchronous = OFF");
  if (pragma("user_version") !== layout) {
    throw new Error("another release wrote the file");
  }
  file.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, start TEXT NOT NULL,
       state TEXT NOT NULL, used_at REAL NOT NULL) STRICT, WITHOUT ROWID`,
  );
};

/** The file itself, and those that SQLite keeps beside it. */
const ends = ["", "-wal", "-shm", "-journal"];

/** Opens the file, readable by its user only, and creates it if it is missing. */
const openedFile = async (path: string): Promise<DatabaseSync> => {
  const { DatabaseSync } = await import("node:sqlite");
  makeOwnFolder(dirname(path));
  // Opening a file that somebody else created could take forever.
  for (const end of ends) assertOwnFile(path + end);
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: busyMs });
  try {
    prepare(file);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
};

/** A damaged file is deleted: at worst, some calls are refused. */
const soundFile = async (path: string): Promise<DatabaseSync> => {
  try {
    return await openedFile(path);
  } catch (error) {
    if (!damaged.has(codeOf(error))) throw error;
    for (const end of ends) rmSync(path + end, { force: true });
    return openedFile(path);
  }
};

/** Processes that start together and create the file block each other for a moment. */
const fileSoon = async (path: string): Promise<DatabaseSync> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await soundFile(path);
    } catch (error) {
      if (!inUse.has(codeOf(error)) || attempt === mostAttempts) throw error;
      await pause(attempt * 5 * (1 + Math.random()));
    }
  }
};

/** The buckets in an open file. Every method fails if the file does. */
class BucketFile {
  readonly #file: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #read: StatementSync;
  readonly #write: StatementSync;
  readonly #time: MachineTime;
  readonly #wall: () => number;

  constructor(file: DatabaseSync, { time = machineTime(), wall = Date.now }: FileBucketsOptions) {
    this.#file = file;
    this.#time = time;
    this.#wall = wall;
    this.#begin = file.prepare("BEGIN IMMEDIATE");
    this.#commit = file.prepare("COMMIT");
    this.#read = file.prepare(`SELECT start, state, used_at FROM ${table} WHERE key = ?`);
    this.#write = file.prepare(
      `INSERT OR REPLACE INTO ${table} (key, start, state, used_at) VALUES (?, ?, ?, ?)`,
    );
    file.prepare(`DELETE FROM ${table} WHERE used_at < ?`).run(wall() - unusedMs);
  }

  change<R>(key: string, change: StoreChange<R>): R {
    this.#begin.run();
    try {
      const now = this.#time.now();
      const before = this.#keptFor(key, now);
      const { state, result } = change(before, now, 1);
      if (state && state !== before) {
        this.#write.run(key, this.#time.start, JSON.stringify(state), this.#wall());
      }
      this.#commit.run();
      return result;
    } catch (error) {
      if (this.#file.isTransaction) this.#file.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  #keptFor(key: string, now: number): Kept | undefined {
    const row = this.#read.get(key);
    const kept = keptOf(row?.state);
    if (!row || !kept || row.start === this.#time.start) return kept;
    // The machine was restarted, and so was its clock, or the wall clock was set: only the wall clock
    // shows how much time has passed.
    return { ...kept, at: now - Math.max(0, this.#wall() - Number(row.used_at)) };
  }
}

/**
 * Creates a store of buckets in a small SQLite file that all of this user's processes on this
 * machine share. Opens the file on first use.
 *
 * Rejects if the file cannot be used: see `withLocalBuckets`.
 */
export const fileBuckets = (options: FileBucketsOptions): BucketStore => {
  let file: Promise<BucketFile> | undefined;
  const ended = async (opened: Promise<BucketFile> | undefined): Promise<void> => {
    if (file === opened) file = undefined;
    await opened?.then((one) => one.close()).catch(() => {});
  };
  return {
    change: async (key, change) => {
      file ??= fileSoon(options.path).then((opened) => new BucketFile(opened, options));
      const used = file;
      try {
        return (await used).change(key, change);
      } catch (error) {
        void ended(used);
        throw error;
      }
    },
    close: () => ended(file),
  };
};

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

const sha = createHash("sha1").update(script).digest("hex");

/** Redis forgets its scripts when it is restarted or flushed. */
const isScriptForgotten = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("NOSCRIPT");

/**
 * Maximum attempts against faster processes; every lost one means that another process succeeded.
 */
const mostSwaps = 100;

interface Seen {
  readonly done: boolean;
  readonly now: number;
  readonly text: string;
}

const seenIn = (answer: unknown): Seen => {
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
  const swap = async (key: string, before: string, after: string): Promise<Seen> => {
    client ??= connect(url);
    const redis = await client;
    const values = [prefix + key, before, after];
    try {
      return seenIn(await redis.evalsha(sha, 1, ...values));
    } catch (error) {
      if (!isScriptForgotten(error)) throw error;
      return seenIn(await redis.eval(script, 1, ...values));
    }
  };
  return {
    change: async (key, change) => {
      let seen = await swap(key, "", "");
      for (let attempt = 0; attempt < mostSwaps; attempt += 1) {
        const before = keptOf(seen.text);
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
