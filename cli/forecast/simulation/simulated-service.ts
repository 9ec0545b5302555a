import { endpointName } from "../../../provider/service/http/operations.js";
import type { Timeline } from "../timeline.js";
import { type Limit, RateBucket } from "./rate-bucket.js";
import type { PlannedCalls } from "./step-calls.js";
import type { Step } from "./workload.js";

/** A call in simulated time, in seconds since the start. */
export interface SimulatedCall {
  readonly step: Step;
  /** Such as `POST /channels`, with the profile where there is one. */
  readonly endpoint: string;
  readonly wantedAt: number;
  /** Later than `wantedAt` where the call waited for its rate. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The call without which this one would have gone earlier. */
  readonly cause?: SimulatedCall;
}

/** How the service answers. */
export interface ServiceModel {
  readonly roundTripSeconds: number;
  readonly limitOf: (calls: PlannedCalls) => Limit;
}

/** `GET /channels`, or `GET /channels (profile staging)`: each has a bucket of its own. */
const bucketName = ({ endpoint, profile }: PlannedCalls): string =>
  `${endpointName(endpoint)}${profile === undefined ? "" : ` (profile ${profile})`}`;

type Wake = (last: SimulatedCall) => void;

/** Calls that several steps wait for together: the first of them, or all. */
class SharedCalls {
  readonly #wait = { first: [] as Wake[], rest: [] as Wake[] };
  #first: SimulatedCall | undefined;
  #last: SimulatedCall | undefined;
  #served = 0;
  #restRuns = false;

  /** @param send makes so many calls in a row */
  constructor(
    readonly calls: PlannedCalls,
    readonly send: (times: number, cause: SimulatedCall | undefined, done: Wake) => void,
  ) {}

  start(cause: SimulatedCall | undefined): void {
    this.send(1, cause, (call) => {
      this.#first = call;
      if (this.calls.times === 1) this.#last = call;
      for (const wake of this.#wait.first) wake(call);
      if (this.#last) for (const wake of this.#wait.rest) wake(call);
      else if (this.#wait.rest.length > 0) this.#sendRest(call);
    });
  }

  join(servedByFirst: number, cause: SimulatedCall | undefined, next: Wake): void {
    this.#served += 1;
    const needsFirst = this.#served <= servedByFirst;
    const done = needsFirst ? this.#first : this.#last;
    // Found in the list long ago: no reason for what comes now.
    if (done) next(cause ?? done);
    else this.#wait[needsFirst ? "first" : "rest"].push(next);
    if (!needsFirst && this.#first && !done) this.#sendRest(this.#first);
  }

  #sendRest(cause: SimulatedCall): void {
    if (this.#restRuns) return;
    this.#restRuns = true;
    this.send(this.calls.times - 1, cause, (last) => {
      this.#last = last;
      for (const wake of this.#wait.rest) wake(last);
    });
  }
}

interface KnownBucket {
  readonly bucket: RateBucket;
  last?: SimulatedCall;
}

/** The service of a simulation: every call waits for its bucket and takes one round trip. */
export class SimulatedService {
  readonly calls: SimulatedCall[] = [];
  readonly #options: ServiceModel;
  readonly #timeline: Timeline;
  readonly #buckets = new Map<string, KnownBucket>();
  readonly #shared = new Map<string, SharedCalls>();

  constructor(options: ServiceModel, timeline: Timeline) {
    this.#options = options;
    this.#timeline = timeline;
  }

  /** Makes the calls of a step, one after the other. */
  make(
    step: Step,
    calls: readonly PlannedCalls[],
    cause: SimulatedCall | undefined,
    done: (last: SimulatedCall | undefined) => void,
  ): void {
    const [first, ...rest] = calls;
    if (!first) {
      done(cause);
      return;
    }
    const next = (last: SimulatedCall) => this.make(step, rest, last, done);
    if (first.sharedAs === undefined) this.#repeat(step, first, first.times, cause, next);
    else this.#share(step, first, first.sharedAs, cause, next);
  }

  #share(
    step: Step,
    calls: PlannedCalls,
    name: string,
    cause: SimulatedCall | undefined,
    next: (last: SimulatedCall) => void,
  ): void {
    const known = this.#shared.get(name);
    const shared =
      known ??
      new SharedCalls(calls, (times, why, done) => this.#repeat(step, calls, times, why, done));
    this.#shared.set(name, shared);
    shared.join(calls.servedByFirst ?? 0, cause, next);
    if (!known) shared.start(cause);
  }

  #repeat(
    step: Step,
    calls: PlannedCalls,
    times: number,
    cause: SimulatedCall | undefined,
    next: (last: SimulatedCall) => void,
  ): void {
    const call = this.#send(step, calls, cause);
    this.#timeline.at(call.endedAt, () => {
      if (times > 1) this.#repeat(step, calls, times - 1, call, next);
      else next(call);
    });
  }

  #send(step: Step, calls: PlannedCalls, cause: SimulatedCall | undefined): SimulatedCall {
    const known = this.#bucketOf(calls);
    const wantedAt = this.#timeline.now;
    const sentAt = known.bucket.take(wantedAt);
    const why = sentAt > wantedAt ? known.last : cause;
    const call: SimulatedCall = {
      step,
      endpoint: bucketName(calls),
      wantedAt,
      sentAt,
      endedAt: sentAt + this.#options.roundTripSeconds,
      ...(why ? { cause: why } : {}),
    };
    known.last = call;
    this.calls.push(call);
    return call;
  }

  #bucketOf(calls: PlannedCalls): KnownBucket {
    const name = bucketName(calls);
    const known = this.#buckets.get(name) ?? {
      bucket: new RateBucket(this.#options.limitOf(calls)),
    };
    this.#buckets.set(name, known);
    return known;
  }
}
