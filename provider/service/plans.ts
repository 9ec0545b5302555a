// A separate module: the help of commands names the plans, and loads nothing else for them.

/** The plans with their own rates, lowest first (specification §8.2). */
export const plans = ["developer", "basic", "enterprise"] as const;

/** A plan with its own rates (specification §8.2). */
export type Plan = (typeof plans)[number];

/** Calls in a month, for each HTTP method (the vendor's documentation). */
export const monthlyQuotas: Readonly<Record<Plan, number>> = {
  developer: 1_000,
  basic: 100_000,
  enterprise: 500_000,
};
