import { availableParallelism } from "node:os";
import { shareLimit } from "../../provider/pacing/bucket.js";
import { conversationLimits } from "../../provider/pacing/plan-rates.js";
import { monthlyQuotas, type Plan } from "../../provider/service/plans.js";
import { readSetting, type SettingSource, settingLabel } from "../../provider/service/settings.js";
import type { Forecast } from "./forecast-schema.js";
import { planRun, type RunDocuments } from "./planned-steps.js";
import { simulateRun } from "./simulation.js";

export interface Conditions {
  readonly plan: Plan;
  /** Calls that every endpoint accepts in a burst. Default: as documented for the plan. */
  readonly burst?: number | undefined;
  /** Fraction of each limit that may be used, greater than 0 and at most 1. */
  readonly share: number;
  /** Number of steps that run in parallel. */
  readonly parallel: number;
}

/** The steps that Pulumi runs in parallel without `--parallel`: 4 per core, unless it is told. */
const defaultParallel = ({ PULUMI_PARALLEL = "" }: SettingSource["environment"]): number =>
  /^[1-9]\d{0,8}$/.test(PULUMI_PARALLEL) ? Number(PULUMI_PARALLEL) : 4 * availableParallelism();

/**
 * Determines the conditions from what is given, the environment, and the stack's configuration, in
 * this order of precedence. Reports assumptions as readable sentences.
 *
 * @param given may include the share, because that of an explicit provider cannot be looked up by
 * profile
 * @param profile default: the settings without a profile
 */
export const readConditions = (
  given: Partial<Conditions>,
  source: SettingSource,
  profile?: string,
): { readonly conditions: Conditions; readonly assumed: readonly string[] } => {
  const known = given.plan ?? readSetting(source, "plan", profile);
  const assumed = `The plan is unknown; the forecast assumes the enterprise plan. Set it with --plan or ${settingLabel("plan", profile)}.`;
  return {
    conditions: {
      plan: known ?? "enterprise",
      burst: given.burst ?? readSetting(source, "burst", profile),
      share: given.share ?? readSetting(source, "share", profile) ?? 1,
      parallel: given.parallel ?? defaultParallel(source.environment),
    },
    assumed: known ? [] : [assumed],
  };
};

const tenthsOfSeconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Computes how many calls a run makes and how long it takes under the given conditions. */
export const forecast = (
  operation: Forecast["operation"],
  documents: RunDocuments,
  { plan, burst, share, parallel }: Conditions,
): Forecast => {
  const phases = planRun(operation, documents);
  // Setup calls have the standard limit only.
  const { standard } = conversationLimits(plan);
  const limit = shareLimit({ ...standard, burst: burst ?? standard.burst }, share);
  const { totalMs, loads } = simulateRun(phases, parallel, limit);
  const endpoints = Array.from(loads, ([endpoint, { calls, firstAt, lastAt }]) => ({
    endpoint,
    calls,
    seconds: tenthsOfSeconds(lastAt - firstAt),
  }));
  return {
    operation,
    plan,
    parallel,
    totalSeconds: tenthsOfSeconds(totalMs),
    totalCalls: endpoints.reduce((sum, { calls }) => sum + calls, 0),
    monthlyQuota: monthlyQuotas[plan],
    endpoints,
  };
};
