import { likelyBurst, rateOf } from "../../../provider/pacing/plan/plan-rates.js";
import type { Endpoint } from "../../../provider/service/http/operations.js";
import type { Plan } from "../../../provider/service/settings/plans.js";
import type { Limit } from "./rate-bucket.js";

/** Under which limits a run takes place. */
export interface Conditions {
  readonly plan: Plan;
  /** Calls that an endpoint takes in a spike. Left out: about 20 seconds of its rate (assumed). */
  readonly burst?: number;
  /** Part of each limit that may be used: above 0, at most 1. */
  readonly share: number;
  /** Steps that run together. */
  readonly parallel: number;
  /** Objects on a page of a list. */
  readonly pageSize: number;
}

/** The limit of an endpoint for this tool. Below the whole share also a spike is kept to that part. */
export const limitOf = (
  { method, template }: Endpoint,
  { plan, burst, share }: Conditions,
): Limit => {
  const question = { service: "Conversation", version: "v3", plan, method, template };
  const unknown = share < 1 ? 1 : likelyBurst(question).calls;
  return {
    rate: rateOf(question) * share,
    burst: burst === undefined ? unknown : Math.max(1, Math.floor(burst * share)),
  };
};
