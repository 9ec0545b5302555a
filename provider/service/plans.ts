// A separate module: the help of commands names the plans, and loads nothing else for them.

/** The plans by which rates are sold, lowest first (specification §8.2). */
export const plans = ["developer", "basic", "enterprise"] as const;

/** A plan by which rates are sold (specification §8.2). */
export type Plan = (typeof plans)[number];
