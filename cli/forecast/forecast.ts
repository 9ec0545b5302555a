import { availableParallelism } from "node:os";
import { shareLimit } from "../../provider/pacing/bucket.js";
import { conversationLimits } from "../../provider/pacing/plan-rates.js";
import { monthlyQuotas, type Plan } from "../../provider/service/plans.js";
import {
  accountTitle,
  readSetting,
  type SettingSource,
  settingLabel,
} from "../../provider/service/settings.js";
import type { Forecast } from "./forecast-schema.js";
import type { ForecastOperation } from "./operations.js";
import { stepsOf } from "./planned-steps.js";
import { simulateRun } from "./simulation.js";

/** The limits and conditions of a run. */
export interface Conditions {
  readonly plan: Plan;
  /**
   * Number of calls that every endpoint accepts in a burst. Default: as documented for the plan.
   */
  readonly burst?: number | undefined;
  /** Fraction of each limit that may be used, greater than 0 and at most 1. */
  readonly share: number;
  /** Number of steps that run in parallel. */
  readonly parallel: number;
}

/** Conditions specified on the command line. */
export type ConditionOptions = Partial<Omit<Conditions, "share">>;

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/** The steps that Pulumi runs in parallel without `--parallel`: 4 per core, unless it is told. */
const defaultParallel = ({ PULUMI_PARALLEL, GOMAXPROCS }: SettingSource["environment"]): number =>
  wholeNumber(PULUMI_PARALLEL) ?? 4 * (wholeNumber(GOMAXPROCS) ?? availableParallelism());

/**
 * Determines the conditions from the command line, the environment, and the stack's configuration,
 * in this order of precedence. Reports assumptions as readable sentences.
 *
 * @param options may include the share, because that of an explicit provider cannot be looked up by
 * profile
 * @param profile default: the settings without a profile
 */
export const givenConditions = (
  options: Partial<Conditions>,
  source: SettingSource,
  profile?: string,
): { readonly conditions: Conditions; readonly assumed: readonly string[] } => {
  const known = options.plan ?? readSetting(source, "plan", profile);
  const whose = profile === undefined ? "" : ` of ${accountTitle(profile)}`;
  const assumed = `The plan${whose} is unknown; the forecast assumes the enterprise plan. Set it with --plan or ${settingLabel("plan", profile)}.`;
  return {
    conditions: {
      plan: known ?? "enterprise",
      burst: options.burst ?? readSetting(source, "burst", profile),
      share: options.share ?? readSetting(source, "share", profile) ?? 1,
      parallel: options.parallel ?? defaultParallel(source.environment),
    },
    assumed: known ? [] : [assumed],
  };
};

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

/** Computes how many calls a run makes and how long it takes under the given conditions. */
export const forecast = (
  operation: ForecastOperation,
  documents: Parameters<typeof stepsOf>[1],
  { plan, burst, share, parallel }: Conditions,
): Forecast => {
  // Setup calls have the standard limit only.
  const { standard } = conversationLimits(plan);
  const limit = shareLimit({ ...standard, burst: burst ?? standard.burst }, share);
  const run = simulateRun(stepsOf(operation, documents), parallel, limit);
  const endpoints = [...run.endpoints].map(([endpoint, { calls, firstAt, lastAt }]) => ({
    endpoint,
    calls,
    seconds: rounded(lastAt - firstAt),
  }));
  const methods: Record<string, number> = {};
  for (const { endpoint, calls } of endpoints) {
    const [method = ""] = endpoint.split(" ");
    methods[method] = (methods[method] ?? 0) + calls;
  }
  return {
    operation,
    plan,
    parallel,
    totalSeconds: rounded(run.totalSeconds),
    totalCalls: endpoints.reduce((sum, { calls }) => sum + calls, 0),
    methods,
    monthlyQuota: monthlyQuotas[plan],
    endpoints,
  };
};
