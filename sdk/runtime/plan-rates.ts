export {
  type Burst,
  likelyBurst,
  type RateQuestion,
  rateOf,
} from "../../provider/pacing/plan-rates.js";
export {
  type PlanRates,
  type RateRow,
  rateRows,
  type SpecialRate,
} from "../../provider/pacing/rate-rows.js";
export type { Method } from "../../provider/service/operations.js";
export { type Plan, plans } from "../../provider/service/plans.js";
