import { availableParallelism } from "node:os";
import {
  type Bucket,
  bucketAt,
  fullBucket,
  type RateLimit,
  takeToken,
} from "../../provider/pacing/bucket.js";
import { endpointName } from "../../provider/service/pace.js";
import { accountTitle } from "../../provider/service/settings.js";
import type { PlannedCalls, PlannedStep, Workload } from "./planned-steps.js";

/**
 * Simulated time: events happen in the order of time, at the same time in the order of their
 * requests.
 */
class Timeline {
  /** Seconds since the start. */
  now = 0;
  readonly #due: { readonly at: number; readonly happen: () => void }[] = [];

  at(time: number, happen: () => void): void {
    const at = Math.max(time, this.now);
    const place = this.#due.findLastIndex((other) => other.at <= at) + 1;
    this.#due.splice(place, 0, { at, happen });
  }

  /** Advances time until no events are left. */
  run(): void {
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      this.now = next.at;
      next.happen();
    }
  }
}

/** Steps per core that Pulumi runs in parallel by default. */
const perCore = 4;

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/**
 * Returns the number of steps that Pulumi runs in parallel without `--parallel`: the value of
 * PULUMI_PARALLEL or, if that is not set, 4 per core. GOMAXPROCS overrides the number of cores.
 */
export const defaultParallel = (
  env: NodeJS.ProcessEnv,
  cores: number = availableParallelism(),
): number => wholeNumber(env.PULUMI_PARALLEL) ?? perCore * (wholeNumber(env.GOMAXPROCS) ?? cores);

/** Time that Pulumi itself needs, in seconds. */
export interface EngineTimes {
  /** Time from the start of the command to the first step. */
  readonly startSeconds: number;
  /** Time for each step that makes calls; the engine does this work sequentially. */
  readonly stepSeconds: number;
}

/** What Pulumi took on two cores (measured), in seconds. */
const measured = {
  /** Start and end of a run of the program, if no preview shows it. */
  up: 2.4,
  /** A run that needs no program: refresh and destroy. */
  withoutProgram: 1.2,
  /** No run begins sooner. */
  least: 0.5,
  step: 0.02,
};

/**
 * Estimates Pulumi's own time from the duration of the preview, which runs the same program, or
 * from measured values if there is no preview.
 */
export const engineTimes = ({ operation, previewSeconds, steps }: Workload): EngineTimes => {
  const { step: stepSeconds, least, withoutProgram, up } = measured;
  if (operation !== "up") return { startSeconds: withoutProgram, stepSeconds };
  if (previewSeconds === undefined) return { startSeconds: up, stepSeconds };
  // The steps of the preview come again, and are counted individually.
  const changing = steps.filter(({ action }) => action !== "none").length;
  return { startSeconds: Math.max(least, previewSeconds - changing * stepSeconds), stepSeconds };
};

/** The work in a slot: starts for a reason, and releases the slot with its result. */
type Job<Reason> = (
  reason: Reason | undefined,
  release: (last: Reason | undefined) => void,
) => void;

/** The slots of the engine (`--parallel`): work that finds none free waits in order of arrival. */
class EngineSlots<Reason> {
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

  /** @param isWork false: takes no engine time beyond that included in the start */
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

/** A call in simulated time. Times are in seconds since the start. */
export interface SimulatedCall {
  readonly step: PlannedStep;
  /** The endpoint, such as `POST /channels`, with the profile if there is one. */
  readonly endpoint: string;
  readonly wantedAt: number;
  /**
   * Time at which the call is sent; later than `wantedAt` if the rate limit makes the call wait.
   */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The call that delayed this one. */
  readonly cause?: SimulatedCall;
}

type Wake = (last: SimulatedCall) => void;

/** The calls for a list, which several steps wait for. */
class SharedCalls {
  ended: SimulatedCall | undefined;
  readonly #waiting: Wake[] = [];

  /** @param cause what the step has waited for before */
  wait(cause: SimulatedCall | undefined, next: Wake): void {
    // Found in the list long ago: not the reason for the present call.
    if (this.ended) next(cause ?? this.ended);
    else this.#waiting.push(next);
  }

  end(call: SimulatedCall): void {
    this.ended = call;
    for (const wake of this.#waiting) wake(call);
  }
}

/** The service's behavior in the simulation. */
interface ServiceModel {
  readonly roundTripSeconds: number;
  readonly limitOf: (calls: PlannedCalls) => RateLimit;
}

/** `GET /channels`, or `GET /channels (profile staging)`: each has its own bucket. */
const bucketName = ({ endpoint, profile }: PlannedCalls): string =>
  `${endpointName(endpoint)}${profile === undefined ? "" : ` (${accountTitle(profile)})`}`;

/** A bucket that pacing would use, full at first. */
interface SimulatedBucket {
  readonly limit: RateLimit;
  tokens: Bucket;
  last?: SimulatedCall;
}

/** The service of a simulation: every call waits for its bucket and takes one round trip. */
class SimulatedService {
  /** In the order in which they were sent. */
  readonly calls: SimulatedCall[] = [];
  readonly #buckets = new Map<string, SimulatedBucket>();
  readonly #shared = new Map<string, SharedCalls>();

  constructor(
    readonly model: ServiceModel,
    readonly timeline: Timeline,
  ) {}

