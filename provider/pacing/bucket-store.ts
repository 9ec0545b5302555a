import { isObject } from "../kernel/json.js";

/** What is kept under a key: plain JSON with the store's time at which it held. */
export interface Kept {
  /** Milliseconds. */
  readonly at: number;
}

/** What a change gives: what is to be kept (the very same value: nothing is written), and a result. */
export interface Changed<R> {
  readonly state: Kept | undefined;
  readonly result: R;
}

/**
 * @param state what is kept; undefined: nothing yet
 * @param now the store's own time in milliseconds
 * @param share part of the rate that this process may use while others cannot be seen: above 0, at most 1
 */
export type StoreChange<R> = (state: Kept | undefined, now: number, share: number) => Changed<R>;

/**
 * Where buckets are kept. A change is one step that no other process comes between; it may be called
 * again where another process was faster, so it must do nothing but calculate. Nothing is reserved
 * ahead, so a process that dies takes nothing with it.
 *
 * Rejects only where the user has to mend something; a shared store that cannot be reached is replaced
 * by a local one.
 */
export interface BucketStore {
  change<R>(key: string, change: StoreChange<R>): R | Promise<R>;
  close(): Promise<void>;
}

/** Reads the text of a store; undefined where it is not what a store writes. */
export const keptOf = (text: unknown): Kept | undefined => {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const at = isObject(value) ? value.at : undefined;
    // 1e999 is read as no number.
    return isObject(value) && typeof at === "number" && Number.isFinite(at)
      ? { ...value, at }
      : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Buckets of this process only.
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
