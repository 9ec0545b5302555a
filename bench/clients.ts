import Bottleneck from "bottleneck";
import type { Clock } from "../provider/kernel/clock.js";
import { pacedCalls } from "../provider/pacing/pacer.js";
import type { Pace } from "../provider/service/pace.js";
import type { Plan } from "../provider/service/plans.js";
import type { HttpResponse } from "../provider/service/transport.js";

/** What a client knows from the start. A client that detects limits itself ignores this. */
interface GivenLimits {
  readonly clock: Clock;
  readonly tenant: string;
  readonly plan: Plan;
  /** Calls per second of the endpoint. */
  readonly rate: number;
  /** Calls that its bucket holds. */
  readonly burst: number;
}

/** One way to handle rate limits: decides when calls are made, on top of the same client. */
export interface RateLimitClient {
  readonly name: string;
  /** What it does, for the reader of the table. */
  readonly how: string;
  readonly pace: (given: GivenLimits) => Promise<Pace>;
}

const ours: RateLimitClient["pace"] = async ({ clock, tenant, plan, burst }) =>
  pacedCalls({ clock, tenant, plan, burst, share: 1 });

/** Increments happen every 250 ms, so its README asks for multiples of that. */
const beatMs = 250;

const reservoir: RateLimitClient["pace"] = async ({ rate, burst }) => {
  const interval = Math.ceil(1000 / rate / beatMs) * beatMs;
  const limiter = new Bottleneck({
    reservoir: burst,
    reservoirIncreaseAmount: Math.max(1, Math.floor((rate * interval) / 1000)),
    reservoirIncreaseInterval: interval,
    reservoirIncreaseMaximum: burst,
    maxConcurrent: 5,
    minTime: 250,
  });
  return (_endpoint, attempt) => limiter.schedule(attempt);
};

class Refused extends Error {
  constructor(readonly response: HttpResponse) {
    super("429");
  }
}

const retried: RateLimitClient["pace"] = async () => {
  const { default: pRetry } = await import("p-retry");
  return async (_endpoint, attempt) => {
    const once = async (): Promise<HttpResponse> => {
      const response = await attempt();
      if (response.status === 429) throw new Refused(response);
      return response;
    };
    try {
      return await pRetry(once);
    } catch (error) {
      if (error instanceof Refused) return error.response;
      throw error;
    }
  };
};

/** The compared clients, ours first. */
export const clients: readonly RateLimitClient[] = [
  {
    name: "pulumi-conversation",
    how: "knows the rate and the burst, learns from a 429",
    pace: ours,
  },
  {
    name: "bottleneck reservoir",
    how: "reservoirIncrease as in its README; knows the rate and the burst",
    pace: reservoir,
  },
  { name: "p-retry", how: "its defaults: 10 retries after 1, 2, 4, … 512 s", pace: retried },
];
