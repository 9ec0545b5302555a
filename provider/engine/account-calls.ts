import { conversationRate, likelyBurst } from "../pacing/plan-rates.js";
import { allOperations, type Endpoint, endpointName } from "../service/http/operations.js";
import type { Plan, Settings } from "../service/setting-table.js";
import { phaseOf } from "./deletion-phase.js";
import { EndpointProgress, type ExpectedRate } from "./endpoint-progress.js";
import type { ForeseenCalls } from "./foreseen-calls.js";

export type RatedSettings = Pick<Settings, "profile" | "plan" | "burst" | "share">;

const rateFor = (endpoint: Endpoint, { plan, burst, share }: RatedSettings): ExpectedRate => {
  const assumed = plan ?? "enterprise";
  const { method, template } = endpoint;
  const question = { service: "Conversation", version: "v3", plan: assumed, method, template };
  const periodMs = 1000 / (conversationRate(endpoint, assumed) * share);
  return { periodMs, burst: burst ?? (share < 1 ? 1 : likelyBurst(question).calls) };
};

/** When the last call to an endpoint goes. */
interface EndpointTime {
  readonly endpoint: Endpoint;
  readonly leftMs: number;
}

/** The calls of a run to one account, those that are foreseen included. */
export class AccountCalls {
  readonly #planned: Pick<ForeseenCalls, "times">;
  readonly #endpoints = new Map<string, EndpointProgress>();
  #settings: RatedSettings;
  /** Calls that the service refused for their rate (429); they are sent again. */
  refused = 0;

  constructor(settings: RatedSettings, planned: Pick<ForeseenCalls, "times">) {
    this.#settings = settings;
    this.#planned = planned;
  }

  at(endpoint: Endpoint): EndpointProgress {
    const name = endpointName(endpoint);
    const known = this.#endpoints.get(name);
    const calls = known ?? new EndpointProgress(endpoint, rateFor(endpoint, this.#settings));
    this.#endpoints.set(name, calls);
    return calls;
  }

  /** The tenant seems to have another plan than was assumed. */
  seems(plan: Plan): void {
    this.#settings = { ...this.#settings, plan };
    for (const calls of this.#endpoints.values())
      calls.assume(rateFor(calls.endpoint, this.#settings));
  }

  /** Those that were called, and those that are going to be. */
  everyEndpoint(): readonly EndpointProgress[] {
    for (const operation of allOperations()) {
      const times = this.#planned.times(operation, this.#settings.profile);
      if (times > 0) this.at(operation).planned = times;
    }
    return [...this.#endpoints.values()];
  }

  get isUnderWay(): boolean {
    return [...this.#endpoints.values()].some(({ begun, ended }) => begun > ended);
  }

  /**
   * What takes longest, and how long everything takes: endpoints wait beside each other, and parts of
   * the run one after the other. Undefined where nothing has to wait.
   */
  slowest(now: number): EndpointTime | undefined {
    const endpoints = this.everyEndpoint();
    // An endpoint that was not called yet hardly takes more at once than the others did.
    const mostAtOnce = Math.max(
      1,
      Math.min(...endpoints.map(({ atOnce }) => atOnce ?? Number.POSITIVE_INFINITY)),
    );
    const times = endpoints.map((calls) => ({
      endpoint: calls.endpoint,
      leftMs: calls.leftMs(now, mostAtOnce),
    }));
    const parts = [...Map.groupBy(times, ({ endpoint }) => phaseOf(endpoint)).values()];
    const waits = parts.flatMap((part) => longest(part) ?? []);
    const most = longest(waits);
    return most && { ...most, leftMs: waits.reduce((sum, { leftMs }) => sum + leftMs, 0) };
  }
}

/** The longest of these times, where there is one. */
export const longest = (times: readonly EndpointTime[]): EndpointTime | undefined =>
  times.reduce<EndpointTime | undefined>(
    (most, each) => (each.leftMs > (most?.leftMs ?? 0) ? each : most),
    undefined,
  );
