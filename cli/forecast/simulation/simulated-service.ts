import { endpointName } from "../../../provider/service/http/operations.js";
import type { Timeline } from "./engine.js";
import type { PlannedCalls } from "./step-calls.js";
import type { PlannedStep } from "./workload.js";

/** The rate limit of one endpoint. */
export interface SimulatedLimit {
  /** Calls per second. */
  readonly rate: number;
  /** Calls that a full bucket takes at once. */
  readonly burst: number;
}

/**
 * The bucket of one endpoint over time; full at the start. For a call that is wanted at a time it
 * gives the time at which it may go, in seconds. Calls must come in the order of time.
 */
export const rateBucket = ({ rate, burst }: SimulatedLimit): ((now: number) => number) => {
  const beforehand = (Math.max(1, burst) - 1) / rate;
  let fullAt = 0;
  return (now) => {
    const goesAt = Math.max(now, fullAt - beforehand);
    fullAt = Math.max(fullAt, goesAt) + 1 / rate;
    return goesAt;
  };
};

/** A call in simulated time, in seconds since the start. */
export interface SimulatedCall {
  readonly step: PlannedStep;
  /** Such as `POST /channels`, with the profile where there is one. */
  readonly endpoint: string;
  readonly wantedAt: number;
  /** Later than `wantedAt` where the call waited for its rate. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The call without which this one would have gone earlier. */
  readonly cause?: SimulatedCall;
}

type Wake = (last: SimulatedCall) => void;

/** A call that several steps wait for. */
class AwaitedCall {
  ended: SimulatedCall | undefined;
  readonly #waiting: Wake[] = [];

  wait(cause: SimulatedCall | undefined, next: Wake): void {
    // Found in the list long ago: no reason for what comes now.
    if (this.ended) next(cause ?? this.ended);
    else this.#waiting.push(next);
  }

  end(call: SimulatedCall): void {
    this.ended = call;
    for (const wake of this.#waiting) wake(call);
  }
}

/** Calls that several steps wait for together: the first of them, or all. */
class SharedCalls {
  readonly #first = new AwaitedCall();
  readonly #last = new AwaitedCall();
  #served = 0;
  #rest: "not wanted" | "wanted" | "runs" = "not wanted";

  /** @param send makes so many calls in a row */
  constructor(
    readonly calls: PlannedCalls,
    readonly send: (times: number, cause: SimulatedCall | undefined, done: Wake) => void,
  ) {}

  start(cause: SimulatedCall | undefined): void {
    this.send(1, cause, (call) => {
      if (this.calls.times === 1) this.#last.ended = call;
      this.#first.end(call);
      if (this.calls.times === 1) this.#last.end(call);
      else this.#sendRest();
    });
  }

  join(cause: SimulatedCall | undefined, next: Wake): void {
    this.#served += 1;
    const needsFirst = this.#served <= (this.calls.servedByFirst ?? 0);
    (needsFirst ? this.#first : this.#last).wait(cause, next);
    if (needsFirst || this.#rest === "runs" || this.#last.ended) return;
    this.#rest = "wanted";
    this.#sendRest();
  }

  #sendRest(): void {
    if (this.#rest !== "wanted" || !this.#first.ended) return;
    this.#rest = "runs";
    this.send(this.calls.times - 1, this.#first.ended, (last) => this.#last.end(last));
  }
}

/** How the service answers. */
export interface ServiceModel {
  readonly roundTripSeconds: number;
  readonly limitOf: (calls: PlannedCalls) => SimulatedLimit;
}

/** `GET /channels`, or `GET /channels (profile staging)`: each has a bucket of its own. */
const bucketName = ({ endpoint, profile }: PlannedCalls): string =>
  `${endpointName(endpoint)}${profile === undefined ? "" : ` (profile ${profile})`}`;

interface Bucket {
  readonly take: (now: number) => number;
  last?: SimulatedCall;
}

/** The service of a simulation: every call waits for its bucket and takes one round trip. */
export class SimulatedService {
  /** In the order in which they were sent. */
  readonly calls: SimulatedCall[] = [];
  readonly #buckets = new Map<string, Bucket>();
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
    const shared =
      known ??
      new SharedCalls(calls, (times, why, done) => this.#repeat(step, calls, times, why, done));
    this.#shared.set(name, shared);
    shared.join(cause, next);
    if (!known) shared.start(cause);
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

  #send(step: PlannedStep, calls: PlannedCalls, cause: SimulatedCall | undefined): SimulatedCall {
    const endpoint = bucketName(calls);
    const bucket = this.#buckets.get(endpoint) ?? { take: rateBucket(this.model.limitOf(calls)) };
    this.#buckets.set(endpoint, bucket);
    const wantedAt = this.timeline.now;
    const sentAt = bucket.take(wantedAt);
    const why = sentAt > wantedAt ? bucket.last : cause;
    const endedAt = sentAt + this.model.roundTripSeconds;
    const call = { step, endpoint, wantedAt, sentAt, endedAt, ...(why ? { cause: why } : {}) };
    bucket.last = call;
    this.calls.push(call);
    return call;
  }
}
