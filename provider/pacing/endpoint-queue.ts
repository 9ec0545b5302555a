import { AsyncResource } from "node:async_hooks";
import type { Clock } from "../kernel/clock.js";
import type { ConversationError } from "../kernel/errors.js";
import type { Endpoint } from "../service/http/operations.js";
import { retryAfterMs } from "../service/http/retry-after.js";
import type { HttpResponse } from "../service/http/transport.js";
import type { EndpointLimiter } from "./endpoint-limiter.js";
import type { Admission, Slept, Wait } from "./limiter/limiter-state.js";
import { type Queued, WaitingCalls, type WaitNews } from "./waiting-calls.js";
import { cancelledWhileWaiting, stillRefused } from "./waiting-errors.js";

export interface EndpointQueueOptions {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly limiter: EndpointLimiter;
  /** Longest time for one call to get through after its first refusal, in milliseconds. */
  readonly totalMs: number;
  /** Shorter waits are not announced, in milliseconds. */
  readonly announcedMs: number;
  readonly onWait: (news: WaitNews) => void;
}

/** One call on its way. */
interface Call {
  /** Order of arrival; a refused call keeps its place. */
  readonly number: number;
  readonly signal: AbortSignal | undefined;
  refusals: number;
  giveUpAt: number;
}

/** A call in the queue. */
interface Waiting extends Queued {
  readonly call: Call;
  readonly go: (admission: Admission) => void;
  readonly fail: (error: unknown) => void;
}

/** So often at least the head of the queue looks again, and waits are announced, in milliseconds. */
const longestSleepMs = 10_000;

const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** The calls of one endpoint, in order of arrival; the first one waits until the limiter lets it go. */
export class EndpointQueue {
  readonly #options: EndpointQueueOptions;
  readonly #waiting: WaitingCalls<Waiting>;
  #arrivals = 0;
  #isServing = false;
  #sleep: AbortController | undefined;
  /** Answers so far: a change while the limiter was asked means that it is asked again. */
  #answers = 0;

  constructor(options: EndpointQueueOptions) {
    this.#options = options;
    this.#waiting = new WaitingCalls(options.announcedMs, longestSleepMs);
  }

  async run(attempt: () => Promise<HttpResponse>, signal?: AbortSignal): Promise<HttpResponse> {
    const number = this.#arrivals++;
    const call: Call = { number, signal, refusals: 0, giveUpAt: Number.POSITIVE_INFINITY };
    for (;;) {
      const admission = await this.#turn(call);
      const response = await this.#tried(admission, attempt);
      if (response.status !== 429) return response;
      call.refusals += 1;
      if (call.refusals === 1) call.giveUpAt = this.#options.clock.now() + this.#options.totalMs;
    }
  }

  async #tried(admission: Admission, attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { limiter, clock } = this.#options;
    let response: HttpResponse;
    try {
      response = await attempt();
    } catch (error) {
      await limiter.ended(admission);
      this.#wake();
      throw error;
    }
    const learnt =
      response.status === 429
        ? limiter.refused(admission, retryAfterMs(response.headers, clock.wall()))
        : limiter.accepted(admission);
    if (learnt) await learnt;
    this.#wake();
    return response;
  }

  #wake(): void {
    this.#answers += 1;
    this.#sleep?.abort();
  }

  /** While nobody waits there is no need to queue. */
  async #turn(call: Call): Promise<Admission> {
    const failure = this.#endOf(call);
    if (failure) throw failure;
    if (this.#isServing) return this.#queued(call);
    const asked = this.#options.limiter.ask();
    const turn = asked instanceof Promise ? await this.#alone(asked) : asked;
    return "kind" in turn ? turn : this.#queued(call);
  }

  /** One call asks at a time, so that each knows what the one before was given. */
  async #alone(asked: Promise<Admission | Wait>): Promise<Admission | Wait> {
    this.#isServing = true;
    let turn: Admission | Wait | undefined;
    try {
      turn = await asked;
      return turn;
    } finally {
      this.#isServing = false;
      // Where this call has to wait it goes on for all, and comes first.
      if (this.#waiting.first && !(turn && "waitMs" in turn)) void this.#serve();
    }
  }

  #queued(call: Call): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { signal, number } = call;
      const waiting: Waiting = {
        call,
        number,
        announcedAt: Number.NEGATIVE_INFINITY,
        announce: AsyncResource.bind(this.#options.onWait),
        go: (admission) => {
          signal?.removeEventListener("abort", cancel);
          resolve(admission);
        },
        fail: (error) => {
          signal?.removeEventListener("abort", cancel);
          reject(error);
        },
      };
      const cancel = (): void => {
        this.#waiting.leave(waiting);
        waiting.fail(cancelledWhileWaiting(this.#options.endpoint));
        this.#wake();
      };
      if (signal?.aborted) return cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      this.#waiting.join(waiting);
      if (!this.#isServing) void this.#serve();
    });
  }

  #endOf({ signal, giveUpAt, refusals }: Call): ConversationError | undefined {
    const { endpoint, clock } = this.#options;
    if (signal?.aborted) return cancelledWhileWaiting(endpoint);
    return clock.now() >= giveUpAt ? stillRefused(endpoint, refusals) : undefined;
  }

  /** Lets the first call go when the limiter says so, again and again; comes to an end with the queue. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      let slept: Slept | undefined;
      for (let first = this.#first(); first; first = this.#first()) {
        const answers = this.#answers;
        const asked = this.#options.limiter.ask(slept);
        const turn = asked instanceof Promise ? await asked : asked;
        slept = undefined;
        if ("kind" in turn) this.#admit(turn);
        else if (answers === this.#answers) slept = await this.#pause(turn);
      }
    } catch (error) {
      for (const waiting of this.#waiting.clear()) waiting.fail(error);
    } finally {
      this.#isServing = false;
    }
  }

  /** The call whose turn is next; those whose time is over leave. */
  #first(): Waiting | undefined {
    for (;;) {
      const first = this.#waiting.first;
      const failure = first && this.#endOf(first.call);
      if (!first || !failure) return first;
      this.#waiting.leave(first);
      first.fail(failure);
    }
  }

  /** To the call that is first now: the one that was may have gone. */
  #admit(admission: Admission): void {
    const first = this.#waiting.first;
    if (!first) return void this.#options.limiter.ended(admission);
    this.#waiting.leave(first);
    first.go(admission);
  }

  /** Gives back what was slept in full; nothing where an answer came first. */
  async #pause({ waitMs, mayEndEarly, at }: Wait): Promise<Slept | undefined> {
    const { clock, limiter } = this.#options;
    if (!mayEndEarly) this.#waiting.announce(clock.now(), waitMs, limiter.periodMs);
    const sleep = new AbortController();
    this.#sleep = sleep;
    const ms = Math.min(Math.ceil(waitMs), longestSleepMs);
    try {
      await (Number.isFinite(waitMs) ? clock.sleep(ms, sleep.signal) : ended(sleep.signal));
      return { ms, since: at };
    } catch {
      // Woken by an answer, or because a caller has gone: the loop looks again.
      return undefined;
    } finally {
      this.#sleep = undefined;
    }
  }
}
