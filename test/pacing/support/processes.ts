import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Result, Task } from "../../../bench/real-time.js";
import { TrueBucket } from "../../../bench/true-bucket.js";
import { closeServer, listenHere } from "../../support/loopback-server.js";
import { withSlowness } from "../../support/slowness.js";

const script = join(__dirname, "../../../dist/bench/real-time.js");

/** A service with one true bucket, in real time. */
export interface LimitedService {
  readonly url: string;
  readonly bucket: TrueBucket;
  /** Times of the accepted calls, in milliseconds. */
  readonly accepted: readonly number[];
  close(): Promise<void>;
}

export const limitedService = async (rate: number, burst: number): Promise<LimitedService> => {
  const bucket = new TrueBucket(rate, burst);
  const accepted: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const now = performance.now();
    const got = bucket.take(now);
    if (got) accepted.push(now);
    response.writeHead(got ? 200 : 429, { "content-type": "application/json" }).end("{}");
  });
  const origin = await listenHere(server);
  return {
    url: `${origin}/v3`,
    bucket,
    accepted,
    close: async () => {
      await closeServer(server);
    },
  };
};

/** A process that makes the calls of a task when it is told to. */
const startProcess = async (task: Task) => {
  const child = fork(script, { silent: true });
  const warnings = child.stderr ? text(child.stderr) : "";
  await once(child, "message");
  const ended = once(child, "exit");
  /** Returns its result; undefined where it was killed. */
  const makeCalls = async (): Promise<Result | undefined> => {
    child.send(task);
    const [result]: Result[] = await Promise.race([once(child, "message"), ended]);
    await ended;
    return child.exitCode === 0 ? result : undefined;
  };
  return { child, makeCalls, warnings };
};

/**
 * The longest that calls may take which ideally take so long, in real time: 5 % more instead of the 2 % that a
 * quiet machine keeps, and the first connections of four processes that start together.
 */
export const longestMs = (idealMs: number, slowness: number): number =>
  idealMs + (0.05 * idealMs + 800) * slowness;

/** Lets processes go together and waits for all; the slowness is the machine's meanwhile. */
export const together = async (
  tasks: readonly Task[],
  during: (processes: readonly ChildProcess[]) => Promise<void> = async () => {},
) => {
  const processes = await Promise.all(tasks.map(startProcess));
  const { result: results, slowness } = await withSlowness(async () => {
    const made = processes.map(({ makeCalls }) => makeCalls());
    await during(processes.map(({ child }) => child));
    return Promise.all(made);
  });
  return {
    results: results.flatMap((one) => one ?? []),
    warnings: (await Promise.all(processes.map(({ warnings }) => warnings))).join(""),
    slowness,
  };
};
