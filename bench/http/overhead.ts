import { Pool } from "undici";
import { systemClock } from "../../provider/kernel/clock.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { connectService } from "../../provider/service/connect.js";
import { setUpOperation } from "../../provider/service/http/operations.js";
import { readSettings } from "../../provider/service/settings/settings.js";
import type { OverheadFigure, Speed } from "../figures.js";
import { kind } from "../pacing/session.js";
import { startChildServer } from "./loopback-servers.js";

const warmUp = 10_000;
const requests = 40_000;
const inFlight = 20;
const rounds = 2;

type Call = () => Promise<unknown>;

const repeat = async (count: number, call: Call): Promise<void> => {
  let left = count;
  const slot = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, slot));
};

const speedOf = async (call: Call): Promise<Speed> => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await repeat(requests, call);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    requestsPerSecond: requests / seconds,
    cpuMicrosecondsPerRequest: (user + system) / requests,
  };
};

/** The best of several turns, taken alternately: other work on the machine only ever slows down. */
const compared = async (calls: readonly [Call, Call]): Promise<readonly [Speed, Speed]> => {
  for (const call of calls) await repeat(warmUp, call);
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
  const unlimited = 1e9;
  const pace = pacedCalls({
    clock: systemClock,
    tenant: origin,
    plan: "enterprise",
    burst: unlimited,
    share: 1,
    rates: () => unlimited,
  });
  return connectService(settings, { pace });
};

/** Calls a server in another process over loopback: through the whole client, and with its HTTP library alone. */
export const measureOverhead = async (): Promise<OverheadFigure> => {
  const server = await startChildServer("instant");
  const service = connected(server.origin);
  const bare = new Pool(server.origin, { connections: 8, pipelining: 1, allowH2: false });
  try {
    const read = setUpOperation(kind, "get");
    const throughClient: Call = () => service.request(read, { id: "5f2c1d9e-bench" });
    const throughPool: Call = async () => {
      const { body } = await bare.request({ method: "GET", path: "/v3/authentications/bench" });
      return JSON.parse(await body.text());
    };
    const [client, pool] = await compared([throughClient, throughPool]);
    const cpuOverPool = client.cpuMicrosecondsPerRequest / pool.cpuMicrosecondsPerRequest;
    return { requests, inFlight, client, pool, cpuOverPool };
  } finally {
    await bare.destroy();
    await service.close();
    server.stop();
  }
};
