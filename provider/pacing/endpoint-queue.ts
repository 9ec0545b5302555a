import { AsyncResource } from "node:async_hooks";
import type { Clock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { type Endpoint, endpointName } from "../service/operations.js";
import {
  longestRetryAfterMs,
  type Pace,
  type Refused,
  retryAfterMs,
  unbelievedRetryAfter,
  type Wait,
} from "../service/pace.js";
import type { HttpResponse } from "../service/transport.js";

interface EndpointQueueOptions {
  readonly clock: Clock;
  /**
   * Maximum time for one call to succeed after its first refusal, in milliseconds. Default: one
   * hour.
   */
  readonly totalMs?: number | undefined;
  /** Shorter waits are not announced, in milliseconds. Default: 0, every wait is announced. */
  readonly announcedMs?: number;
  /**
   * A call has to wait; called again every 10 seconds with the time left, and sooner if it has
   * become longer, in the caller's asynchronous context.
   */
  readonly onWait?: WaitListener | undefined;
}

/** One call in the queue or in progress. */
interface Call {
  /** Order of arrival; a refused call keeps its place. */
  readonly number: number;
  readonly signal: AbortSignal | undefined;
  refusals: number;
  refusedAt: number;
  giveUpAt: number;
  /**
   * The wait that the service requests, if it is longer than we accept, and the time of its first
   * request.
   */
  asks?: { readonly text: string; readonly since: number };
}

/** A call in the queue. */
interface Waiting {
  readonly call: Call;
  readonly go: (admission: Admission) => void;
  readonly fail: (error: unknown) => void;
  /** Runs in the asynchronous context of the caller, and so knows which call waits. */
  readonly listener: WaitListener | undefined;
  /** When its wait was last announced, and for when its turn, in milliseconds. */
  announced?: { readonly at: number; readonly turnAt: number };
}

/** A timer may fire this much too early, in milliseconds. */
const inexactMs = 1_000;

/** Default maximum time for one call to succeed, in milliseconds. */
const hourMs = 60 * 60_000;

/** The head of the queue checks again at least this often, in milliseconds. */
const longestSleepMs = 10_000;

/** A wait that continues as announced is announced again after this time, in milliseconds. */
const againMs = 10_000;

/**
 * A delay beyond the announced wait by more than this is reported at once, in milliseconds: another
 * refusal came.
 */
const toleratedMs = 1_000;

/** Listens to one wait. */
type WaitListener = (wait: Wait) => void;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

const cancelled = (endpoint: Endpoint, { refusals }: Pick<Call, "refusals">): ConversationError =>
  new ConversationError(
    "CANCELLED",
    `${endpointName(endpoint)} was canceled while it waited for its turn. Nothing was ${refusals > 0 ? "changed" : "sent"}.`,
    endpoint,
  );

const stillRefused = (endpoint: Endpoint, refusals: number): ConversationError =>
  new ConversationError(
    "THROTTLED",
    `${endpointName(endpoint)} still exceeds its rate limit; the time allowed for the call ran out after ${refusals} ${refusals === 1 ? "refusal" : "refusals"}. Nothing was changed. All of the tenant's callers share the limit: try again when there is less traffic, or use a higher plan.`,
    { ...endpoint, status: 429 },
  );

const asksTooLong = (endpoint: Endpoint, asks: string): ConversationError =>
  new ConversationError(
    "THROTTLED",
    `${endpointName(endpoint)} still exceeds its rate limit, and the service asks for a very long wait (Retry-After: ${asks}). The client retried for ${longestRetryAfterMs / 1000} s, the longest that it waits. Nothing was changed. Try again after the Retry-After time, or ask the service's operator about this value.`,
    { ...endpoint, status: 429 },
  );

/**
 * The calls of one endpoint, in order of arrival; the first one waits until the limiter admits it.
 */
class EndpointQueue {
  readonly #endpoint: Endpoint;
  readonly #limiter: EndpointLimiter;
  readonly #options: EndpointQueueOptions;
  /** The next one first. */
  readonly #waiting: Waiting[] = [];
  #arrivals = 0;
  #isServing = false;
  #sleep: AbortController | undefined;
  /**
   * Number of answers so far: if it changes during a question to the limiter, the question is
   * repeated.
   */
  #answers = 0;

  constructor(endpoint: Endpoint, limiter: EndpointLimiter, options: EndpointQueueOptions) {
    this.#endpoint = endpoint;
    this.#limiter = limiter;
    this.#options = options;
  }

  async run(attempt: () => Promise<HttpResponse>, signal?: AbortSignal): Promise<HttpResponse> {
    const { clock, totalMs = hourMs } = this.#options;
    const number = this.#arrivals++;
    const never = Number.POSITIVE_INFINITY;
    const call: Call = { number, signal, refusals: 0, refusedAt: never, giveUpAt: never };
    for (;;) {
      const response = await this.#sent(await this.#turn(call), attempt);
      if (response.status !== 429) return response;
      call.refusals += 1;
      if (call.refusals === 1) {
        call.refusedAt = clock.now();
        call.giveUpAt = call.refusedAt + totalMs;
      }
      this.#assertBelieved(call, response.headers);
    }
  }

  /**
   * @throws ConversationError if the service requests an unacceptable wait again, after the longest
   * acceptable one
   */
  #assertBelieved(call: Call, headers: HttpResponse["headers"]): void {
    const { clock } = this.#options;
    const text = unbelievedRetryAfter(headers, clock.wall());
    if (text === undefined) return;
    const since = call.asks?.since ?? clock.now();
    call.asks = { text, since };
    if (clock.now() - since < longestRetryAfterMs - inexactMs) return;
    const failure = asksTooLong(this.#endpoint, text);
    // The calls behind it would fail in the same way, one after the other.
    for (const waiting of this.#waiting.splice(0)) waiting.fail(failure);
    throw failure;
  }

  #turn(call: Call): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const { onWait } = this.#options;
      const cancel = (): void => {
        this.#leave(waiting);
        waiting.fail(cancelled(this.#endpoint, call));
        this.#wake();
      };
      const waiting: Waiting = {
        call,
        go: (admission) => {
          signal?.removeEventListener("abort", cancel);
          resolve(admission);
        },
        fail: (error) => {
          signal?.removeEventListener("abort", cancel);
          reject(error);
        },
        listener: onWait && AsyncResource.bind(onWait),
      };
      signal?.addEventListener("abort", cancel, { once: true });
      const place = this.#waiting.findLastIndex((other) => other.call.number < call.number) + 1;
      this.#waiting.splice(place, 0, waiting);
      if (!this.#isServing) void this.#serve();
    });
  }

  /** Admits the first call when the limiter allows it, repeatedly, until the queue is empty. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      let slept: Slept | undefined;
      for (let first = this.#first(); first; first = this.#first()) {
        const answers = this.#answers;
        const asked = this.#limiter.ask(slept);
        // Calls that may go at once are sent in parallel.
        const turn = asked instanceof Promise ? await asked : asked;
        slept = undefined;
        if ("kind" in turn) this.#admit(turn);
        else if (answers === this.#answers) slept = await this.#pause(turn);
      }
    } catch (error) {
      for (const waiting of this.#waiting.splice(0)) waiting.fail(error);
    } finally {
      this.#isServing = false;
    }
  }

  /** The next call; calls whose time is over are removed. */
  #first(): Waiting | undefined {
    for (;;) {
      const first = this.#waiting[0];
      const failure = first && this.#endOf(first.call);
      if (!first || !failure) return first;
      this.#leave(first);
      first.fail(failure);
    }
  }

  #endOf(call: Call): ConversationError | undefined {
    if (call.signal?.aborted) return cancelled(this.#endpoint, call);
    const isOver = this.#options.clock.now() >= call.giveUpAt;
    return isOver ? stillRefused(this.#endpoint, call.refusals) : undefined;
  }

  #leave(waiting: Waiting): void {
    const place = this.#waiting.indexOf(waiting);
    if (place >= 0) this.#waiting.splice(place, 1);
  }

  /** Returns the delay that was slept in full; undefined if an answer came first. */
  async #pause(delay: Delay): Promise<Slept | undefined> {
    const { clock } = this.#options;
    const { waitMs, mayEndEarly, at } = delay;
    if (!mayEndEarly) this.#announce(delay);
    const sleep = new AbortController();
    this.#sleep = sleep;
    const ms = Math.min(Math.ceil(waitMs), longestSleepMs);
    try {
      await (Number.isFinite(waitMs) ? clock.sleep(ms, sleep.signal) : aborted(sleep.signal));
      return { ms, since: at };
    } catch {
      // Woken by an answer, or because a caller has left: the loop checks again.
      return undefined;
    } finally {
      this.#sleep = undefined;
    }
  }

  /** Reports to every call that still has a long wait: at intervals, and at once if it grew. */
  #announce({ waitMs: firstMs, periodMs }: Delay): void {
    const { clock, announcedMs = 0 } = this.#options;
    const now = clock.now();
    const queued = this.#waiting.length;
    const refused = this.#refused(now);
    for (const [ahead, waiting] of this.#waiting.entries()) {
      const { listener, announced: last } = waiting;
      const waitMs = firstMs + ahead * periodMs;
      if (!listener || waitMs <= announcedMs) continue;
      const turnAt = now + waitMs;
      if (last && now - last.at < againMs && turnAt <= last.turnAt + toleratedMs) continue;
      waiting.announced = { at: now, turnAt };
      listener({ ...this.#endpoint, queued, ahead, waitMs, periodMs, ...refused });
    }
  }

  /** The state of the first call if it was refused. */
  #refused(now: number): { readonly refused?: Refused } {
    const call = this.#waiting[0]?.call;
    if (!call || call.refusals === 0) return {};
    const { refusedAt, giveUpAt, asks } = call;
    const forMs = now - refusedAt;
    if (!asks) return { refused: { forMs, leftMs: giveUpAt - now } };
    const leftMs = Math.max(0, Math.min(giveUpAt, asks.since + longestRetryAfterMs) - now);
    return { refused: { forMs, leftMs, asks: asks.text } };
  }

  /** Admits the call that is first now: the previous first one may have left. */
  #admit(admission: Admission): void {
    const first = this.#waiting.shift();
    if (first) first.go(admission);
    else void this.#limiter.ended(admission, { type: "ended" });
  }

  async #sent(admission: Admission, attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { clock } = this.#options;
    const sentAt = clock.now();
    let outcome: CallOutcome = { type: "ended" };
    try {
      const response = await attempt();
      outcome =
        response.status === 429
          ? { type: "refused", askedMs: retryAfterMs(response.headers, clock.wall()) }
          : { type: "accepted", tookMs: clock.now() - sentAt };
      return response;
    } finally {
      await this.#limiter.ended(admission, outcome);
      this.#wake();
    }
  }

  #wake(): void {
    this.#answers += 1;
    // With an explicit reason, no error object is created.
    this.#sleep?.abort("woken");
  }
}

