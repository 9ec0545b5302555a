import { createHash } from "node:crypto";
import { type BucketState, lessonOf, lessonText, type Taken } from "./buckets.js";
import { connectRedis, type RedisClient } from "./redis-client.js";
import { holdScript, learnScript, takeScript } from "./redis-scripts.js";

const prefix = "conversation:";

const shaOf = (script: string): string => createHash("sha1").update(script).digest("hex");

/** Redis forgets its scripts when it is restarted or flushed. */
const isForgotten = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("NOSCRIPT");

const takenOf = (answer: unknown): Taken => {
  const [wait, tokens, text, trial] = Array.isArray(answer) ? answer : [];
  const [waitMs, before] = [Number(wait), Number(tokens)];
  if (!Number.isFinite(waitMs) || !Number.isFinite(before)) {
    throw new Error("Redis gave an answer that cannot be read");
  }
  const lesson = lessonOf(text);
  return {
    waitMs,
    tokens: before,
    ...(trial === "1" ? { trial: true } : {}),
    ...(lesson ? { lesson } : {}),
  };
};

/**
 * Buckets that processes and machines share in Redis. Connects on first use.
 *
 * Rejects while Redis cannot be reached: see `withLocalBuckets`.
 */
export const redisBuckets = (
  url: string,
  connect: (url: string) => Promise<RedisClient> = (address) => connectRedis(address),
): BucketState => {
  let client: Promise<RedisClient> | undefined;
  const run = async (script: string, key: string, ...values: (string | number)[]) => {
    client ??= connect(url);
    const redis = await client;
    const texts = [prefix + key, ...values.map(String)];
    try {
      return await redis.evalsha(shaOf(script), 1, ...texts);
    } catch (error) {
      if (!isForgotten(error)) throw error;
      return redis.eval(script, 1, ...texts);
    }
  };
  return {
    take: async (key, { periodMs, capacity, marginMs, trialBy = "" }) =>
      takenOf(await run(takeScript, key, periodMs, capacity, marginMs, trialBy)),
    hold: async (key, { periodMs, refund, waitMs }) => {
      await run(holdScript, key, periodMs, refund ? periodMs : 0, waitMs);
    },
    learn: async (key, lesson) => {
      await run(learnScript, key, lessonText(lesson));
    },
    close: async () => {
      const opened = client;
      client = undefined;
      await opened?.then((redis) => redis.disconnect()).catch(() => {});
    },
  };
};
