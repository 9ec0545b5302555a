import { AsyncResource } from "node:async_hooks";
import type { Clock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import {
  type Endpoint,
  endpointName,
  longestRetryAfterMs,
  type Refused,
  retryAfterMs,
  unbelievedRetryAfter,
  type Wait,
} from "../service/pace.js";
import type { HttpResponse } from "../service/transport.js";
import {
  type Bucket,
  bucketAt,
  countArrival,
  emptyBucket,
  fullBucket,
  type RateLimit,
  readBucket,
  takeToken,
} from "./bucket.js";
import type { BucketStore } from "./bucket-store.js";

export interface QueueOptions {
  readonly clock: Clock;
  readonly store: BucketStore;
  /** Name of the bucket in the store. */
  readonly key: string;
  /** Returns the limit that applies now. */
  readonly limit: () => RateLimit;
  /** Called after each call: whether the service accepted it or refused it. */
  readonly onAnswer?: ((answer: "accepted" | "refused") => void) | undefined;
  /** Time for one call to succeed after its first refusal, in milliseconds. Default: an hour. */
  readonly totalMs?: number | undefined;
  /** Shorter waits are not announced, in milliseconds. Default: 0, every wait is announced. */
  readonly announcedMs?: number | undefined;
  /**
   * A call has to wait; called again every 10 seconds with the time left, and sooner if it has
   * become longer, in the caller's asynchronous context.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** One call, in the queue or in progress. */
interface Call {
  /** Order of arrival; a refused call keeps its place. */
  readonly number: number;
  readonly signal: AbortSignal | undefined;
  /** Runs in the asynchronous context of the caller, and so knows which call waits. */
  readonly onWait: ((wait: Wait) => void) | undefined;
  go: () => void;
  fail: (error: unknown) => void;
  refusals: number;
  refusedAt: number;
  /** Refusals on the endpoint before this call was sent. */
  sentAfter: number;
  /**
   * The wait that the service requests, if it is longer than we accept, and the time of its first
   * request.
   */
  asks?: { readonly text: string; readonly since: number };
  /** When its wait was last announced, and for when its turn, in milliseconds. */
  announced?: { readonly at: number; readonly turnAt: number };
}

const hourMs = 60 * 60_000;

/** First pause after a refusal; it doubles up to 16 s (specification §8.1 rule 6). */
const firstPauseMs = 1_000;
const mostDoublings = 4;

/** A wait is announced, and the head of the queue checks again, at least this often. */
const againMs = 10_000;

/** A timer may fire, and a wait may be longer than announced, by this much, in milliseconds. */
const inexactMs = 1_000;

/** Below the resolution of timers, which fire at whole milliseconds. */
const closeEnoughMs = 0.05;

/**
 * The calls to one endpoint, in order of arrival. The first one waits for its token; a refused call
 * returns to its place. Calls are sent outside the queue, so several may be in progress.
 */
export class EndpointQueue {
  readonly #endpoint: Endpoint;
  readonly #options: QueueOptions;
  /** The next one first. */
  readonly #waiting: Call[] = [];
  #arrivals = 0;
  #isServing = false;
  #sleep: AbortController | undefined;
  /** Counts what may change the next turn: an answer, or a caller that has left. */
  #changes = 0;
  #underWay = 0;
  /**
   * Maximum number of calls in progress. Only an answer shows whether a full bucket is as full as
   * assumed, so one call is sent at first, and one more with every call that succeeds.
   */
  #window: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** The end of the pause after a refusal. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  /** Refusals since a call was accepted; calls that were in progress together count once. */
  #refusalsInRow = 0;
  /** The shortest time of a call, except the first one, which fetches a token and connects. */
  #leastMs = 0;
  #isFirst = true;
  /** The bucket after the last change by this process, at this process's time. */
  #seen: Bucket | undefined;

  constructor(endpoint: Endpoint, options: QueueOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#window = this.#isLimited() ? 1 : Number.POSITIVE_INFINITY;
  }

  /** Sends a call when its turn comes, again as long as it is refused. */
  async run(attempt: () => Promise<HttpResponse>, signal?: AbortSignal): Promise<HttpResponse> {
    const { onWait } = this.#options;
    const call: Call = {
      number: this.#arrivals++,
      signal,
      onWait: onWait && AsyncResource.bind(onWait),
      go: () => undefined,
      fail: () => undefined,
      refusals: 0,
      refusedAt: Number.POSITIVE_INFINITY,
      sentAfter: 0,
    };
    for (;;) {
      await this.#turn(call);
      const response = await this.#send(call, attempt);
      if (response.status !== 429) return response;
      call.refusals += 1;
      if (call.refusals === 1) call.refusedAt = this.#options.clock.now();
      this.#assertBelieved(call, response.headers);
    }
  }

  #turn(call: Call): Promise<void> {
    const { signal } = call;
    const cancel = (): void => {
      this.#remove(call, this.#cancelled(call));
      this.#change();
    };
    const turn = new Promise<void>((resolve, reject) => {
      call.go = resolve;
      call.fail = reject;
    });
    signal?.addEventListener("abort", cancel, { once: true });
    const place = this.#waiting.findLastIndex(({ number }) => number < call.number) + 1;
    this.#waiting.splice(place, 0, call);
    if (!this.#isServing) void this.#serve();
    return signal ? turn.finally(() => signal.removeEventListener("abort", cancel)) : turn;
  }

  #remove(call: Call, error: unknown): void {
    const place = this.#waiting.indexOf(call);
    if (place >= 0) this.#waiting.splice(place, 1);
    call.fail(error);
  }

  #change(): void {
    this.#changes += 1;
    // With an explicit reason, no error object is created.
    this.#sleep?.abort("changed");
  }

  /** Lets the first call go when its token is there, repeatedly, until the queue is empty. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      while (this.#first()) {
        const changes = this.#changes;
        const heldMs = this.#waitForPauseOrAnswer();
        // Calls that may go at once are sent in parallel.
        const needsToken = heldMs <= 0 && this.#isLimited();
        const waitMs = needsToken ? await this.#takeToken() : heldMs;
        if (waitMs <= 0) this.#admit();
        else if (changes === this.#changes) await this.#pause(waitMs);
      }
    } catch (error) {
      for (const call of this.#waiting.splice(0)) call.fail(error);
    } finally {
      this.#isServing = false;
    }
  }

  /** The next call; calls whose time is over are removed. */
  #first(): Call | undefined {
    const { clock, totalMs = hourMs } = this.#options;
    for (;;) {
      const first = this.#waiting[0];
      if (first?.signal?.aborted) this.#remove(first, this.#cancelled(first));
      else if (first && clock.now() >= first.refusedAt + totalMs)
        this.#remove(first, this.#stillRefused(first));
      else return first;
    }
  }

  /** A call that hangs does not hold up the endpoint: after a period, the next one is due anyway. */
  #waitForPauseOrAnswer(): number {
    const { clock, limit } = this.#options;
    const heldMs = this.#heldUntil - clock.now();
    if (this.#underWay < this.#window) return heldMs;
    const periodMs = limit().periodMs || Number.POSITIVE_INFINITY;
    return Math.max(heldMs, this.#sentAt + periodMs - clock.now());
  }

  #admit(): void {
    // The one that was first may have left.
    const call = this.#waiting.shift();
    if (!call) return;
    call.sentAfter = this.#refusals;
    this.#underWay += 1;
    this.#sentAt = this.#options.clock.now();
    call.go();
  }

  async #pause(ms: number): Promise<void> {
    // An expected answer may end the wait at any time.
    if (this.#underWay < this.#window) this.#announce(ms);
    const sleep = new AbortController();
    this.#sleep = sleep;
    const most = Math.min(Math.ceil(ms), againMs);
    const passed = Number.isFinite(ms)
      ? this.#options.clock.sleep(most, sleep.signal)
      : new Promise((_, reject) => sleep.signal.addEventListener("abort", reject));
    await passed.catch(() => undefined);
    this.#sleep = undefined;
  }

  async #send({ sentAfter }: Call, attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { clock, onAnswer } = this.#options;
    const sentAt = clock.now();
    try {
      const response = await attempt();
      // An answer to a call that was sent before the latest refusal says nothing new.
      const isNew = sentAfter === this.#refusals;
      if (response.status !== 429) await this.#learnAccepted(clock.now() - sentAt, isNew);
      else if (isNew) await this.#learnRefused(retryAfterMs(response.headers, clock.wall()));
      if (isNew) onAnswer?.(response.status === 429 ? "refused" : "accepted");
      return response;
    } finally {
      this.#underWay -= 1;
      this.#change();
    }
  }

  /**
   * The service's request counts at once if it makes one. If that was not enough, the pauses of the
   * specification apply, or a period if it is longer.
   */
  async #learnRefused(askedMs: number | undefined): Promise<void> {
    const { clock, limit } = this.#options;
    this.#refusals += 1;
    this.#window = 1;
    const isFirst = this.#refusalsInRow === 0;
    const doublings = Math.min(mostDoublings, this.#refusalsInRow);
    this.#refusalsInRow += 1;
    const ownMs = Math.max(limit().periodMs, firstPauseMs * 2 ** doublings);
    const pauseMs = isFirst ? (askedMs ?? ownMs) : Math.max(askedMs ?? 0, ownMs);
    this.#heldUntil = clock.now() + pauseMs;
    if (this.#isLimited())
      await this.#changeBucket((bucket, current) => emptyBucket(bucket, current, pauseMs));
  }

  async #learnAccepted(tookMs: number, isNew: boolean): Promise<void> {
    if (isNew) {
      this.#window += 1;
      this.#refusalsInRow = 0;
    }
    if (!this.#isLimited()) return;
    const { clock, limit: limitNow } = this.#options;
    const limit = limitNow();
    const leastMs = this.#leastMs;
    if (!this.#isFirst) this.#leastMs = Math.min(leastMs || tookMs, tookMs);
    this.#isFirst = false;
    // Only a bucket that is nearly full is affected; otherwise, the store is not called.
    const seen = this.#seen && bucketAt(this.#seen, clock.now(), limit);
    if (seen && countArrival(seen, limit, leastMs).dueMs === seen.dueMs) return;
    await this.#changeBucket((bucket, current) => countArrival(bucket, current, leastMs));
  }

  #isLimited(): boolean {
    return this.#options.limit().periodMs > 0;
  }

  /** Returns 0 if the token was there and is taken, otherwise the time until it is. */
  async #takeToken(): Promise<number> {
    const { at, dueMs } = await this.#changeBucket((bucket, limit) =>
      bucket.dueMs <= closeEnoughMs ? takeToken(bucket, limit) : bucket,
    );
    // That a bucket is full again is an assumption, too.
    if (dueMs <= fullBucket(at, this.#options.limit()).dueMs) this.#window = 1;
    return dueMs <= closeEnoughMs ? 0 : dueMs;
  }

  /** Changes the bucket, and returns what it was before. */
  async #changeBucket(change: (bucket: Bucket, limit: RateLimit) => Bucket): Promise<Bucket> {
    const { clock, store, key, limit: limitNow } = this.#options;
    const { before, after } = await store.change(key, (kept, now, share) => {
      const { periodMs, burst } = limitNow();
      const limit = { periodMs: periodMs / share, burst };
      const known = readBucket(kept) ?? this.#newBucket(now, limit);
      const { at, dueMs } = bucketAt(known, now, limit);
      const before = { at, dueMs: Math.min(dueMs, longestRetryAfterMs + limit.periodMs) };
      const after = change(before, limit);
      // Most questions change nothing. A clock that went back is stored: its time would not count.
      const isSame = kept !== undefined && after.dueMs === before.dueMs && kept.at <= now;
      return { state: isSame ? kept : after, result: { before, after } };
    });
    this.#seen = { at: clock.now(), dueMs: after.dueMs };
    return before;
  }

  /** A bucket that nobody has used counts as full; a store that lost it in mid-run lost an empty one. */
  #newBucket(now: number, limit: RateLimit): Bucket {
    return this.#seen ? { at: now, dueMs: limit.periodMs } : fullBucket(now, limit);
  }

  /**
   * Fails if the service requests an unacceptable wait again, after the longest acceptable one.
   *
   * @throws ConversationError `THROTTLED`
   */
  #assertBelieved(call: Call, headers: HttpResponse["headers"]): void {
    const { clock } = this.#options;
    const text = unbelievedRetryAfter(headers, clock.wall());
    if (text === undefined) return;
    const since = call.asks?.since ?? clock.now();
    call.asks = { text, since };
    if (clock.now() - since < longestRetryAfterMs - inexactMs) return;
    const failure = this.#throttled(
      `, and the service asks for a very long wait (Retry-After: ${text}). The client retried for ${longestRetryAfterMs / 1000} s, the longest that it waits. Nothing was changed. Try again after the Retry-After time, or ask the service's operator about this value.`,
    );
    // The calls behind it would fail in the same way, one after the other.
    for (const waiting of this.#waiting.splice(0)) waiting.fail(failure);
    throw failure;
  }

  #stillRefused({ refusals }: Call): ConversationError {
    return this.#throttled(
      `; the time allowed for the call ran out after ${refusals} ${refusals === 1 ? "refusal" : "refusals"}. Nothing was changed. All of the tenant's callers share the limit: try again when there is less traffic, or use a higher plan.`,
    );
  }

  #throttled(how: string): ConversationError {
    const text = `${endpointName(this.#endpoint)} still exceeds its rate limit${how}`;
    return new ConversationError("THROTTLED", text, { ...this.#endpoint, status: 429 });
  }

  #cancelled({ refusals }: Call): ConversationError {
    const text = `${endpointName(this.#endpoint)} was canceled while it waited for its turn. Nothing was ${refusals > 0 ? "changed" : "sent"}.`;
    return new ConversationError("CANCELLED", text, this.#endpoint);
  }

  /** Reports to every call that still has a long wait: at intervals, and at once if it grew. */
  #announce(firstMs: number): void {
    const { clock, limit, announcedMs = 0 } = this.#options;
    const { periodMs } = limit();
    const now = clock.now();
    const refused = this.#refused(now);
    for (const [ahead, call] of this.#waiting.entries()) {
      const waitMs = firstMs + ahead * periodMs;
      if (!call.onWait || waitMs <= announcedMs) continue;
      const turnAt = now + waitMs;
      const last = call.announced;
      if (last && now - last.at < againMs && turnAt <= last.turnAt + inexactMs) continue;
      call.announced = { at: now, turnAt };
      const queued = this.#waiting.length;
      call.onWait({ ...this.#endpoint, queued, ahead, waitMs, periodMs, ...refused });
    }
  }

  /** The state of the first call if it was refused. */
  #refused(now: number): { readonly refused?: Refused } {
    const first = this.#waiting[0];
    if (!first || first.refusals === 0) return {};
    const { refusedAt, asks } = first;
    const forMs = now - refusedAt;
    const giveUpAt = refusedAt + (this.#options.totalMs ?? hourMs);
    if (!asks) return { refused: { forMs, leftMs: giveUpAt - now } };
    const leftMs = Math.max(0, Math.min(giveUpAt, asks.since + longestRetryAfterMs) - now);
    return { refused: { forMs, leftMs, asks: asks.text } };
  }
}
