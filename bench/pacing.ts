import Bottleneck from "bottleneck";
import { textTable } from "../cli/terminal/columns.js";
import { pacedCalls } from "../provider/pacing/pacer.js";
import { conversationLimits, type EndpointLimit } from "../provider/pacing/plan-rates.js";
import { plans } from "../provider/service/plans.js";
import type { HttpResponse } from "../provider/service/transport.js";
import { TrueBucket } from "./true-bucket.js";
import { VirtualTime } from "./virtual-time.js";

type Attempt = () => Promise<HttpResponse>;

/** Decides when a call is made, and how often. */
type Client = (attempt: Attempt) => Promise<HttpResponse>;

type OpenClient = (limit: EndpointLimit, clock: VirtualTime) => Promise<Client>;

const endpoint = { method: "POST", template: "/channels" } as const;

const ours: OpenClient = async (limit, clock) => {
  const pace = pacedCalls({
    clock,
    tenant: "bench",
    share: 1,
    limits: () => ({ standard: limit }),
  });
  return (attempt) => pace(endpoint, attempt);
};

/** Increments happen every 250 ms, so the README asks for multiples of that. */
const beatMs = 250;

const reservoir: OpenClient = async ({ rate, burst }) => {
  const interval = Math.ceil(1000 / rate / beatMs) * beatMs;
  const limiter = new Bottleneck({
    reservoir: burst,
    reservoirIncreaseAmount: Math.max(1, Math.floor((rate * interval) / 1000)),
    reservoirIncreaseInterval: interval,
    reservoirIncreaseMaximum: burst,
    maxConcurrent: 5,
    minTime: 250,
  });
  return (attempt) => limiter.schedule(attempt);
};

const retried: OpenClient = async () => {
  const { default: pRetry } = await import("p-retry");
  return (attempt) =>
    pRetry(async () => {
      const response = await attempt();
      if (response.status === 429) throw new Error("429");
      return response;
    });
};

const clients: Readonly<Record<string, OpenClient>> = {
  "pulumi-conversation": ours,
  "bottleneck reservoir": reservoir,
  "p-retry": retried,
};

/** A service on the other side of a country. */
const roundTripMs = 80;
const jitterMs = 20;

/** Calls in progress at a time: as many as the engine makes on two cores. */
const inFlight = 8;

/** The same numbers from 0 to 1 in every run, evenly spread (Weyl). */
const series = (): (() => number) => {
  let state = 0;
  return () => {
    state = (state + Math.SQRT2) % 1;
    return state;
  };
};

/** Runs `count` jobs, `most` of them at a time. */
export const inSlots = async (
  count: number,
  most: number,
  job: () => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const slot = async (): Promise<void> => {
    while (next++ < count) await job();
  };
  await Promise.all(Array.from({ length: most }, slot));
};

/** A bucket, the tokens in it at the start, and the calls on it. */
interface Case {
  readonly title: string;
  readonly limit: EndpointLimit;
  readonly tokens: number;
  readonly calls: number;
}

const full = plans.map((plan): Case => {
  const limit = conversationLimits(plan).standard;
  const title = `${plan}: ${limit.rate}/s, burst ${limit.burst}`;
  return { title, limit, tokens: limit.burst, calls: 200 };
});
const { standard: limit } = conversationLimits("enterprise");
const cases = [...full, { title: "enterprise, used up", limit, tokens: 0, calls: 50 }];

/** Makes all calls of a case in virtual time; gives its outcome, such as `×1.002, 2 refused`. */
const runCase = async ({ limit, tokens, calls }: Case, open: OpenClient): Promise<string> => {
  const clock = new VirtualTime();
  const restore = clock.install();
  try {
    const bucket = new TrueBucket(limit.rate, limit.burst, tokens);
    const random = series();
    const half = () => clock.sleep(roundTripMs / 2 + (random() - 0.5) * jitterMs);
    const attempt = async (): Promise<HttpResponse> => {
      await half();
      const isAccepted = bucket.take(clock.now());
      await half();
      return { status: isAccepted ? 201 : 429, headers: {}, text: "" };
    };
    const client = await open(limit, clock);
    await clock.during(inSlots(calls, inFlight, () => client(attempt).catch(() => undefined)));
    const failed = calls - bucket.accepted;
    if (failed > 0) return `${failed} OF ${calls} FAILED, ${bucket.refused} refused`;
    const overIdeal = (clock.now() / 1000) * (limit.rate / (calls - tokens));
    return `×${overIdeal.toFixed(3)}, ${bucket.refused} refused`;
  } finally {
    restore();
  }
};

/** Every client on every bucket, in virtual time. */
export const measurePacing = async (): Promise<readonly string[]> => {
  const rows: string[][] = [];
  for (const [name, open] of Object.entries(clients)) {
    const outcomes: string[] = [];
    for (const one of cases) outcomes.push(await runCase(one, open));
    rows.push([name, ...outcomes]);
  }
  const columns = cases.map(({ title, calls }) => `${title}: ${calls} calls`);
  return textTable(["Virtual time: over the ideal", ...columns], rows);
};
