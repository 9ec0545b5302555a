/** Plans of a tenant; `none`: no limits. */
export const planNames = ["developer", "basic", "enterprise", "none"] as const;
export type PlanName = (typeof planNames)[number];

interface Limit {
  /** Calls per second. */
  readonly rate: number;
  readonly burst: number;
}

/** Rates: specification §8.2. Bursts: 20 times the rate, as with a sibling service (assumed). */
const limits: Readonly<
  Record<Exclude<PlanName, "none">, { readonly standard: Limit; readonly special: Limit }>
> = {
  developer: { standard: { rate: 0.16, burst: 3 }, special: { rate: 0.16, burst: 3 } },
  basic: { standard: { rate: 0.5, burst: 10 }, special: { rate: 1, burst: 20 } },
  enterprise: { standard: { rate: 1, burst: 20 }, special: { rate: 5, burst: 100 } },
};

/** The endpoints with a rate of their own: specification §8.2. */
const special = new Set([
  "POST /conversations/messages",
  "GET /conversations/{id}",
  "POST /assets",
  "GET /assets/{id}",
]);

/** The limit of an endpoint; undefined where the plan has none. */
export const limitOf = (
  plan: PlanName,
  endpoint: string,
  burst: number | undefined,
): Limit | undefined => {
  if (plan === "none") return undefined;
  const limit = limits[plan][special.has(endpoint) ? "special" : "standard"];
  return burst === undefined ? limit : { ...limit, burst };
};
