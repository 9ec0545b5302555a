/** The plans that rates are sold by, lowest first (specification §8.2). */
export const plans = ["developer", "basic", "enterprise"] as const;

export type Plan = (typeof plans)[number];
