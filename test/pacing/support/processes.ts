import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { TrueBucket } from "../../../bench/true-bucket.js";
import { closeServer, listenHere } from "../../support/loopback-server.js";
import { withSlowness } from "../../support/slowness.js";
import type { Result, Task } from "./paced-process.js";

const script = join(__dirname, "../../../dist/test/pacing/support/paced-process.js");

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

export interface PacedProcess {
  go(): void;
  kill(): void;
  /** Its result; undefined where it was killed. */
  readonly result: Promise<Result | undefined>;
  /** What it wrote where warnings go. */
  readonly warnings: () => string;
}

const resultOf = async (child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>) => {
  const line = await lines.next();
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return line.done ? undefined : (JSON.parse(line.value) as Result);
};

/** Starts a process and waits until it is ready to go. */
const pacedProcess = async (task: Task) => {
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: "pipe" });
  let warnings = "";
  child.stderr.on("data", (chunk) => {
    warnings += String(chunk);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.value !== "ready") throw new Error(`The process did not start: ${warnings}`);
  const paced: PacedProcess = {
    go: () => void child.stdin.write("go\n"),
    kill: () => void child.kill("SIGKILL"),
    result: resultOf(child, lines),
    warnings: () => warnings,
  };
  return paced;
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
  during: (processes: readonly PacedProcess[]) => Promise<void> = async () => {},
) => {
  const processes = await Promise.all(tasks.map((task) => pacedProcess(task)));
  const { result: results, slowness } = await withSlowness(async () => {
    for (const one of processes) one.go();
    await during(processes);
    return Promise.all(processes.map(({ result }) => result));
  });
  return {
    results: results.flatMap((one) => one ?? []),
    warnings: processes.map((one) => one.warnings()).join(""),
    slowness,
  };
};
