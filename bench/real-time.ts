import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { textTable } from "../cli/terminal/columns.js";
import { systemClock } from "../provider/kernel/clock.js";
import { pacedCalls, sharedBuckets } from "../provider/pacing/pacer.js";
import type { EndpointLimit } from "../provider/pacing/plan-rates.js";
import type { HttpResponse } from "../provider/service/transport.js";
import { TrueBucket } from "./true-bucket.js";

/** Calls of one endpoint that nobody else uses, by one or several processes. */
interface Case extends EndpointLimit {
  /** Calls of all processes together. */
  readonly calls: number;
  readonly processes: number;
  /** What the processes share the bucket through. */
  readonly through: "file" | "Redis";
}

/** The limits of the plans, two stacks on one machine, and two machines. */
const cases: readonly Case[] = [
  { rate: 0.16, burst: 1, calls: 9, processes: 1, through: "file" },
  { rate: 0.5, burst: 2, calls: 26, processes: 1, through: "file" },
  { rate: 1, burst: 30, calls: 80, processes: 1, through: "file" },
  { rate: 0.5, burst: 2, calls: 26, processes: 2, through: "file" },
  { rate: 1, burst: 30, calls: 80, processes: 2, through: "file" },
  { rate: 0.5, burst: 2, calls: 26, processes: 2, through: "Redis" },
  { rate: 1, burst: 30, calls: 80, processes: 2, through: "Redis" },
];

/** What one process does: its part of the calls of a case. */
export interface Task extends EndpointLimit {
  readonly url: string;
  readonly calls: number;
  readonly cacheFolder?: string;
  readonly redisUrl?: string | undefined;
  /** The process's wall clock is wrong by so much. */
  readonly skewMs?: number;
}

export interface Result {
  readonly accepted: number;
  readonly refused: number;
  readonly notices: readonly string[];
}

/** In a process of its own: makes all calls at once. */
const makeCalls = async (task: Task): Promise<Result> => {
  const { now } = Date;
  Date.now = () => now() + (task.skewMs ?? 0);
  const notices: string[] = [];
  const { origin, pathname: path } = new URL(task.url);
  const pool = new Pool(origin, { connections: 8 });
  const store = sharedBuckets({
    clock: systemClock,
    redisUrl: task.redisUrl,
    environment: { XDG_CACHE_HOME: task.cacheFolder },
    onNotice: (text) => notices.push(text),
  });
  const limits = () => ({ standard: task });
  const pace = pacedCalls({ clock: systemClock, tenant: task.url, share: 1, store, limits });
  const counts = { accepted: 0, refused: 0 };
  const call = async (): Promise<HttpResponse> => {
    const { statusCode: status, body } = await pool.request({ method: "POST", path });
    counts[status === 429 ? "refused" : "accepted"] += 1;
    return { status, headers: {}, text: await body.text() };
  };
  const endpoint = { method: "POST", template: "/channels" } as const;
  await Promise.all(Array.from({ length: task.calls }, () => pace(endpoint, call)));
  await Promise.all([pool.destroy(), store.close()]);
  return { ...counts, notices };
};

if (require.main === module) {
  process.once("message", async (task: Task) => {
    process.send?.(await makeCalls(task));
    process.disconnect();
  });
  process.send?.("ready");
}

/** Starts processes, and waits until they have loaded everything. */
const startProcesses = async (count: number): Promise<readonly ChildProcess[]> => {
  const children = Array.from({ length: count }, () => fork(__filename));
  await Promise.all(children.map((child) => once(child, "message")));
  return children;
};

/** A service on which each address has a bucket of its own, full at first. */
const startLimitedService = async () => {
  const buckets = new Map<string, TrueBucket>();
  const server = createServer((request, response) => {
    request.resume();
    const accepted = buckets.get(request.url ?? "")?.take(performance.now()) ?? false;
    response.writeHead(accepted ? 200 : 429, { "content-type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    addBucket: (rate: number, burst: number): string => {
      const path = `/${buckets.size}`;
      buckets.set(path, new TrueBucket(rate, burst));
      return `http://127.0.0.1:${port}${path}`;
    },
    close: () => server.close().closeAllConnections(),
  };
};

/** Lets the processes of a case begin together; gives a row of the table. */
const runCase = async (
  { rate, burst, calls, processes, through }: Case,
  children: readonly ChildProcess[],
  task: Pick<Task, "url" | "cacheFolder" | "redisUrl">,
): Promise<string[]> => {
  const start = performance.now();
  const refusals = children.map(async (child): Promise<number> => {
    child.send({ ...task, rate, burst, calls: calls / processes } satisfies Task);
    const [result]: Result[] = await once(child, "message");
    return result?.refused ?? 0;
  });
  // Of the process that had most of them.
  const refused = Math.max(...(await Promise.all(refusals)));
  const overIdeal = ((performance.now() - start) / 1000) * (rate / (calls - burst));
  const sharing = processes > 1 ? `, ${processes} processes through ${through}` : "";
  const title = `${rate}/s, burst ${burst}${sharing}`;
  return [title, `${calls}`, `×${overIdeal.toFixed(3)}`, `${refused}`];
};

/**
 * Measures all cases at once, about a minute, each with a file or a Redis key of its own.
 *
 * @param redisUrl if omitted, the cases that need Redis are left out
 */
export const measureRealTime = async (redisUrl: string | undefined): Promise<readonly string[]> => {
  const service = await startLimitedService();
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  try {
    const possible = cases.filter(({ through }) => through === "file" || redisUrl !== undefined);
    const started = await Promise.all(
      possible.map(async (one) => ({ one, children: await startProcesses(one.processes) })),
    );
    const rows = started.map(({ one, children }, place) =>
      runCase(one, children, {
        url: service.addBucket(one.rate, one.burst),
        cacheFolder: join(folder, `${place}`),
        ...(one.through === "Redis" ? { redisUrl } : {}),
      }),
    );
    const heading = ["Real time, loopback", "calls", "over the ideal", "refused"];
    return textTable(heading, await Promise.all(rows));
  } finally {
    service.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
