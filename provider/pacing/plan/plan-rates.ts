import { ConversationError } from "../../kernel/errors.js";
import type { Endpoint, Method } from "../../service/http/operations.js";
import { type Plan, plans } from "../../service/setting-table.js";
import { type RateRow, rateRows } from "./rate-rows.js";

/** One endpoint of one service on one plan. */
export interface RateQuestion {
  /** Such as `Conversation` or `Message Router`, in any case. */
  readonly service: string;
  /** `v3` or `v4`. */
  readonly version: string;
  /** The plan of the tenant. */
  readonly plan: Plan;
  /** HTTP method. */
  readonly method: Method;
  /** Path template below the base address; how its placeholders are called does not matter. */
  readonly template: string;
}

/** Calls in a short spike, with what is known about the number. */
export interface Burst {
  /** How many, at least 1. */
  readonly calls: number;
  /** `public`: said in a public reference. `assumed`: derived from the rate in the same way. */
  readonly basis: "public" | "assumed";
}

const listed = (choices: readonly string[]): string => [...new Set(choices)].join(", ");

const invalid = (text: string): ConversationError => new ConversationError("INPUT_INVALID", text);

const members = ["service", "version", "plan", "method", "template"] as const;

const notText = (question: RateQuestion): string =>
  members
    .filter((name) => typeof Object(question)[name] !== "string")
    .map((name) => `${name}: must be text`)
    .join("; ");

/** A question may come from a program without type checks. */
const assertQuestion = (question: RateQuestion): void => {
  const doing = "Could not tell a rate";
  try {
    const rule = notText(question);
    if (rule !== "") throw invalid(`${doing}: ${rule}. Nothing was sent.`);
  } catch (cause) {
    if (cause instanceof ConversationError) throw cause;
    const text = `${doing}: what was given cannot be read, see the cause. Nothing was sent.`;
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause });
  }
};

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const rowOf = (question: RateQuestion): RateRow => {
  const rows = rateRows.filter((row) => same(row.service, question.service));
  if (rows.length === 0) {
    throw invalid(
      `No rates are known for the service ${JSON.stringify(question.service)}. Known services: ${listed(rateRows.map(({ service }) => service))}.`,
    );
  }
  const row = rows.find(({ versions }) => versions.some((known) => same(known, question.version)));
  if (row) return row;
  throw invalid(
    `No rates are known for version ${JSON.stringify(question.version)} of ${question.service}. Known versions: ${listed(rows.flatMap(({ versions }) => versions))}.`,
  );
};

/** `/portals/{portalID}/search` and `/portals/{id}/search` are the same path. */
const plain = (template: string): string => template.replace(/\{[^{}/]*\}/g, "{}");

/**
 * The rate limit of an endpoint in calls per second: its own where the table has one for the plan,
 * else the standard rate (specification §8.1 rule 3).
 *
 * @throws ConversationError `INPUT_INVALID` for a service, a version or a plan that the table does
 * not know, naming those that it does
 * @example
 * const perSecond = rateOf({
 *   service: "Conversation", version: "v3", plan: "basic",
 *   method: "POST", template: "/conversations/messages",
 * });
 */
export const rateOf = (question: RateQuestion): number => {
  assertQuestion(question);
  const row = rowOf(question);
  if (!plans.includes(question.plan)) {
    throw invalid(`There is no plan ${JSON.stringify(question.plan)}. Plans: ${plans.join(", ")}.`);
  }
  const path = plain(question.template);
  const own = row.special.find(
    ({ method, templates }) =>
      method === question.method && templates.some((template) => plain(template) === path),
  );
  return own?.rates[question.plan] ?? row.standard[question.plan];
};

/** The rate limit of an endpoint of Conversation v3 in calls per second (specification §8.2). */
export const conversationRate = ({ method, template }: Endpoint, plan: Plan): number =>
  rateOf({ service: "Conversation", version: "v3", plan, method, template });

/** Seconds of the rate that a full bucket seems to hold. */
const burstSeconds = 20;

/** The one service whose bursts a public reference gives. */
const publicBursts = "Message Router";

/**
 * The calls that an endpoint probably takes in a short spike: about 20 seconds of its rate, at least
 * one. Good for forecasts; pacing does not rely on it, as the specification shows no burst values (§8.2).
 *
 * @throws ConversationError `INPUT_INVALID` as {@link rateOf}
 * @example
 * const { calls, basis } = likelyBurst({
 *   service: "Message Router", version: "v3", plan: "enterprise",
 *   method: "GET", template: "/entrypoint/{id}/capacity",
 * });
 */
export const likelyBurst = (question: RateQuestion): Burst => ({
  calls: Math.max(1, Math.round(burstSeconds * rateOf(question))),
  basis: same(question.service, publicBursts) ? "public" : "assumed",
});
