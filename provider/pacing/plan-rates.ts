import { ConversationError } from "../kernel/errors.js";
import type { Plan } from "../service/plans.js";
import type { Endpoint, Method } from "../service/transport.js";

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
  readonly standard: PlanRates;
  /** Default: those of the Conversation service, because no documentation states them. */
  readonly bursts?: PlanRates;
  /** Override the standard for single endpoints, such as `POST /assets` (§8.1 rule 3). */
  readonly own?: Readonly<Record<string, OwnLimits>>;
}

const rates = (developer: number, basic: number, enterprise: number): PlanRates => ({
  developer,
  basic,
  enterprise,
});

const other = (
  service: string,
  versions: readonly string[],
  standard: PlanRates,
  own: Readonly<Record<string, OwnLimits>> = {},
): RateRow => ({ service, versions, standard, own });

/** Calls in a burst on most endpoints of the Conversation service. */
const standardBursts = rates(1, 2, 30);

const busy: OwnLimits = {
  rates: { basic: 1, enterprise: 5 },
  bursts: { basic: 3, enterprise: 15 },
};
const oneForEntryPoints: OwnLimits = { rates: { enterprise: 1 }, bursts: { enterprise: 20 } };
const fiveForMessages: OwnLimits = { rates: { basic: 1, enterprise: 5 } };
const slow: OwnLimits = { rates: rates(0.16, 0.16, 0.5) };
const slowest: OwnLimits = { rates: rates(0.02, 0.08, 0.17) };

/**
 * All rates of all services that share the plans, in the specification's order.
 *
 * The specification names some endpoints only by their last segment (Message Router: `/capacity`
 * and others after `/entrypoint/{id}/agentavailability`). They are assumed to start with the same
 * path, as in `/entrypoint/{id}/capacity`.
 */
export const rateRows: readonly RateRow[] = [
  {
    service: "Conversation",
    versions: ["v3"],
    standard: rates(0.16, 0.5, 1),
    bursts: standardBursts,
    own: {
      "POST /conversations/messages": busy,
      "POST /assets": busy,
      "GET /conversations/{id}": busy,
      "GET /assets/{id}": busy,
    },
  },
  {
    service: "Message Router",
    versions: ["v3"],
    standard: rates(0.16, 0.5, 0.5),
    bursts: rates(3, 10, 10),
    own: {
      "GET /entrypoint/{id}/agentavailability": oneForEntryPoints,
      "GET /entrypoint/{id}/capacity": oneForEntryPoints,
      "GET /entrypoint/{id}/checkeligibility": oneForEntryPoints,
      "GET /entrypoint/{id}/chatallowed": oneForEntryPoints,
      "GET /entrypoint/{id}/livesessionstatus": oneForEntryPoints,
    },
  },
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
    "GET /portals/{portalID}/search/typeahead": { rates: rates(10, 20, 60) },
  }),
  other("Portal Manager", ["v4"], rates(1, 10, 60)),
];

/** One endpoint of one service on one plan. */
interface RateQuestion {
  /** Name of the service, such as `Conversation` or `Message Router`; not case-sensitive. */
  readonly service: string;
  /** Version of the service: `v3` or `v4`. */
  readonly version: string;
  /** The tenant's plan. */
  readonly plan: Plan;
  /** HTTP method. */
  readonly method: Method;
  /** Path template, relative to the base URL; the names of its placeholders do not matter. */
  readonly template: string;
}

/** How often an endpoint may be called. */
export interface EndpointLimit {
  /** Calls per second. */
  readonly rate: number;
  /** Number of calls in a short burst, at least 1. */
  readonly burst: number;
}

const invalid = (text: string): ConversationError => new ConversationError("INPUT_INVALID", text);

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const findRow = ({ service, version }: RateQuestion): RateRow => {
  const row = rateRows.find(
    (each) => same(each.service, service) && each.versions.some((known) => same(known, version)),
  );
  if (row) return row;
  const known = rateRows.map((each) => `${each.service} ${each.versions.join(" and ")}`);
  throw invalid(
    `There are no rates for ${JSON.stringify(`${service} ${version}`)}. Services: ${known.join(", ")}.`,
  );
};

/** `/portals/{portalID}/search` and `/portals/{id}/search` are the same path. */
const plain = (template: string): string => template.replace(/\{[^{}/]*\}/g, "{}");

/**
 * Returns the rate limit of an endpoint: its own if the table has one for the plan, otherwise the
 * standard one (specification §8.1 rule 3). A service that allows other bursts than documented
 * costs pacing refused calls, and nothing else.
 *
 * @throws ConversationError `INPUT_INVALID` for a service or version that the table does not
 * contain; lists the valid ones
 */
export const limitOf = (question: RateQuestion): EndpointLimit => {
  const { plan, method, template } = question;
  const { standard, bursts = standardBursts, own = {} } = findRow(question);
  const name = plain(`${method} ${template}`);
  const limits = Object.entries(own).find(([each]) => plain(each) === name)?.[1];
  return {
    rate: limits?.rates[plan] ?? standard[plan],
    burst: limits?.bursts?.[plan] ?? bursts[plan],
  };
};

/** Returns the rate limit for an endpoint in Conversation v3 (specification §8.2). */
export const conversationLimit = ({ method, template }: Endpoint, plan: Plan): EndpointLimit =>
  limitOf({ service: "Conversation", version: "v3", plan, method, template });
