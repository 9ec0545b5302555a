import { ConversationError } from "../kernel/errors.js";
import type { Endpoint } from "../service/pace.js";
import { type Plan, plans } from "../service/plans.js";
import type { Method } from "../service/transport.js";

/** A number for each plan, such as calls per second. */
export type PlanRates = Readonly<Record<Plan, number>>;

/**
 * Endpoints with their own rate, which overrides the standard rate for these paths only
 * (specification §8.1 rule 3).
 */
export interface SpecialRate {
  /** HTTP method. */
  readonly method: Method;
  /** Path templates, relative to the service's base URL. */
  readonly templates: readonly string[];
  /** Rates by plan. If a plan is omitted, its standard rate applies to these endpoints. */
  readonly rates: Partial<PlanRates>;
  /** Bursts by plan. If a plan is omitted, its standard burst applies to these endpoints. */
  readonly bursts?: Partial<PlanRates>;
}

/** One row in the rate table (specification §8.2 and §8.3). */
export interface RateRow {
  /** Name of the service, such as `Message Router`. */
  readonly service: string;
  /** Versions of the service, such as `v3`. */
  readonly versions: readonly string[];
  /** Rates for every endpoint without its own rate. */
  readonly standard: PlanRates;
  /** Calls in a burst; absent if no documentation states them. */
  readonly bursts?: PlanRates;
  /** Endpoints with their own rate; empty if there are none. */
  readonly special: readonly SpecialRate[];
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
  special: readonly SpecialRate[] = [],
): RateRow => ({ service, versions, standard, special });

/** Calls in a burst on most endpoints of the Conversation service. */
const standardBursts = rates(1, 2, 30);

const conversation: RateRow = {
  service: "Conversation",
  versions: ["v3"],
  standard: rates(0.16, 0.5, 1),
  bursts: standardBursts,
  special: [
    {
      method: "POST",
      templates: ["/conversations/messages", "/assets"],
      rates: { basic: 1, enterprise: 5 },
      bursts: { basic: 3, enterprise: 15 },
    },
    {
      method: "GET",
      templates: ["/conversations/{id}", "/assets/{id}"],
      rates: { basic: 1, enterprise: 5 },
      bursts: { basic: 3, enterprise: 15 },
    },
  ],
};

/**
 * All rates of all services that share the plans, in the specification's order.
 *
 * The specification names some endpoints only by their last segment (Message Router: `/capacity`
 * and others after `/entrypoint/{id}/agentavailability`). They are assumed to start with the same
 * path, as in `/entrypoint/{id}/capacity`.
 */
export const rateRows: readonly RateRow[] = [
  conversation,
  {
    service: "Message Router",
    versions: ["v3"],
    standard: rates(0.16, 0.5, 0.5),
    bursts: rates(3, 10, 10),
    special: [
      {
        method: "GET",
        templates: [
          "/entrypoint/{id}/agentavailability",
          "/entrypoint/{id}/capacity",
          "/entrypoint/{id}/checkeligibility",
          "/entrypoint/{id}/chatallowed",
          "/entrypoint/{id}/livesessionstatus",
        ],
        rates: { enterprise: 1 },
        bursts: { enterprise: 20 },
      },
    ],
  },
  other("Notification Manager", ["v3"], rates(0.16, 0.5, 1), [
    { method: "POST", templates: ["/messages", "/assets"], rates: { basic: 1, enterprise: 5 } },
  ]),
  other("Secure Messaging Manager", ["v3"], rates(0.16, 0.5, 1)),
  other("AI Services", ["v3"], rates(0.16, 0.3, 1), [
    { method: "GET", templates: ["/instantanswers/suggestions"], rates: rates(10, 20, 40) },
    {
      method: "GET",
      templates: ["/instantanswers/generative", "/instantanswers/extractive"],
      rates: { enterprise: 30 },
    },
  ]),
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
  other("User Manager", ["v3"], rates(1, 10, 60), [
    { method: "POST", templates: ["/user"], rates: rates(0.16, 0.16, 0.5) },
    { method: "PATCH", templates: ["/user"], rates: rates(0.16, 0.16, 0.5) },
    {
      method: "DELETE",
      templates: ["/user/{id}", "/user/ext-id/{id}"],
      rates: rates(0.16, 0.16, 0.5),
    },
  ]),
  other("Work Assignment Manager", ["v3"], rates(0.16, 0.16, 0.5)),
  other("Content Manager", ["v4"], rates(1, 10, 60), [
    {
      method: "POST",
      templates: ["/import/content", "/import/content/validate"],
      rates: rates(0.02, 0.08, 0.17),
    },
  ]),
  other("Event Manager", ["v4"], rates(0.5, 0.5, 0.5)),
  other("Portal Manager", ["v3"], rates(1, 10, 60), [
    {
      method: "GET",
      templates: ["/portals/{portalID}/search/typeahead"],
      rates: rates(10, 20, 60),
    },
  ]),
  other("Portal Manager", ["v4"], rates(1, 10, 60)),
];