/** Returns a pace with one queue per endpoint, created on the first call to the endpoint. */
export const queuePerEndpoint = (
  limiterOf: (endpoint: Endpoint) => EndpointLimiter,
  options: EndpointQueueOptions,
): Pace => {
  const queues = new Map<string, EndpointQueue>();
  return (endpoint, attempt, signal) => {
    const name = endpointName(endpoint);
    let queue = queues.get(name);
    if (!queue) {
      const { method, template } = endpoint;
      queue = new EndpointQueue({ method, template }, limiterOf({ method, template }), options);
      queues.set(name, queue);
    }
    return queue.run(attempt, signal);
  };
};

/** Permission to send one call now. */
export interface Admission {
  /**
   * Why the call may be sent. `due`: its token was added at the limit's rate. `saved`: its token
   * had accumulated earlier.
   */
  readonly kind: "due" | "saved";
  /** The admission's sequence number for this endpoint in this process. */
  readonly number: number;
}

/** A refusal to send a call now. */
export interface Delay {
  /** Time to wait, in milliseconds. If infinite, the wait lasts until a response arrives. */
  readonly waitMs: number;
  /**
   * Time to refill one token, in milliseconds: how much longer each additional call has to wait.
   */
  readonly periodMs: number;
  /** Whether an expected response may end the wait early. */
  readonly mayEndEarly: boolean;
  /** The store's time when the delay started, in milliseconds. */
  readonly at: number;
}

