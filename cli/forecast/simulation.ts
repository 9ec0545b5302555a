import {
  type Bucket,
  bucketAt,
  fullBucket,
  type RateLimit,
  takeToken,
} from "../../provider/pacing/bucket.js";
import { accountTitle } from "../../provider/service/settings.js";
import { endpointName } from "../../provider/service/transport.js";
import type { PlannedStep } from "./planned-steps.js";

/** What one endpoint has to bear. Times are in seconds since the start of the run. */
interface EndpointLoad {
  calls: number;
  readonly firstAt: number;
  lastAt: number;
  /** The bucket that pacing would use, full at first. */
  bucket: Bucket;
}

/** Assumed: the time from a call to its answer. */
const roundTripSeconds = 0.05;

/** The service of a simulation, with one limit for all endpoints: every call waits for its bucket and takes one round trip. */
class SimulatedService {
  /** By endpoint, such as `GET /channels`, with the profile if there is one. */
  readonly endpoints = new Map<string, EndpointLoad>();

  constructor(readonly limit: RateLimit) {}

  /** Makes calls one after the other, and returns when the last one has ended. */
  make(calls: PlannedStep["calls"][number], wantedAt: number): number {
    const { endpoint, profile, times, isShared } = calls;
    const tenant = profile === undefined ? "" : ` (${accountTitle(profile)})`;
    const name = `${endpointName(endpoint)}${tenant}`;
    const { limit } = this;
    const known = this.endpoints.get(name);
    if (known && isShared) return Math.max(known.lastAt, wantedAt);
    const bucket = fullBucket(wantedAt * 1000, limit);
    const load = known ?? { calls: 0, firstAt: wantedAt, lastAt: wantedAt, bucket };
    this.endpoints.set(name, load);
    let now = wantedAt;
    for (let n = 0; n < times; n += 1) {
      const { at, dueMs } = bucketAt(load.bucket, Math.max(load.bucket.at, now * 1000), limit);
      load.bucket = takeToken({ at, dueMs }, limit);
      load.calls += 1;
      now = (at + Math.max(0, dueMs)) / 1000 + roundTripSeconds;
    }
    load.lastAt = Math.max(load.lastAt, now);
    return now;
  }
}

/** A step, and when it can begin as far as known. */
interface Waiting {
  readonly step: PlannedStep;
  /** Steps that it still waits for. */
  missing: number;
  readyAt: number;
}

/**
 * Runs the steps of a phase in the order in which they can begin.
 *
 * @param run runs a step from a time on, and returns when it has ended
 * @returns when the last one has ended
 */
const runPhase = (
  steps: readonly PlannedStep[],
  startAt: number,
  run: (step: PlannedStep, readyAt: number) => number,
): number => {
  const dependents = new Map<string, Waiting[]>(steps.map(({ urn }) => [urn, []]));
  const all = steps.map((step): Waiting => {
    const before = [...new Set(step.after)].filter((urn) => dependents.has(urn));
    const waiting = { step, missing: before.length, readyAt: startAt };
    for (const urn of before) dependents.get(urn)?.push(waiting);
    return waiting;
  });
  const ready = all.filter(({ missing }) => missing === 0);
  let lastAt = startAt;
  for (let next = ready.shift(); next; next = ready.shift()) {
    const endedAt = run(next.step, next.readyAt);
    lastAt = Math.max(lastAt, endedAt);
    for (const other of dependents.get(next.step.urn) ?? []) {
      other.missing -= 1;
      other.readyAt = Math.max(other.readyAt, endedAt);
      if (other.missing > 0) continue;
      const place = ready.findLastIndex(({ readyAt }) => readyAt <= other.readyAt) + 1;
      ready.splice(place, 0, other);
    }
  }
  return lastAt;
};

/** Assumed: Pulumi's own time before its first step. */
const startSeconds = 2;

/**
 * Simulates a run with the buckets that pacing uses. Each step waits for its dependencies, then for
 * one of the engine's slots (`--parallel`), which it occupies even while its calls wait for the
 * rate limits.
 */
export const simulateRun = (steps: readonly PlannedStep[], parallel: number, limit: RateLimit) => {
  const service = new SimulatedService(limit);
  const freeAt = Array.from({ length: parallel }, () => 0);
  const run = ({ calls }: PlannedStep, readyAt: number): number => {
    if (calls.length === 0) return readyAt;
    const earliest = Math.min(...freeAt);
    let now = Math.max(readyAt, earliest);
    for (const each of calls) now = service.make(each, now);
    freeAt[freeAt.indexOf(earliest)] = now;
    return now;
  };
  const phases = Map.groupBy(steps, ({ phase }) => phase);
  let totalSeconds = startSeconds;
  for (const phase of [...phases.keys()].sort((a, b) => a - b))
    totalSeconds = runPhase(phases.get(phase) ?? [], totalSeconds, run);
  return { totalSeconds, endpoints: service.endpoints };
};
