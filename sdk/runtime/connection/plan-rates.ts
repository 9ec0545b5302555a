import { z } from "zod";
import {
  type Burst,
  likelyBurst as likelyBurstOf,
  type RateQuestion,
  rateOf as rateFor,
} from "../../../provider/pacing/plan/plan-rates.js";
import { checkedInput } from "../caller-input.js";

export type { Burst, RateQuestion } from "../../../provider/pacing/plan/plan-rates.js";
export {
  type PlanRates,
  type RateRow,
  rateRows,
  type SpecialRate,
} from "../../../provider/pacing/plan/rate-rows.js";
export type { Method } from "../../../provider/service/http/operations.js";
export { type Plan, plans } from "../../../provider/service/settings/plans.js";

const text = z.string("must be text");
const rules = z.looseObject({
  service: text,
  version: text,
  plan: text,
  method: text,
  template: text,
});

const asked = (question: RateQuestion): RateQuestion => {
  checkedInput("tell a rate", "the question", rules, question);
  return question;
};

/**
 * The rate limit of an endpoint in calls per second: its own where the specification has one for the
 * plan (§8.2, §8.3), else the standard rate (§8.1 rule 3).
 *
 * @throws ConversationError `INPUT_INVALID` for a service, a version or a plan that is not known,
 * naming those that are
 */
export const rateOf = (question: RateQuestion): number => rateFor(asked(question));

/**
 * The calls that an endpoint probably takes in a short spike: about 20 seconds of its rate, at least
 * one. Good for forecasts; pacing does not rely on it, as the specification shows no burst values (§8.2).
 *
 * @throws ConversationError `INPUT_INVALID` as {@link rateOf}
 */
export const likelyBurst = (question: RateQuestion): Burst => likelyBurstOf(asked(question));