/** A delay that has fully elapsed. */
export interface Slept {
  readonly ms: number;
  /** The store's time when the delay started, in milliseconds. */
  readonly since: number;
}

/** The outcome of a call. `ended`: the call received no response or was never sent. */
export type CallOutcome =
  | { readonly type: "ended" }
  /** `tookMs`: time from sending to the answer, in milliseconds. */
  | { readonly type: "accepted"; readonly tookMs: number }
  /** `askedMs`: pause that the service requests, in milliseconds. */
  | { readonly type: "refused"; readonly askedMs?: number | undefined };

/** Decides when to send calls to one endpoint, and learns from their outcomes. */
export interface EndpointLimiter {
  /** @param slept the last delay, if it was slept in full */
  ask(slept?: Slept): Admission | Delay | Promise<Admission | Delay>;
  ended(admission: Admission, outcome: CallOutcome): void | Promise<void>;
}

/**
 * An endpoint with an unknown rate: unlimited until a call is refused.
 *
 * - `open`: calls are sent at once.
 * - `waiting`: a call was refused; none is sent before the pause is over, then one.
 * - `recovering`: that call succeeded; 2, 3, 4 … calls may be in progress at once while they
 *   succeed.
 */
interface BackOffState {
  readonly phase: "open" | "waiting" | "recovering";
  /** Time of this state, in milliseconds. */
  readonly at: number;
  /** Remaining time of the pause, in milliseconds. */
  readonly leftMs: number;
  readonly refusalsInRow: number;
  readonly underWay: number;
  /** Maximum calls in progress at once while recovering. */
  readonly window: number;
  readonly admitted: number;
  /** Calls up to this number were in progress when one of them was refused. */
  readonly heldAt: number;
}