/** One endpoint of one service on one plan. */
export interface RateQuestion {
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
  /**
   * Basis of the burst. `vendor`: stated in the service's documentation. `assumed`: that of the
   * same plan in the Conversation service.
   */
  readonly basis: "vendor" | "assumed";
}

const listed = (choices: readonly string[]): string => [...new Set(choices)].join(", ");

const invalid = (text: string): ConversationError => new ConversationError("INPUT_INVALID", text);

const members = ["service", "version", "plan", "method", "template"] as const;

/** A question may come from a program without type checks. */
const assertTexts = (question: RateQuestion): void => {
  let wrong: readonly string[] = members;
  try {
    wrong = members.filter((name) => typeof question[name] !== "string");
  } catch {
    // What cannot be read is no text.
  }
  if (wrong.length === 0) return;
  const rules = wrong.map((name) => `${name}: must be a string`).join("; ");
  throw invalid(`Could not determine a rate: ${rules}. Nothing was sent.`);
};

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const rowOf = (question: RateQuestion): RateRow => {
  const rows = rateRows.filter((row) => same(row.service, question.service));
  if (rows.length === 0) {
    throw invalid(
      `There are no rates for the service ${JSON.stringify(question.service)}. Services: ${listed(rateRows.map(({ service }) => service))}.`,
    );
  }
  const row = rows.find(({ versions }) => versions.some((known) => same(known, question.version)));
  if (row) return row;
  throw invalid(
    `There are no rates for version ${JSON.stringify(question.version)} of ${question.service}. Versions: ${listed(rows.flatMap(({ versions }) => versions))}.`,
  );
};

/** `/portals/{portalID}/search` and `/portals/{id}/search` are the same path. */
const plain = (template: string): string => template.replace(/\{[^{}/]*\}/g, "{}");

/**
 * Returns the rate limit of an endpoint: its own if the table has one for the plan, otherwise the
 * standard one (specification §8.1 rule 3). A service that allows other bursts than documented
 * costs pacing refused calls, and nothing else.
 *
 * @throws ConversationError `INPUT_INVALID` for a service, a version, or a plan that the table does
 * not contain; lists the valid ones
 * @example
 * const { rate, burst } = limitOf({
 *   service: "Conversation", version: "v3", plan: "basic",
 *   method: "POST", template: "/conversations/messages",
 * });
 */
export const limitOf = (question: RateQuestion): EndpointLimit => {
  assertTexts(question);
  const row = rowOf(question);
  const { plan } = question;
  if (!plans.includes(plan)) {
    throw invalid(`There is no plan ${JSON.stringify(plan)}. Plans: ${plans.join(", ")}.`);
  }
  const path = plain(question.template);
  const own = row.special.find(
    ({ method, templates }) =>
      method === question.method && templates.some((template) => plain(template) === path),
  );
  return {
    rate: own?.rates[plan] ?? row.standard[plan],
    burst: own?.bursts?.[plan] ?? (row.bursts ?? standardBursts)[plan],
    basis: row.bursts ? "vendor" : "assumed",
  };
};

/** Returns the rate limit for an endpoint in Conversation v3 (specification §8.2). */
export const conversationLimit = ({ method, template }: Endpoint, plan: Plan): EndpointLimit =>
  limitOf({ service: "Conversation", version: "v3", plan, method, template });
