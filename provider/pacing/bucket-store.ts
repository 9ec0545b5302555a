import { isConversationError } from "../kernel/errors.js";
import { isObject, jsonIn } from "../kernel/json.js";

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
 */
export interface BucketStore {
  /** Changes the value stored under a key. A failure ends the calls that wait. */
  change<R>(key: string, change: StoreChange<R>): R | Promise<R>;
  /** Releases what the store holds open. Never fails. */
  close(): Promise<void>;
}

/** Parses text from a store; undefined if it is not in the store's format. */
export const parseKept = (text: unknown): Kept | undefined => {
  const value = typeof text === "string" ? jsonIn(text) : undefined;
  if (!isObject(value) || typeof value.at !== "number") return undefined;
  // 1e999 is read as Infinity.
  return Number.isFinite(value.at) ? { ...value, at: value.at } : undefined;
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
 * reached. Rejects only with a ConversationError, for failures that a person must fix.
 */
export const withLocalBuckets = (shared: BucketStore, options: FallbackOptions): BucketStore => {
  const { local, share, now, againMs, onLost } = options;
  let againAt = Number.NEGATIVE_INFINITY;
  let isReported = false;
  return {
    change: async (key, change) => {
      try {
        if (now() >= againAt) return await shared.change(key, change);
      } catch (error) {
        if (isConversationError(error)) throw error;
        againAt = now() + againMs;
        if (!isReported) onLost(error);
        isReported = true;
      }
      return local.change(key, (kept, time) => change(kept, time, share));
    },
    close: async () => {
      await Promise.all([shared.close(), local.close()]);
    },
  };
};