const openAtFirst: BackOffState = {
  phase: "open",
  at: 0,
  leftMs: 0,
  refusalsInRow: 0,
  underWay: 0,
  window: 1,
  admitted: 0,
  heldAt: 0,
};

/** First pause in milliseconds; it doubles up to 16 s (specification §8.1 rule 6). */
const firstPauseMs = 1_000;

/** From 1 s to 16 s: 1, 2, 4 s are the specification's, and then as long again twice. */
const mostDoublings = 4;

/** More calls than this are rarely in progress at once: the endpoint is open again. */
const openWindow = 16;

/** Time advances or stands still; slept time counts. */
const atTime = (state: BackOffState, now: number, sleptMs: number): BackOffState => {
  const passedMs = Math.max(now - state.at, sleptMs, 0);
  return { ...state, at: now, leftMs: Math.max(0, state.leftMs - passedMs) };
};

const accepted = (state: BackOffState, { number }: Admission): BackOffState => {
  // Sent before the refusal: says nothing about the time after it.
  if (state.phase === "open" || number <= state.heldAt) return state;
  const window = state.window + 1;
  const phase = window >= openWindow ? "open" : "recovering";
  return { ...state, phase, window, refusalsInRow: 0 };
};

const refused = (
  state: BackOffState,
  { number }: Admission,
  askedMs: number | undefined,
): BackOffState => {
  // Calls that were in progress together are refused together: that is one refusal, not many.
  const isNew = number > state.heldAt;
  const refusalsInRow = state.refusalsInRow + (isNew ? 1 : 0);
  const doublings = Math.min(mostDoublings, refusalsInRow - 1);
  const leftMs = Math.max(state.leftMs, askedMs ?? firstPauseMs * 2 ** doublings);
  const heldAt = isNew ? state.admitted : state.heldAt;
  return { ...state, phase: "waiting", window: 1, refusalsInRow, leftMs, heldAt };
};

/** The limiter for an endpoint with an unknown rate; covers only this process. */
export class UnlimitedUntilRefused implements EndpointLimiter {
  readonly #clock: Pick<Clock, "now">;
  #state = openAtFirst;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  ask(slept?: { readonly ms: number }): Admission | Delay {
    const at = this.#clock.now();
    const state = atTime(this.#state, at, slept?.ms ?? 0);
    this.#state = state;
    const { leftMs, phase, underWay, window } = state;
    const delay = { periodMs: firstPauseMs, at };
    if (leftMs > 0) return { ...delay, waitMs: leftMs, mayEndEarly: false };
    const isFull = phase !== "open" && underWay >= window;
    if (isFull) return { ...delay, waitMs: Number.POSITIVE_INFINITY, mayEndEarly: true };
    const number = state.admitted + 1;
    this.#state = { ...state, admitted: number, underWay: underWay + 1 };
    return { kind: "due", number };
  }

  ended(admission: Admission, outcome: CallOutcome): void {
    const before = { ...this.#state, underWay: this.#state.underWay - 1 };
    // A failed call releases its slot like an accepted one: it was not refused.
    this.#state =
      outcome.type === "refused"
        ? refused(atTime(before, this.#clock.now(), 0), admission, outcome.askedMs)
        : accepted(before, admission);
  }
}

/**
 * Returns a pace for unknown rates: calls are sent immediately, but after a 429, further calls to
 * the same endpoint are held back, while calls to others continue. The wait is the time in
 * Retry-After if there is one, otherwise 1, 2, 4, 8, 16 s (specification §8.1 rule 6).
 */
export const waitOutRefusals = (options: EndpointQueueOptions): Pace =>
  queuePerEndpoint(() => new UnlimitedUntilRefused(options.clock), options);
