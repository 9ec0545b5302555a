import { runtimeOperations } from "../service/operations.js";
import type { Plan } from "../service/plans.js";
import { endpointName } from "../service/transport.js";

/** How often an endpoint may be called. */
export interface EndpointLimit {
  /** Calls per second. */
  readonly rate: number;
  /** Number of calls in a short burst, at least 1. */
  readonly burst: number;
}

export interface PlanLimits {
  readonly standard: EndpointLimit;
  /** Override the standard for single endpoints, such as `POST /assets` (specification §8.1 rule 3). */
  readonly own?: Readonly<Record<string, EndpointLimit>>;
}

const standardLimits: Readonly<Record<Plan, EndpointLimit>> = {
  developer: { rate: 0.16, burst: 1 },
  basic: { rate: 0.5, burst: 2 },
  enterprise: { rate: 1, burst: 30 },
};

const specialLimits: Readonly<Record<Plan, EndpointLimit>> = {
  developer: standardLimits.developer,
  basic: { rate: 1, burst: 3 },
  enterprise: { rate: 5, burst: 15 },
};

const specialEndpoints = Object.values(runtimeOperations)
  .filter(({ rate }) => rate === "special")
  .map(endpointName);

/**
 * Returns the rate limits of Conversation v3 (specification §8.2). A service that allows other
 * bursts than documented costs pacing refused calls, and nothing else.
 */
export const conversationLimits = (plan: Plan): PlanLimits => ({
  standard: standardLimits[plan],
  own: Object.fromEntries(specialEndpoints.map((name) => [name, specialLimits[plan]])),
});
