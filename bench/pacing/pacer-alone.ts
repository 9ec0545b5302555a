import { Pool } from "undici";
import { systemClock } from "../../provider/kernel/clock.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import type { AloneFigure } from "../figures.js";
import { startChildServer } from "../http/loopback-servers.js";

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
    rates: () => rate,
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
 * which only the rate is known: all cases at once, about a minute.
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
