import { type Plan, plans } from "../service/plans.js";

interface Standing {
  strikes: number;
  good: number;
}

/** Refusals, without a long row of successes between them, that speak against a plan. */
const mostStrikes = 3;
const forgivenAfter = 8;
const provedAfter = 5;

/**
 * The plan of a tenant that did not configure one: the highest, until an endpoint is refused again
 * and again; then the next lower one. Never goes up again.
 */
export class PlanGuess {
  readonly #onGuess: ((plan: Plan) => void) | undefined;
  readonly #records = new Map<string, Standing>();
  #plan: Plan = plans[plans.length - 1] ?? "enterprise";
  #lowered = false;
  #said = false;

  constructor(onGuess: ((plan: Plan) => void) | undefined) {
    this.#onGuess = onGuess;
  }

  get plan(): Plan {
    return this.#plan;
  }

  accepted(endpoint: string): void {
    const record = this.#recordOf(endpoint);
    record.good += 1;
    if (record.good >= forgivenAfter) record.strikes = 0;
    if (this.#lowered && !this.#said && record.good >= provedAfter) {
      this.#said = true;
      this.#onGuess?.(this.#plan);
    }
  }

  refused(endpoint: string): void {
    const record = this.#recordOf(endpoint);
    record.good = 0;
    record.strikes += 1;
    if (record.strikes < mostStrikes) return;
    const lower = plans[plans.indexOf(this.#plan) - 1];
    if (lower === undefined) return;
    this.#plan = lower;
    this.#lowered = true;
    this.#records.clear();
  }

  #recordOf(endpoint: string): Standing {
    const record = this.#records.get(endpoint) ?? { strikes: 0, good: 0 };
    this.#records.set(endpoint, record);
    return record;
  }
}
