import type { RedisClient } from "../../../provider/pacing/redis-buckets.js";

/** As much of Redis as the script of the buckets needs: compare and swap with its own time. */
export class FakeRedis {
  readonly kept = new Map<string, string>();

  /** @param answer given instead of what the script would */
  constructor(
    readonly now: () => number,
    readonly answer?: unknown,
  ) {}

  readonly connect = async (): Promise<RedisClient> => ({
    eval: async (_script, _keys, key = "", before = "", after = "") => {
      if (this.answer !== undefined) return this.answer;
      const kept = this.kept.get(key) ?? "";
      const done = after !== "" && kept === before;
      if (done) this.kept.set(key, after);
      return [done ? "1" : "0", this.now().toFixed(3), done ? after : kept];
    },
    disconnect: () => undefined,
  });
}
