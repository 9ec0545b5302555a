import type { RedisClient } from "../../../provider/pacing/redis-buckets.js";

/** As much of Redis as the script of the buckets needs: compare and swap with its own time. */
export class FakeRedis {
  readonly kept = new Map<string, string>();
  readonly sent: string[] = [];
  readonly #now: () => number;
  readonly #answer: unknown;
  #isKnown = false;

  /** @param answer given instead of what the script would */
  constructor(now: () => number, answer?: unknown) {
    this.#now = now;
    this.#answer = answer;
  }

  readonly connect = async (): Promise<RedisClient> => ({
    evalsha: async (_sha, _keys, key = "", before = "", after = "") => {
      this.sent.push("evalsha");
      if (!this.#isKnown) throw new Error("NOSCRIPT No matching script.");
      return this.#run(key, before, after);
    },
    eval: async (_script, _keys, key = "", before = "", after = "") => {
      this.sent.push("eval");
      this.#isKnown = true;
      return this.#run(key, before, after);
    },
    disconnect: () => void this.sent.push("disconnect"),
  });

  /** As after FLUSHALL, or a restart. */
  forget(): void {
    this.kept.clear();
    this.#isKnown = false;
  }

  #run(key: string, before: string, after: string): unknown {
    if (this.#answer !== undefined) return this.#answer;
    const kept = this.kept.get(key) ?? "";
    const done = after !== "" && kept === before;
    if (done) this.kept.set(key, after);
    return [done ? "1" : "0", this.#now().toFixed(3), done ? after : kept];
  }
}
