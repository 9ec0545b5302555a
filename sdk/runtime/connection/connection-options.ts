import { z } from "zod";
import type { Clock } from "../../../provider/kernel/clock.js";
import type { BucketStore } from "../../../provider/pacing/stores/bucket-store.js";
import type { Wait } from "../../../provider/service/http/pace.js";
import type { RetryLimits } from "../../../provider/service/http/retry.js";
import type { Transport } from "../../../provider/service/http/transport.js";
import type { Plan } from "../../../provider/service/settings/plans.js";
import { anyFunction, callOptions, checkedInput, prepared } from "../caller-input.js";
import { type CallHooks, harmlessHook } from "./call-events.js";

/** How a connection behaves; everything may be left out. */
export interface ConnectionOptions extends CallHooks {
  /**
   * `plan` (default): calls keep to the rates of the tenant's plan, together with all other
   * processes of this machine, or of every machine where `redisUrl` is set. `after-refusal`: calls
   * go at once and wait only after a 429, for services without limits such as an emulator.
   */
  readonly pacing?: "plan" | "after-refusal";
  /** Told when calls have to wait for their endpoint. */
  readonly onWait?: (wait: Wait) => void;
  /** Told once which plan a tenant without a configured one seems to have. */
  readonly onPlanGuess?: (plan: Plan) => void;
  /** Told, as a sentence for people, when the rates cannot be shared with other processes for a while. */
  readonly onNotice?: (text: string) => void;
  /** How often and how long what may be repeated is repeated. */
  readonly retry?: Partial<RetryLimits>;
  /** Ends waiting calls with `CANCELLED`, like `close`. */
  readonly signal?: AbortSignal;
  /** Where settings that are left out are looked up. Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Tests pass their own. */
  readonly clock?: Clock;
  /** Tests pass their own. */
  readonly transport?: Transport;
  /** Where the rate buckets are kept. Default: where `pacing: "plan"` says. */
  readonly buckets?: BucketStore;
}

const limit = z.number("must be a number").nonnegative("must not be below 0").optional();
const anyObject = z
  .custom((value) => typeof value === "object" && value !== null, "must be an object")
  .optional();

const rules = callOptions.extend({
  pacing: z.enum(["plan", "after-refusal"], "must be plan or after-refusal").optional(),
  onWait: anyFunction.optional(),
  onPlanGuess: anyFunction.optional(),
  onNotice: anyFunction.optional(),
  onRequest: anyFunction.optional(),
  onResponse: anyFunction.optional(),
  retry: z
    .looseObject(
      { retries: limit, minTimeoutMs: limit, maxTimeoutMs: limit, maxRetryTimeMs: limit },
      "must be an object",
    )
    .optional(),
  environment: z
    .record(z.string(), z.string("must be text").optional(), "must be an object")
    .optional(),
  clock: anyObject,
  transport: anyObject,
  buckets: anyObject,
});

/** Hooks that are told of waits: a failing one must not hold up those who wait. */
const waitHooks = ({ onWait, onPlanGuess, onNotice }: ConnectionOptions) => ({
  ...(onWait ? { onWait: harmlessHook("onWait", onWait) } : {}),
  ...(onPlanGuess ? { onPlanGuess: harmlessHook("onPlanGuess", onPlanGuess) } : {}),
  ...(onNotice ? { onNotice: harmlessHook("onNotice", onNotice) } : {}),
});

/**
 * A copy of the options, checked, whose hooks can do no harm.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used
 */
export const connectionOptionsOf = (options: ConnectionOptions): ConnectionOptions => {
  const copy = prepared("connect", () => ({ ...options }));
  checkedInput("connect", "options", rules, copy);
  return { ...copy, ...waitHooks(copy) };
};
