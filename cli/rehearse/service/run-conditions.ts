import {
  type ConditionOptions,
  type Conditions,
  givenConditions,
} from "../../forecast/conditions.js";
import { defaultParallel } from "../../forecast/simulation/engine.js";
import type { OriginalStack } from "../copy/original-stack.js";
import type { TenantReading } from "./tenant-reading.js";

/** Under which limits a run on a copy takes place. */
export interface RunConditions {
  /** Plan of the first account: the default one, where it has settings. */
  readonly plan: Conditions["plan"];
  /** Steps that run together. */
  readonly parallel: number;
  /** The limits of each account, in the order of the readings. */
  readonly accounts: readonly Conditions[];
  /** What had to be assumed, and which account has another plan than the first: sentences. */
  readonly notes: readonly string[];
}

const otherPlan = (profile: string | undefined, { plan }: Conditions): string =>
  `The account of profile ${profile} is on the plan ${plan}; its calls keep to that.`;

/**
 * The limits of every account: of the command line first, then of its profile's settings, what a probe
 * found out included.
 */
export const runConditions = (
  options: ConditionOptions,
  { source }: Pick<OriginalStack, "source">,
  readings: readonly Pick<TenantReading, "settings">[],
): RunConditions => {
  const found = readings.map(({ settings: { plan, burst, profile } }) =>
    givenConditions(
      { ...(plan ? { plan } : {}), ...(burst ? { burst } : {}), ...options },
      source,
      profile,
    ),
  );
  const accounts = found.map(({ conditions }) => conditions);
  const plan = accounts[0]?.plan ?? options.plan ?? "enterprise";
  const others = accounts.flatMap((each, place) =>
    each.plan === plan ? [] : [otherPlan(readings[place]?.settings.profile, each)],
  );
  return {
    plan,
    parallel: options.parallel ?? defaultParallel(source.environment),
    accounts,
    notes: [...found.flatMap(({ assumed }) => assumed), ...others],
  };
};
