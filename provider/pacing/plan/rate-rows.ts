import type { Method } from "../../service/http/operations.js";
import type { Plan } from "../../service/setting-table.js";

/** Calls per second, by plan. */
export type PlanRates = Readonly<Record<Plan, number>>;

/** Endpoints with a rate of their own. It overrides the standard rate for these paths only (specification §8.1 rule 3). */
export interface SpecialRate {
  /** HTTP method. */
  readonly method: Method;
  /** Path templates below the base address of the service. */
  readonly templates: readonly string[];
  /** A plan that is left out has the standard rate here. */
  readonly rates: Partial<PlanRates>;
}

/** One row of the table of rates. */
export interface RateRow {
  /** Where the specification says so. */
  readonly source: "specification §8.2" | "specification §8.3";
  /** Such as `Message Router`. */
  readonly service: string;
  /** Such as `v3`. */
  readonly versions: readonly string[];
  /** For every endpoint without a rate of its own. */
  readonly standard: PlanRates;
  /** Endpoints with a rate of their own; empty where there are none. */
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
): RateRow => ({ source: "specification §8.3", service, versions, standard, special });

const conversation: RateRow = {
  source: "specification §8.2",
  service: "Conversation",
  versions: ["v3"],
  standard: rates(0.16, 0.5, 1),
  special: [
    {
      method: "POST",
      templates: ["/conversations/messages", "/assets"],
      rates: { basic: 1, enterprise: 5 },
    },
    {
      method: "GET",
      templates: ["/conversations/{id}", "/assets/{id}"],
      rates: { basic: 1, enterprise: 5 },
    },
  ],
};

/**
 * Every rate of every service that shares the plans, in the order of the specification.
 *
 * Where the specification names further endpoints by their last segment only (Message Router:
 * `/capacity` and others after `/entrypoint/{id}/agentavailability`), they are read as paths with
 * the same beginning: `/entrypoint/{id}/capacity`.
 */
export const rateRows: readonly RateRow[] = [
  conversation,
  other("Message Router", ["v3"], rates(0.16, 0.5, 0.5), [
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
    },
  ]),
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