  /** Makes the calls of a step, one after the other. */
  make(
    step: PlannedStep,
    [first, ...rest]: readonly PlannedCalls[],
    cause: SimulatedCall | undefined,
    done: (last: SimulatedCall | undefined) => void,
  ): void {
    if (!first) {
      done(cause);
      return;
    }
    const next = (last: SimulatedCall) => this.make(step, rest, last, done);
    if (first.sharedAs === undefined) this.#repeat(step, first, first.times, cause, next);
    else this.#share(step, first, first.sharedAs, cause, next);
  }

  #share(
    step: PlannedStep,
    calls: PlannedCalls,
    name: string,
    cause: SimulatedCall | undefined,
    next: Wake,
  ): void {
    const known = this.#shared.get(name);
    const shared = known ?? new SharedCalls();
    this.#shared.set(name, shared);
    shared.wait(cause, next);
    if (!known) this.#repeat(step, calls, calls.times, cause, (last) => shared.end(last));
  }

  #repeat(
    step: PlannedStep,
    calls: PlannedCalls,
    times: number,
    cause: SimulatedCall | undefined,
    next: Wake,
  ): void {
    const call = this.#send(step, calls, cause);
    this.timeline.at(call.endedAt, () => {
      if (times > 1) this.#repeat(step, calls, times - 1, call, next);
      else next(call);
    });
  }

  #openBucket(calls: PlannedCalls): SimulatedBucket {
    const limit = this.model.limitOf(calls);
    return { limit, tokens: fullBucket(this.timeline.now * 1000, limit) };
  }

  #send(step: PlannedStep, calls: PlannedCalls, cause: SimulatedCall | undefined): SimulatedCall {
    const endpoint = bucketName(calls);
    const bucket = this.#buckets.get(endpoint) ?? this.#openBucket(calls);
    this.#buckets.set(endpoint, bucket);
    const wantedAt = this.timeline.now;
    const tokens = bucketAt(bucket.tokens, wantedAt * 1000, bucket.limit);
    bucket.tokens = takeToken(tokens, bucket.limit);
    const sentAt = wantedAt + Math.max(0, tokens.dueMs) / 1000;
    const why = sentAt > wantedAt ? bucket.last : cause;
    const endedAt = sentAt + this.model.roundTripSeconds;
    const call = { step, endpoint, wantedAt, sentAt, endedAt, ...(why ? { cause: why } : {}) };
    bucket.last = call;
    this.calls.push(call);
    return call;
  }
}

interface Waiting {
  readonly step: PlannedStep;
  readonly next: PlannedStep[];
  missing: number;
}

const waitingSteps = (steps: readonly PlannedStep[]): ReadonlyMap<PlannedStep, Waiting> => {
  const all = new Map<PlannedStep, Waiting>(
    steps.map((step) => [step, { step, next: [], missing: 0 }]),
  );
  const byUrn = new Map(steps.map((step) => [`${step.phase} ${step.urn}`, step]));
  for (const waiting of all.values())
    for (const urn of new Set(waiting.step.after)) {
      const before = byUrn.get(`${waiting.step.phase} ${urn}`);
      if (!before || before === waiting.step) continue;
      all.get(before)?.next.push(waiting.step);
      waiting.missing += 1;
    }
  return all;
};

/**
 * The steps that may begin, at first and as others end: dependencies within a phase, and one phase
 * after the other.
 */
const stepOrder = (steps: readonly PlannedStep[]) => {
  const waiting = waitingSteps(steps);
  const phases = [...new Set(steps.map(({ phase }) => phase))].sort((a, b) => a - b);
  const left = new Map(phases.map((phase) => [phase, 0]));
  for (const { phase } of steps) left.set(phase, (left.get(phase) ?? 0) + 1);
  const opened = (phase: number | undefined): readonly PlannedStep[] =>
    steps.filter((step) => step.phase === phase && waiting.get(step)?.missing === 0);
  const ended = (step: PlannedStep): readonly PlannedStep[] => {
    const free = (waiting.get(step)?.next ?? []).filter((next) => {
      const one = waiting.get(next);
      if (one) one.missing -= 1;
      return one?.missing === 0;
    });
    const rest = (left.get(step.phase) ?? 0) - 1;
    left.set(step.phase, rest);
    return rest === 0 ? opened(phases[phases.indexOf(step.phase) + 1]) : free;
  };
  return { first: opened(phases[0]), ended };
};

export interface SimulationOptions extends ServiceModel {
  /** Number of steps that run in parallel. */
  readonly parallel: number;
  readonly callsOf: (step: PlannedStep) => readonly PlannedCalls[];
  readonly engine: EngineTimes;
}

export interface Simulated {
  readonly totalSeconds: number;
  /** The calls, in the order in which they are wanted. */
  readonly calls: readonly SimulatedCall[];
}

/**
 * Simulates a run. Each step waits for its dependencies, then for a free slot in the engine, which
 * it occupies even while its calls wait for the rate limits.
 */
export const simulate = (steps: readonly PlannedStep[], options: SimulationOptions): Simulated => {
  const timeline = new Timeline();
  const service = new SimulatedService(options, timeline);
  const slots = new EngineSlots<SimulatedCall>(timeline, options.parallel, options.engine);
  const order = stepOrder(steps);
  const start = (step: PlannedStep, cause: SimulatedCall | undefined): void => {
    const calls = options.callsOf(step);
    slots.run(cause, calls.length > 0, (reason, release) => {
      service.make(step, calls, reason, (last) => {
        release(last);
        for (const next of order.ended(step)) start(next, last);
      });
    });
  };
  timeline.at(options.engine.startSeconds, () => {
    for (const step of order.first) start(step, undefined);
  });
  timeline.run();
  return { totalSeconds: timeline.now, calls: service.calls };
};
