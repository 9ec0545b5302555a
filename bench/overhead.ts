import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { textTable } from "../cli/terminal/columns.js";
import { systemClock } from "../provider/kernel/clock.js";
import { pacedCalls, unlimitedBurst } from "../provider/pacing/pacer.js";
import { authentication } from "../provider/resources/authentication.js";
import { connectService } from "../provider/service/connect.js";
import { setUpOperation } from "../provider/service/operations.js";
import { readSettings } from "../provider/service/settings.js";
import { inSlots } from "./pacing.js";

/** The answer to every call: an object and a token in one. */
const answer = JSON.stringify({
  id: "5f2c1d9e-bench",
  name: "bench",
  access_token: "bench",
  expires_in: 3600,
});

/** In a process of its own: answers at once until the parent process ends or disconnects. */
const serveParent = (): void => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
};

if (require.main === module) serveParent();

const warmUp = 10_000;
const requests = 40_000;
const inFlight = 20;
const rounds = 3;

type Call = () => Promise<unknown>;

/** Microseconds of CPU that a call costs this process. */
const measureCost = async (call: Call): Promise<number> => {
  const before = process.cpuUsage();
  await inSlots(requests, inFlight, call);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
};

/** The least of several turns, taken alternately: other work on the machine only ever adds. */
const compareCosts = async (one: Call, other: Call): Promise<readonly [number, number]> => {
  for (const call of [one, other]) await inSlots(warmUp, inFlight, call);
  const turns: [number, number][] = [];
  for (let round = 0; round < rounds; round++)
    turns.push([await measureCost(one), await measureCost(other)]);
  return [Math.min(...turns.map(([cost]) => cost)), Math.min(...turns.map(([, cost]) => cost))];
};

/** The whole client, with a pacer that never has to wait. */
const connect = (origin: string) => {
  const environment = {
    CONVERSATION_BASE_URL: `${origin}/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/token`,
    CONVERSATION_CLIENT_ID: "bench",
    CONVERSATION_CLIENT_SECRET: "no-real-secret",
  };
  const settings = readSettings({ environment, config: () => undefined });
  const limits = { tenant: origin, burst: unlimitedBurst, share: 1 };
  return connectService(settings, { pace: pacedCalls({ clock: systemClock, ...limits }) });
};

/** Calls a server in another process over loopback: through the whole client, and with its HTTP library alone. */
export const measureOverhead = async (): Promise<readonly string[]> => {
  const child = fork(__filename);
  const [port]: unknown[] = await once(child, "message");
  const origin = `http://127.0.0.1:${port}`;
  const service = connect(origin);
  const direct = new Pool(origin, { connections: 8, pipelining: 1, allowH2: false });
  try {
    const read = setUpOperation(authentication, "get");
    const throughClient: Call = () => service.request(read, { id: "5f2c1d9e-bench" });
    const throughPool: Call = async () => {
      const { body } = await direct.request({ method: "GET", path: "/v3/authentications/bench" });
      return JSON.parse(await body.text());
    };
    const [client, pool] = await compareCosts(throughClient, throughPool);
    const row = (name: string, cost: number) => [
      name,
      cost.toFixed(1),
      `×${(cost / pool).toFixed(2)}`,
    ];
    return textTable(
      ["Loopback, no waiting", "CPU µs each", "over the library"],
      [row("whole client, paced", client), row("undici Pool.request alone", pool)],
    );
  } finally {
    await direct.destroy();
    await service.close();
    child.disconnect();
  }
};
