import {
  type Bucket,
  bucketAt,
  fullBucket,
  type RateLimit,
  takeToken,
} from "../../provider/pacing/bucket.js";
import { accountTitle } from "../../provider/service/settings.js";
import { endpointName } from "../../provider/service/transport.js";
import type { Phase, PlannedStep } from "./planned-steps.js";

/** What one endpoint has to bear. Times are in milliseconds since the start of the run. */
interface EndpointLoad {
  calls: number;
  readonly firstAt: number;
  lastAt: number;
  /** The bucket that pacing would use, full at first. */
  bucket: Bucket;
}

/** Assumed: the time from a call to its answer. */
const roundTripMs = 50;

/** Assumed: Pulumi's own time before its first step. */
const startMs = 2000;

/**
 * Simulates a run with the buckets that pacing uses. Each step waits for its dependencies, then for
 * one of the engine's slots (`--parallel`), which it occupies even while its calls wait for the
 * rate limits.
 *
 * @param limit of every endpoint
 * @returns the time of the whole run, and the load of each endpoint by its name, such as `GET
 * /channels`, with the profile if there is one
 */
export const simulateRun = (phases: readonly Phase[], parallel: number, limit: RateLimit) => {
  const loads = new Map<string, EndpointLoad>();
  const freeAt = Array.from({ length: parallel }, () => 0);

  /** Makes calls one after the other, and returns when the last one has ended. */
  const makeCalls = (
    { endpoint, times, isShared }: PlannedStep["calls"][number],
    account: string | undefined,
    wantedAt: number,
  ): number => {
    const tenant = account === undefined ? "" : ` (${accountTitle(account)})`;
    const name = `${endpointName(endpoint)}${tenant}`;
    const known = loads.get(name);
    if (known && isShared) return Math.max(known.lastAt, wantedAt);
    const bucket = fullBucket(wantedAt, limit);
    const load = known ?? { calls: 0, firstAt: wantedAt, lastAt: wantedAt, bucket };
    loads.set(name, load);
    let now = wantedAt;
    for (let n = 0; n < times; n += 1) {
      const { at, dueMs } = bucketAt(load.bucket, Math.max(load.bucket.at, now), limit);
      load.bucket = takeToken({ at, dueMs }, limit);
      now = at + Math.max(0, dueMs) + roundTripMs;
    }
    load.calls += times;
    load.lastAt = Math.max(load.lastAt, now);
    return now;
  };

  const runStep = ({ calls, account }: PlannedStep, readyAt: number): number => {
    if (calls.length === 0) return readyAt;
    const earliest = Math.min(...freeAt);
    let now = Math.max(readyAt, earliest);
    for (const each of calls) now = makeCalls(each, account, now);
    freeAt[freeAt.indexOf(earliest)] = now;
    return now;
  };

  const totalMs = phases.reduce((at, steps) => runPhase(steps, at, runStep), startMs);
  return { totalMs, loads };
};

/** A step, the number of those that it still waits for, and when it can begin as far as known. */
interface Waiting {
  readonly step: PlannedStep;
  missing: number;
  readyAt: number;
}

/**
 * Runs the steps of a phase in the order in which they can begin, and returns when the last one has
 * ended.
 *
 * @param runStep runs a step from a time on, and returns when it has ended
 */
const runPhase = (
  steps: Phase,
  startAt: number,
  runStep: (step: PlannedStep, readyAt: number) => number,
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
    const endedAt = runStep(next.step, next.readyAt);
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
