import type { Wait } from "../service/http/pace.js";

/** How fast an endpoint takes calls. */
export interface ExpectedRate {
  /** Time between two calls, in milliseconds. */
  readonly periodMs: number;
  /** Calls that it takes at once, before they are held back. */
  readonly burst: number;
}

/** The calls of one run to one endpoint: how many are done, how many there will be. */
export class EndpointProgress {
  begun = 0;
  ended = 0;
  /** Calls that are foreseen, those made already included. */
  planned = 0;
  #waits = false;
  #periodMs: number;

  constructor(
    /** `POST /channels` */
    readonly name: string,
    readonly rate: ExpectedRate,
  ) {
    this.#periodMs = rate.periodMs;
  }

  /** What the queue told last is nearer the truth than the table of rates. */
  learn({ periodMs }: Wait): void {
    this.#waits = true;
    this.#periodMs = periodMs;
  }

  get all(): number {
    return Math.max(this.begun, this.planned);
  }

  /** Time until the last call is through, in milliseconds. */
  get leftMs(): number {
    const left = this.all - this.ended;
    const held = this.#waits ? left : Math.min(left, this.all - this.rate.burst);
    return Math.max(0, held) * this.#periodMs;
  }
}
