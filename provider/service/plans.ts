// A module of its own: the help of commands names the plans, and loads nothing else for it.

/** The plans that rates are sold by, lowest first (specification §8.2). */
export const plans = ["developer", "basic", "enterprise"] as const;

/** A plan that rates are sold by (specification §8.2). */
export type Plan = (typeof plans)[number];
