import type { Timeline } from "../timeline.js";

/** Time that Pulumi itself takes, in seconds. */
export interface EngineTimes {
  /** From the start of the command to the first step. */
  readonly startSeconds: number;
  /** For each step that makes calls; the engine does this work one step at a time. */
  readonly stepSeconds: number;
}

/** What runs in a slot: begins for a reason, and releases the slot with what it ended with. */
type Job<Reason> = (
  reason: Reason | undefined,
  release: (last: Reason | undefined) => void,
) => void;

/** The slots of the engine (`--parallel`): what finds none free waits in order of arrival. */
export class EngineSlots<Reason> {
  readonly #timeline: Timeline;
  readonly #times: EngineTimes;
  readonly #waiting: { readonly job: Job<Reason>; readonly seconds: number }[] = [];
  #free: number;
  #engineFreeAt = 0;

  constructor(timeline: Timeline, parallel: number, times: EngineTimes) {
    this.#timeline = timeline;
    this.#times = times;
    this.#free = parallel;
  }

  /** @param isWork false: takes no time of the engine that the start does not hold already */
  run(reason: Reason | undefined, isWork: boolean, job: Job<Reason>): void {
    const seconds = isWork ? this.#times.stepSeconds : 0;
    if (this.#free === 0) {
      this.#waiting.push({ job, seconds });
      return;
    }
    this.#free -= 1;
    this.#begin(job, seconds, reason);
  }

  #begin(job: Job<Reason>, seconds: number, reason: Reason | undefined): void {
    this.#engineFreeAt = Math.max(this.#engineFreeAt, this.#timeline.now) + seconds;
    const at = seconds === 0 ? this.#timeline.now : this.#engineFreeAt;
    this.#timeline.at(at, () => job(reason, (last) => this.#release(last)));
  }

  #release(last: Reason | undefined): void {
    const next = this.#waiting.shift();
    if (next) this.#begin(next.job, next.seconds, last);
    else this.#free += 1;
  }
}
