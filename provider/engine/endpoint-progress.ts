import type { Endpoint } from "../service/http/operations.js";
import type { Wait } from "../service/http/pace.js";

/** How fast an endpoint takes calls. */
export interface ExpectedRate {
  /** Time between two calls, in milliseconds. */
  readonly periodMs: number;
  /** Calls that it takes at once, before they are held back. */
  readonly burst: number;
}

/** What the queue of an endpoint told last. */
interface Queue {
  /** When the first call in it goes, in milliseconds. */
  readonly headAt: number;
  /** Calls that went before that one. */
  readonly sent: number;
}

/** The calls of one run to one endpoint: how many are done, how many there will be. */
export class EndpointProgress {
  begun = 0;
  ended = 0;
  /** Calls that are foreseen, those made already included. */
  planned = 0;
  #rate: ExpectedRate;
  #queue: Queue | undefined;
  #atOnce: number | undefined;

  constructor(
    readonly endpoint: Endpoint,
    rate: ExpectedRate,
  ) {
    this.#rate = rate;
  }

  /** What the queue tells is nearer the truth than the table of rates. */
  learn({ periodMs, queued, ahead, waitMs }: Wait, now: number): void {
    const sent = Math.max(0, this.begun - queued);
    this.#atOnce ??= sent;
    this.#queue = { headAt: now + waitMs - ahead * periodMs, sent };
    this.#rate = { ...this.#rate, periodMs };
  }

  /** Another rate than assumed, such as that of another plan; what the queue told counts more. */
  assume(rate: ExpectedRate): void {
    if (!this.#queue) this.#rate = rate;
  }

  /** Calls that went before others had to wait; undefined where none has. */
  get atOnce(): number | undefined {
    return this.#atOnce;
  }

  get all(): number {
    return Math.max(this.begun, this.planned);
  }

  /**
   * Time until the last call goes, in milliseconds.
   *
   * @param mostAtOnce calls that other endpoints of the account have taken at once
   */
  leftMs(now: number, mostAtOnce: number): number {
    const { periodMs, burst } = this.#rate;
    const left = this.all - this.ended;
    if (left === 0) return 0;
    if (!this.#queue)
      return Math.max(0, Math.min(left, this.all - Math.min(burst, mostAtOnce))) * periodMs;
    const { headAt, sent } = this.#queue;
    const asTold = headAt - now + (this.all - sent - 1) * periodMs;
    // Calls that went sooner than told are not waited for.
    return Math.max(0, Math.min(asTold, Math.max(0, headAt - now) + left * periodMs));
  }
}
