import { ConversationError } from "../../provider/kernel/errors.js";
import { conversationLimits, type PlanLimits } from "../../provider/pacing/plan-rates.js";
import type { Plan } from "../../provider/service/plans.js";

/** A number for each plan, such as calls per second. */
type PlanRates = Readonly<Record<Plan, number>>;

/** The limits of an endpoint with its own. On a plan that is omitted, the standard one applies. */
interface OwnLimits {
  readonly rates: Partial<PlanRates>;
  readonly bursts?: Partial<PlanRates>;
}

/** The rates of a service (specification §8.2 and §8.3). */
interface RateRow {
  /** Such as `Message Router`. */
  readonly service: string;
  /** Such as `v3`. */
  readonly versions: readonly string[];
  readonly limits: (plan: Plan) => PlanLimits;
}

const rates = (developer: number, basic: number, enterprise: number): PlanRates => ({
  developer,
  basic,
  enterprise,
});

/** @param bursts default: those of the Conversation service, because no documentation states them */
const other = (
  service: string,
  versions: readonly string[],
  standard: PlanRates,
  own: Readonly<Record<string, OwnLimits>> = {},
  bursts?: PlanRates,
): RateRow => ({
  service,
  versions,
  limits: (plan) => {
    const rate = standard[plan];
    const burst = bursts?.[plan] ?? conversationLimits(plan).standard.burst;
    const special = Object.entries(own).map(([endpoint, limits]) => [
      endpoint,
      { rate: limits.rates[plan] ?? rate, burst: limits.bursts?.[plan] ?? burst },
    ]);
    return { standard: { rate, burst }, own: Object.fromEntries(special) };
  },
});

const oneForEntryPoints: OwnLimits = { rates: { enterprise: 1 }, bursts: { enterprise: 20 } };
const fiveForMessages: OwnLimits = { rates: { basic: 1, enterprise: 5 } };
const slow: OwnLimits = { rates: rates(0.16, 0.16, 0.5) };
const slowest: OwnLimits = { rates: rates(0.02, 0.08, 0.17) };

/**
 * All rates of all services that share the plans, in the specification's order. Every placeholder
 * is `{id}`.
 *
 * The specification names some endpoints only by their last segment (Message Router: `/capacity`
 * and others after `/entrypoint/{id}/agentavailability`). They are assumed to start with the same
 * path, as in `/entrypoint/{id}/capacity`.
 */
export const rateRows: readonly RateRow[] = [
  { service: "Conversation", versions: ["v3"], limits: conversationLimits },
  other(
    "Message Router",
    ["v3"],
    rates(0.16, 0.5, 0.5),
    {
      "GET /entrypoint/{id}/agentavailability": oneForEntryPoints,
      "GET /entrypoint/{id}/capacity": oneForEntryPoints,
      "GET /entrypoint/{id}/checkeligibility": oneForEntryPoints,
      "GET /entrypoint/{id}/chatallowed": oneForEntryPoints,
      "GET /entrypoint/{id}/livesessionstatus": oneForEntryPoints,
    },
    rates(3, 10, 10),
  ),
  other("Notification Manager", ["v3"], rates(0.16, 0.5, 1), {
    "POST /messages": fiveForMessages,
    "POST /assets": fiveForMessages,
  }),
  other("Secure Messaging Manager", ["v3"], rates(0.16, 0.5, 1)),
  other("AI Services", ["v3"], rates(0.16, 0.3, 1), {
    "GET /instantanswers/suggestions": { rates: rates(10, 20, 40) },
    "GET /instantanswers/generative": { rates: { enterprise: 30 } },
    "GET /instantanswers/extractive": { rates: { enterprise: 30 } },
  }),
  other("AI Services", ["v4"], rates(30, 30, 30)),
  other("Auth Manager", ["v3"], rates(1, 10, 60)),
  other("Case Manager", ["v3"], rates(0.16, 0.5, 1)),
  other("Customer Manager", ["v3"], rates(0.16, 0.5, 1)),
  other("Department Manager", ["v3", "v4"], rates(0.16, 0.16, 0.5)),
  other("Events Channel", ["v3"], rates(0.16, 0.16, 0.5)),
  other("File Manager", ["v3"], rates(0.16, 0.5, 0.5)),
  other("Info Manager", ["v3", "v4"], rates(0.16, 0.16, 0.5)),
  other("Integration Manager", ["v4"], rates(0.16, 0.5, 1)),
  other("Micro Services Manager", ["v3"], rates(0.16, 0.5, 1)),
  other("Personalization Manager", ["v4"], rates(0.16, 0.5, 1)),
  other("User Manager", ["v3"], rates(1, 10, 60), {
    "POST /user": slow,
    "PATCH /user": slow,
    "DELETE /user/{id}": slow,
    "DELETE /user/ext-id/{id}": slow,
  }),
  other("Work Assignment Manager", ["v3"], rates(0.16, 0.16, 0.5)),
  other("Content Manager", ["v4"], rates(1, 10, 60), {
    "POST /import/content": slowest,
    "POST /import/content/validate": slowest,
  }),
  other("Event Manager", ["v4"], rates(0.5, 0.5, 0.5)),
  other("Portal Manager", ["v3"], rates(1, 10, 60), {
    "GET /portals/{id}/search/typeahead": { rates: rates(10, 20, 60) },
  }),
  other("Portal Manager", ["v4"], rates(1, 10, 60)),
];

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Returns what a service of the tenant allows on each plan.
 *
 * @param service such as `Case Manager`; not case-sensitive
 * @param version such as `v3`
 * @throws ConversationError `INPUT_INVALID` for a service or version that the table does not
 * contain; lists the valid ones
 */
export const findServiceLimits = (service: string, version: string): RateRow["limits"] => {
  const row = rateRows.find(
    (each) => same(each.service, service) && each.versions.some((known) => same(known, version)),
  );
  if (row) return row.limits;
  const known = rateRows.map((each) => `${each.service} ${each.versions.join(" and ")}`);
  throw new ConversationError(
    "INPUT_INVALID",
    `There are no rates for ${JSON.stringify(`${service} ${version}`)}. Services: ${known.join(", ")}.`,
  );
};
