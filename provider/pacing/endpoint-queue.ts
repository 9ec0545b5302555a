import { AsyncResource } from "node:async_hooks";
import type { Clock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { retryAfterMs, type Wait } from "../service/pace.js";
import { type Endpoint, endpointName, type HttpResponse } from "../service/transport.js";
import {
  type Bucket,
  bucketAt,
  emptyBucket,
  fullBucket,
  isFull,
  type RateLimit,
  takeToken,
} from "./bucket.js";
import type { BucketStore } from "./bucket-store.js";

interface QueueOptions {
  readonly clock: Clock;
  readonly store: BucketStore;
  /** Name of the bucket in the store. */
  readonly key: string;
  /** The service refused calls repeatedly, with few accepted ones between. */
  readonly onRefusals?: (() => void) | undefined;
  /**
   * A call has to wait for more than 2 seconds; called again every 10 seconds with the time left,
   * in the caller's asynchronous context. Must not fail.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** One call, in the queue or in progress. */
interface Call {
  /** Order of arrival; a refused call keeps its place. */
  readonly number: number;
  /** Runs in the asynchronous context of the caller, and so knows which call waits. */
  readonly onWait: ((wait: Wait) => void) | undefined;
  /** Ends its pause. */
  wake: () => void;
  /** Time of its first refusal. */
  refusedAt?: number;
  /** When its wait was last announced. */
  announcedAt: number;
}

/** Time for a call to succeed after its first refusal. */
const longestRefusedMs = 60 * 60_000;

/** First pause after a refusal; it doubles up to 16 s (specification §8.1 rule 6). */
const firstPauseMs = 1_000;
const mostDoublings = 4;

/** Refusals that were repeated, and the calls accepted in a row after which they are forgotten. */
const repeatedRefusals = 3;
const settledAfter = 4;

/** A wait is announced, and the first call asks again, at least this often. */
const againMs = 10_000;

/** Shorter waits are not worth a message, in milliseconds. */
const shortMs = 2_000;

/**
 * The calls to one endpoint, in order of arrival. Each one waits until it is the first, and then
 * for its token; a refused call returns to its place. Several may be in progress.
 */
export class EndpointQueue {
  readonly #options: QueueOptions;
  /** The next one first. */
  readonly #waiting: Call[] = [];
  #arrivals = 0;
  #underWay = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /**
   * Maximum number of calls in progress. Only an answer shows whether a full bucket is as full as
   * assumed, so one call is sent at first, and one more with every call that succeeds.
   */
  #window: number;
  /** The latest refusal, and the end of the pause after it. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** Refusals since a call was accepted; calls that were in progress together count once. */
  #refusalsInRow = 0;
  #recentRefusals = 0;
  /** The first call also fetches a token and connects, and so arrives late. */
  #isFirst = true;

  /** @param limit what applies now; may be lowered later */
  constructor(
    readonly endpoint: Endpoint,
    public limit: RateLimit,
    options: QueueOptions,
  ) {
    this.#options = options;
    this.#window = limit.periodMs > 0 ? 1 : Number.POSITIVE_INFINITY;
  }

  /**
   * Sends a call when its turn comes, again as long as it is refused.
   *
   * @throws ConversationError `THROTTLED` an hour after its first refusal, `CANCELLED` if the signal
   * aborts the wait
   */
  async run(attempt: () => Promise<HttpResponse>, signal?: AbortSignal): Promise<HttpResponse> {
    const { clock, onWait } = this.#options;
    const call: Call = {
      number: this.#arrivals++,
      onWait: onWait && AsyncResource.bind(onWait),
      wake: () => undefined,
      announcedAt: Number.NEGATIVE_INFINITY,
    };
    for (;;) {
      await this.#turn(call, signal);
      const response = await this.#send(attempt);
      if (response.status !== 429) return response;
      call.refusedAt ??= clock.now();
      if (clock.now() - call.refusedAt >= longestRefusedMs) throw this.#stillRefused();
    }
  }

  /** Waits until the call is the first one and has its token. */
  async #turn(call: Call, signal: AbortSignal | undefined): Promise<void> {
    const place = this.#waiting.findLastIndex(({ number }) => number < call.number) + 1;
    this.#waiting.splice(place, 0, call);
    const wake = (): void => call.wake();
    signal?.addEventListener("abort", wake);
    try {
      for (;;) {
        if (signal?.aborted) throw this.#cancelled(call);
        if (this.#waiting[0] !== call) {
          await this.#pause(call);
          continue;
        }
        const now = this.#options.clock.now();
        const answerMs = this.#answerDueAt() - now;
        const heldMs = Math.max(answerMs, this.#heldUntil - now);
        const waitMs = heldMs > 0 ? heldMs : await this.#takeToken();
        if (waitMs <= 0) break;
        // An expected answer may end the wait at any time.
        if (answerMs <= 0) this.#announce(waitMs);
        // The token was asked for meanwhile.
        if (!signal?.aborted) await this.#pause(call, waitMs);
      }
      this.#underWay += 1;
      this.#sentAt = this.#options.clock.now();
    } finally {
      signal?.removeEventListener("abort", wake);
      this.#waiting.splice(this.#waiting.indexOf(call), 1);
      this.#waiting[0]?.wake();
    }
  }

  /** A call that hangs does not hold up the endpoint: after a period, the next one is due anyway. */
  #answerDueAt(): number {
    if (this.#underWay < this.#window) return Number.NEGATIVE_INFINITY;
    return this.#sentAt + (this.limit.periodMs || Number.POSITIVE_INFINITY);
  }

  /** Waits until the call is woken, or the time is over, if it ever is. */
  #pause(call: Call, ms = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((over) => {
      const pause = new AbortController();
      call.wake = () => {
        // With an explicit reason, no error object is created.
        pause.abort("woken");
        over();
      };
      if (ms === Number.POSITIVE_INFINITY) return;
      this.#options.clock.sleep(Math.min(Math.ceil(ms), againMs), pause.signal).then(over, over);
    });
  }

  async #send(attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { clock } = this.#options;
    const sentAt = clock.now();
    try {
      const response = await attempt();
      // An answer to a call that was sent before the latest refusal says nothing new.
      if (sentAt > this.#refusedAt) await this.#learn(response, clock.now() - sentAt);
      return response;
    } finally {
      this.#underWay -= 1;
      this.#waiting[0]?.wake();
    }
  }

  async #learn({ status, headers }: HttpResponse, tookMs: number): Promise<void> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (status === 429) return this.#learnRefused(headers);
    this.#refusalsInRow = 0;
    this.#window += 1;
    // A full bucket was not refilled until the first call had arrived.
    if (isFirst && this.limit.periodMs > 0)
      await this.#changeBucket(({ at, dueMs }) => ({ at, dueMs: dueMs + tookMs }));
  }

  async #learnRefused(headers: HttpResponse["headers"]): Promise<void> {
    const { clock, onRefusals } = this.#options;
    const doublings = Math.min(mostDoublings, this.#refusalsInRow);
    const pauseMs = Math.max(
      retryAfterMs(headers, clock.wall()) ?? 0,
      firstPauseMs * 2 ** doublings,
    );
    this.#recentRefusals = this.#window > settledAfter ? 1 : this.#recentRefusals + 1;
    this.#refusedAt = clock.now();
    this.#heldUntil = this.#refusedAt + pauseMs;
    this.#refusalsInRow += 1;
    this.#window = 1;
    if (this.#recentRefusals === repeatedRefusals) {
      this.#recentRefusals = 0;
      onRefusals?.();
    }
    await this.#changeBucket((bucket) => emptyBucket(bucket, this.limit));
  }

  /** Returns 0 or less if the token was there and is taken, otherwise the time until it is. */
  async #takeToken(): Promise<number> {
    let dueMs = 0;
    await this.#changeBucket((bucket) => {
      dueMs = bucket.dueMs;
      // That a bucket is full again is an assumption, too.
      if (this.limit.periodMs > 0 && isFull(bucket, this.limit)) this.#window = 1;
      return dueMs > 0 ? bucket : takeToken(bucket, this.limit);
    });
    return dueMs;
  }

  /** A bucket that nobody has used counts as full; a store that lost it in mid-run lost an empty one. */
  #changeBucket(change: (bucket: Bucket) => Bucket): Promise<void> {
    const { store, key } = this.#options;
    return store.change(key, (kept, now) => {
      const unknown = this.#isFirst
        ? fullBucket(now, this.limit)
        : { at: now, dueMs: this.limit.periodMs };
      return change(bucketAt(kept ?? unknown, now, this.limit));
    });
  }

  /** Reports to every call that has a long wait, at intervals. */
  #announce(firstMs: number): void {
    const { clock, onWait } = this.#options;
    if (!onWait) return;
    const now = clock.now();
    const queued = this.#waiting.length;
    for (const [ahead, call] of this.#waiting.entries()) {
      const waitMs = firstMs + ahead * this.limit.periodMs;
      if (waitMs <= shortMs || now < call.announcedAt + againMs) continue;
      call.announcedAt = now;
      call.onWait?.({ ...this.endpoint, queued, waitMs });
    }
  }

  #stillRefused(): ConversationError {
    const text = `${endpointName(this.endpoint)} still exceeds its rate limit; the time allowed for the call ran out. Nothing was changed. All of the tenant's callers share the limit: try again when there is less traffic, or use a higher plan.`;
    return new ConversationError("THROTTLED", text, { ...this.endpoint, status: 429 });
  }

  #cancelled({ refusedAt }: Call): ConversationError {
    const text = `${endpointName(this.endpoint)} was canceled while it waited for its turn. Nothing was ${refusedAt === undefined ? "sent" : "changed"}.`;
    return new ConversationError("CANCELLED", text, this.endpoint);
  }
}
