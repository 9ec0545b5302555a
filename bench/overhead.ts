import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { systemClock } from "../provider/kernel/clock.js";
import { pacedCalls, unlimitedBurst } from "../provider/pacing/pacer.js";
import { connectService } from "../provider/service/connect.js";
import { setUpOperation } from "../provider/service/operations.js";
import { readSettings } from "../provider/service/settings.js";
import type { HttpResponse } from "../provider/service/transport.js";
import type { AloneFigure, OverheadFigure, Speed } from "./figures.js";
import { inSlots, kind } from "./session.js";
import { TrueBucket } from "./true-bucket.js";

/** The answer to every call: an object and a token in one. */
const answer = JSON.stringify({
  id: "5f2c1d9e-bench",
  name: "bench",
  access_token: "bench",
  expires_in: 3600,
});

/** Does as little as possible. */
const instant: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(answer);
};

/** Each address `/rate/burst/…` is an endpoint with a bucket that is full at first. */
const limited = (): RequestListener => {
  const buckets = new Map<string, TrueBucket>();
  return (request, response) => {
    request.resume();
    const path = request.url ?? "";
    const [, rate = 0, burst = 0] = path.split("/").map(Number);
    const bucket = buckets.get(path) ?? new TrueBucket(rate, burst);
    buckets.set(path, bucket);
    const accepted = bucket.take(performance.now());
    response.writeHead(accepted ? 200 : 429, { "content-type": "application/json" }).end("{}");
  };
};

const listeners = { instant: () => instant, limited } as const;

type ServerName = keyof typeof listeners;

/**
 * Starts the other side of a measurement in a process of its own: `instant` answers at once,
 * `limited` keeps to buckets.
 */
const startChildServer = async (name: ServerName) => {
  const child = fork(__filename, [name]);
  const [port]: unknown[] = await once(child, "message");
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
};

/** In the process of a server: serves until the parent process ends or disconnects. */
const serveParent = (name: string | undefined): void => {
  const [, listener] = Object.entries(listeners).find(([each]) => each === name) ?? [];
  if (!listener) throw new Error(`There is no server ${name}.`);
  const server = createServer(listener());
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
};

if (require.main === module) serveParent(process.argv[2]);

/** Calls per second, and calls beyond the burst: an ideal of 20 to 56 seconds each. */
const paces = [
  { rate: 0.16, beyond: 9 },
  { rate: 0.5, beyond: 25 },
  { rate: 1, beyond: 50 },
  { rate: 5, beyond: 200 },
  { rate: 30, beyond: 600 },
] as const;

type AloneCase = Pick<AloneFigure, "rate" | "burst"> & { readonly beyond: number };

/** A burst of one cannot be kept to at high rates: what comes late by a part of the period is lost. */
const mostForSingle = 1;

const cases: readonly AloneCase[] = paces.flatMap((pace) =>
  [1, 2, 10]
    .filter((burst) => burst > 1 || pace.rate <= mostForSingle)
    .map((burst) => ({ ...pace, burst })),
);

const endpoint = { method: "POST", template: "/channels" } as const;

const measured = async (pool: Pool, { rate, burst, beyond }: AloneCase): Promise<AloneFigure> => {
  let refused = 0;
  const path = `/${rate}/${burst}`;
  const call = async (): Promise<HttpResponse> => {
    const { statusCode: status, body } = await pool.request({ method: "POST", path });
    if (status === 429) refused += 1;
    return { status, headers: {}, text: await body.text() };
  };
  const pace = pacedCalls({
    clock: systemClock,
    tenant: `${rate} ${burst}`,
    plan: "enterprise",
    share: 1,
    limits: () => ({ rate, burst }),
  });
  const calls = burst + beyond;
  const start = performance.now();
  await Promise.all(Array.from({ length: calls }, () => pace(endpoint, call)));
  const wallSeconds = (performance.now() - start) / 1000;
  const idealSeconds = beyond / rate;
  const overIdeal = wallSeconds / idealSeconds;
  return { rate, burst, calls, idealSeconds, wallSeconds, overIdeal, refused };
};

/**
 * This package's pacer in real time, over loopback, against buckets that nobody else uses and of
 * which rate and burst are known: all cases at once, about a minute.
 */
export const measurePacerAlone = async (): Promise<AloneFigure[]> => {
  const server = await startChildServer("limited");
  const pool = new Pool(server.origin, { connections: 8 });
  try {
    // Connections and code as they are after the call for a token, which comes first in every run.
    await measured(pool, { rate: 1000, burst: 100, beyond: 100 });
    return await Promise.all(cases.map((one) => measured(pool, one)));
  } finally {
    await pool.destroy();
    server.stop();
  }
};

const warmUp = 10_000;
const requests = 40_000;
const inFlight = 20;
const rounds = 2;

type Call = () => Promise<unknown>;

const speedOf = async (call: Call): Promise<Speed> => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await inSlots(requests, inFlight, call);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    requestsPerSecond: requests / seconds,
    cpuMicrosecondsPerRequest: (user + system) / requests,
  };
};

/** The best of several turns, taken alternately: other work on the machine only ever slows down. */
const compared = async (calls: readonly [Call, Call]): Promise<readonly [Speed, Speed]> => {
  for (const call of calls) await inSlots(warmUp, inFlight, call);
  const turns: (readonly [Speed, Speed])[] = [];
  for (let round = 0; round < rounds; round++)
    turns.push([await speedOf(calls[0]), await speedOf(calls[1])]);
  const best = (which: 0 | 1): Speed =>
    turns
      .map((turn) => turn[which])
      .reduce((a, b) => (a.cpuMicrosecondsPerRequest <= b.cpuMicrosecondsPerRequest ? a : b));
  return [best(0), best(1)];
};

/** The whole client, with a pacer that never has to wait. */
const connected = (origin: string) => {
  const environment = {
    CONVERSATION_BASE_URL: `${origin}/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/token`,
    CONVERSATION_CLIENT_ID: "bench",
    CONVERSATION_CLIENT_SECRET: "no-real-secret",
  };
  const settings = readSettings({ environment, config: () => undefined });
  const pace = pacedCalls({
    clock: systemClock,
    tenant: origin,
    plan: "enterprise",
    burst: unlimitedBurst,
    share: 1,
  });
  return connectService(settings, { pace });
};

/** Calls a server in another process over loopback: through the whole client, and with its HTTP library alone. */
export const measureOverhead = async (): Promise<OverheadFigure> => {
  const server = await startChildServer("instant");
  const service = connected(server.origin);
  const direct = new Pool(server.origin, { connections: 8, pipelining: 1, allowH2: false });
  try {
    const read = setUpOperation(kind, "get");
    const throughClient: Call = () => service.request(read, { id: "5f2c1d9e-bench" });
    const throughPool: Call = async () => {
      const { body } = await direct.request({ method: "GET", path: "/v3/authentications/bench" });
      return JSON.parse(await body.text());
    };
    const [client, pool] = await compared([throughClient, throughPool]);
    const cpuOverPool = client.cpuMicrosecondsPerRequest / pool.cpuMicrosecondsPerRequest;
    return { requests, inFlight, client, pool, cpuOverPool };
  } finally {
    await direct.destroy();
    await service.close();
    server.stop();
  }
};
