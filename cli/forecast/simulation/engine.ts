import { availableParallelism } from "node:os";
import type { Workload } from "./workload.js";

/** Simulated time: what is due happens in the order of time, and else in the order it was asked for. */
export class Timeline {
  /** Seconds since the start. */
  now = 0;
  readonly #due: { readonly at: number; readonly happen: () => void }[] = [];

  at(time: number, happen: () => void): void {
    const at = Math.max(time, this.now);
    const place = this.#due.findLastIndex((other) => other.at <= at) + 1;
    this.#due.splice(place, 0, { at, happen });
  }

  /** Lets time pass until nothing is left to happen. */
  run(): void {
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      this.now = next.at;
      next.happen();
    }
  }
}

/** Steps for each core that Pulumi runs together where nobody says otherwise. */
const perCore = 4;

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/** How many steps Pulumi runs together without `--parallel`: PULUMI_PARALLEL, else 4 for each core. */
export const defaultParallel = (
  env: NodeJS.ProcessEnv,
  cores: number = availableParallelism(),
): number => wholeNumber(env.PULUMI_PARALLEL) ?? perCore * (wholeNumber(env.GOMAXPROCS) ?? cores);

/** Time that Pulumi itself takes, in seconds. */
export interface EngineTimes {
  /** From the start of the command to the first step. */
  readonly startSeconds: number;
  /** For each step that makes calls; the engine does this work one step at a time. */
  readonly stepSeconds: number;
}

/** What Pulumi took on two cores (measured), in seconds. */
const measured = {
  /** Start and end of a run of the program, where no preview tells. */
  up: 2.4,
  /** A run that needs no program: refresh and destroy. */
  withoutProgram: 1.2,
  /** No run begins sooner. */
  least: 0.5,
  step: 0.02,
};

/** How long Pulumi itself takes: as long as it took for the preview, which runs the same program. */
export const engineTimes = ({ operation, previewSeconds, steps }: Workload): EngineTimes => {
  const { step: stepSeconds, least, withoutProgram, up } = measured;
  if (operation !== "up") return { startSeconds: withoutProgram, stepSeconds };
  if (previewSeconds === undefined) return { startSeconds: up, stepSeconds };
  // The steps of the preview come again, and are counted one by one.
  const changing = steps.filter(({ action }) => action !== "none").length;
  return { startSeconds: Math.max(least, previewSeconds - changing * stepSeconds), stepSeconds };
};

/** What runs in a slot: begins for a reason, and releases the slot with what it ended with. */
type Job<Reason> = (
  reason: Reason | undefined,
  release: (last: Reason | undefined) => void,
) => void;

/** The slots of the engine (`--parallel`): what finds none free waits in order of arrival. */
export class EngineSlots<Reason> {
  readonly #waiting: { readonly job: Job<Reason>; readonly seconds: number }[] = [];
  #free: number;
  #engineFreeAt = 0;

  constructor(
    readonly timeline: Timeline,
    parallel: number,
    readonly times: EngineTimes,
  ) {
    this.#free = parallel;
  }

  /** @param isWork false: takes no time of the engine that the start does not hold already */
  run(reason: Reason | undefined, isWork: boolean, job: Job<Reason>): void {
    const seconds = isWork ? this.times.stepSeconds : 0;
    if (this.#free === 0) {
      this.#waiting.push({ job, seconds });
      return;
    }
    this.#free -= 1;
    this.#begin(job, seconds, reason);
  }

  #begin(job: Job<Reason>, seconds: number, reason: Reason | undefined): void {
    this.#engineFreeAt = Math.max(this.#engineFreeAt, this.timeline.now) + seconds;
    const at = seconds === 0 ? this.timeline.now : this.#engineFreeAt;
    this.timeline.at(at, () => job(reason, (last) => this.#release(last)));
  }

  #release(last: Reason | undefined): void {
    const next = this.#waiting.shift();
    if (next) this.#begin(next.job, next.seconds, last);
    else this.#free += 1;
  }
}
