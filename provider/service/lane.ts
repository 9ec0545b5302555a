import type { Clock } from "./clock.js";
import { ConversationError } from "./errors.js";
import { type Endpoint, endpointName } from "./operations.js";
import { retryAfterMs } from "./retry-after.js";
import type { HttpResponse } from "./transport.js";

export interface LaneWait {
  readonly queued: number;
  readonly waitMs: number;
}

/** One call that wants through. */
interface Ticket {
  /** Order of arrival; a refused call keeps its place. */
  readonly number: number;
  readonly deadline: number;
  refusals: number;
}

interface Waiter {
  readonly ticket: Ticket;
  readonly go: () => void;
  readonly fail: (error: ConversationError) => void;
}

const firstWaitMs = 1_000;
const mostDoublings = 4;

/**
 * One endpoint. Open: every call goes at once. After a refusal it is closed: calls queue, and when
 * the wait is over the first goes alone; each that gets through lets the next one go, until the
 * queue is empty and the lane opens again.
 */
export class Lane {
  readonly #endpoint: Endpoint;
  readonly #clock: Clock;
  readonly #onWait: (wait: LaneWait) => void;
  readonly #queue: Waiter[] = [];
  #closed = false;
  /** The one call that is under way while the lane is closed. */
  #probe: Ticket | undefined;
  #refusalsInRow = 0;
  #readyAt = 0;
  #sleep: AbortController | undefined;
  #arrivals = 0;

  constructor(endpoint: Endpoint, clock: Clock, onWait: (wait: LaneWait) => void) {
    this.#endpoint = { method: endpoint.method, template: endpoint.template };
    this.#clock = clock;
    this.#onWait = onWait;
  }

  async run(
    attempt: () => Promise<HttpResponse>,
    totalMs: number,
    signal?: AbortSignal,
  ): Promise<HttpResponse> {
    const deadline = this.#clock.now() + totalMs;
    const ticket: Ticket = { number: this.#arrivals++, deadline, refusals: 0 };
    for (;;) {
      await this.#turn(ticket, signal);
      const response = await this.#tried(ticket, attempt);
      if (response.status !== 429) return response;
      ticket.refusals += 1;
    }
  }

  async #tried(ticket: Ticket, attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    let refused: HttpResponse | undefined;
    try {
      const response = await attempt();
      if (response.status === 429) refused = response;
      return response;
    } finally {
      // A failed attempt frees the lane like an accepted one: it was not refused.
      if (refused) this.#refused(ticket, refused);
      else this.#passed(ticket);
    }
  }

  #turn(ticket: Ticket, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) {
      // A refused call that gives up must not leave the others waiting for it.
      this.#next();
      return Promise.reject(this.#cancelled());
    }
    if (!this.#closed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        signal?.removeEventListener("abort", cancel);
        done();
      };
      const waiter: Waiter = {
        ticket,
        go: () => settle(resolve),
        fail: (error) => settle(() => reject(error)),
      };
      const cancel = (): void => this.#leave(waiter);
      signal?.addEventListener("abort", cancel, { once: true });
      const place = this.#queue.findIndex((other) => other.ticket.number > ticket.number);
      this.#queue.splice(place < 0 ? this.#queue.length : place, 0, waiter);
      this.#next();
    });
  }

  #leave(waiter: Waiter): void {
    const place = this.#queue.indexOf(waiter);
    if (place >= 0) this.#queue.splice(place, 1);
    waiter.fail(this.#cancelled());
    if (this.#queue.length === 0) this.#sleep?.abort();
  }

  #refused(ticket: Ticket, response: HttpResponse): void {
    // Calls that were under way together are refused together: that is one refusal, not many.
    if (!this.#closed || this.#probe === ticket) this.#refusalsInRow += 1;
    if (this.#probe === ticket) this.#probe = undefined;
    this.#closed = true;
    const doublings = Math.min(this.#refusalsInRow - 1, mostDoublings);
    const waitMs =
      retryAfterMs(response.headers, this.#clock.wall()) ?? firstWaitMs * 2 ** doublings;
    this.#readyAt = Math.max(this.#readyAt, this.#clock.now() + waitMs);
  }

  #passed(ticket: Ticket): void {
    if (this.#probe === ticket) {
      this.#probe = undefined;
      this.#refusalsInRow = 0;
    }
    this.#next();
  }

  /** Lets the first of the queue go as soon as that is allowed. */
  #next(): void {
    if (this.#probe || this.#sleep) return;
    const waitMs = this.#readyAt - this.#clock.now();
    const [first] = this.#queue;
    if (first && waitMs > 0) {
      void this.#wait(waitMs);
    } else if (first) {
      this.#queue.shift();
      this.#admit(first);
    } else if (waitMs <= 0) {
      this.#closed = false;
    }
  }

  #admit(waiter: Waiter): void {
    if (this.#clock.now() >= waiter.ticket.deadline) {
      waiter.fail(this.#throttled(waiter.ticket));
      this.#next();
      return;
    }
    this.#probe = waiter.ticket;
    waiter.go();
  }

  async #wait(waitMs: number): Promise<void> {
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#onWait({ queued: this.#queue.length, waitMs });
    try {
      await this.#clock.sleep(waitMs, sleep.signal);
    } catch {
      // Nobody waits any more; the next caller starts a new wait for what is left of it.
    }
    this.#sleep = undefined;
    this.#next();
  }

  #cancelled(): ConversationError {
    return new ConversationError(
      "CANCELLED",
      `${endpointName(this.#endpoint)} was given up while it waited for its turn. Nothing was sent.`,
      this.#endpoint,
    );
  }

  #throttled(ticket: Ticket): ConversationError {
    return new ConversationError(
      "THROTTLED",
      `${endpointName(this.#endpoint)} is still over its rate limit; the time allowed for the call is over after ${ticket.refusals} refusals. Nothing was done. The limit is shared by everything that calls the service for the tenant: run again when there is less traffic, or with a higher plan.`,
      { ...this.#endpoint, status: 429 },
    );
  }
}
