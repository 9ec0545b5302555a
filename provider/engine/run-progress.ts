import type { Clock } from "../kernel/clock.js";
import { conversationRate, likelyBurst } from "../pacing/plan/plan-rates.js";
import { allOperations, type Endpoint, endpointName } from "../service/http/operations.js";
import type { Pace, Wait } from "../service/http/pace.js";
import type { Settings } from "../service/settings/settings.js";
import { tokenEndpoint } from "../service/token/token-call.js";
import { EndpointProgress, type ExpectedRate } from "./endpoint-progress.js";
import type { ForeseenCalls } from "./foreseen-calls.js";
import type { RunDisplay } from "./run-display.js";
import type { StatusLine } from "./status-line.js";
import { durationText, waitText } from "./wait-text.js";

export interface RunProgressOptions extends RunDisplay {
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly show: StatusLine;
  readonly planned: Pick<ForeseenCalls, "times">;
  /** A wait of the run has begun, and there was none before. */
  readonly onFirstWait?: () => void;
}

/** The calls of one account within a run. */
export interface AccountProgress {
  /** A call for this resource has to wait. */
  waits(wait: Wait, urn?: string): void;
  /** The same pace, whose calls are counted. */
  paced(pace: Pace, urn: () => string | undefined): Pace;
}

/** What the row of a resource shows. */
interface WaitingRow {
  readonly wait: Wait;
  readonly until: number;
}

type RatedSettings = Pick<Settings, "profile" | "plan" | "burst" | "share">;

const rateFor = (endpoint: Endpoint, { plan, burst, share }: RatedSettings): ExpectedRate => {
  const assumed = plan ?? "enterprise";
  const { method, template } = endpoint;
  const question = { service: "Conversation", version: "v3", plan: assumed, method, template };
  const periodMs = 1000 / (conversationRate(endpoint, assumed) * share);
  return { periodMs, burst: burst ?? (share < 1 ? 1 : likelyBurst(question).calls) };
};

const firstLookMs = 1000;

/**
 * Shows how far a run is while it waits for the rate limits: on the stack's row calls done of all,
 * the time left and the endpoint that decides it; on the row of a resource how long it still waits.
 * Each is taken away when it is over. Shows nothing in runs that wait for nothing.
 */
export class RunProgress {
  readonly #options: RunProgressOptions;
  readonly #endpoints = new Map<string, EndpointProgress>();
  readonly #accounts = new Set<RatedSettings>();
  readonly #rows = new Map<string, WaitingRow>();
  #isShowing = false;
  #hasWaited = false;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(options: RunProgressOptions) {
    this.#options = options;
  }

  of(settings: RatedSettings): AccountProgress {
    this.#accounts.add(settings);
    const endpointOf = (endpoint: Endpoint) => this.#endpoint(endpoint, settings);
    return {
      waits: (wait, urn) => {
        endpointOf(wait).learn(wait);
        if (urn) this.#rows.set(urn, { wait, until: this.#options.clock.now() + wait.waitMs });
        if (!this.#hasWaited) this.#options.onFirstWait?.();
        this.#hasWaited = true;
        if (!this.#isShowing) void this.#show();
      },
      paced: (pace, urnOf) => async (endpoint, attempt, signal) => {
        // A token has no rate, and is no step of the run.
        if (endpoint.template === tokenEndpoint.template) return pace(endpoint, attempt, signal);
        const progress = endpointOf(endpoint);
        const urn = urnOf();
        progress.begun += 1;
        try {
          return await pace(
            endpoint,
            () => {
              if (this.#rows.size > 0) this.#clear(urn);
              return attempt();
            },
            signal,
          );
        } finally {
          progress.ended += 1;
          if (this.#rows.size > 0) this.#clear(urn);
          if (this.#isShowing) this.#takeAway();
        }
      },
    };
  }

  /** `34/120 calls, 2 min 5 s left, POST /channels decides` */
  text(): string {
    const endpoints = this.#everyEndpoint();
    const sum = (of: (each: EndpointProgress) => number) =>
      endpoints.reduce((total, each) => total + of(each), 0);
    const slowest = endpoints.reduce<EndpointProgress | undefined>(
      (most, each) => (each.leftMs > (most?.leftMs ?? 0) ? each : most),
      undefined,
    );
    const calls = `${sum(({ ended }) => ended)}/${sum(({ all }) => all)} calls`;
    return slowest
      ? `${calls}, ${durationText(slowest.leftMs)} left, ${slowest.name} decides`
      : calls;
  }

  #endpoint(endpoint: Endpoint, settings: RatedSettings): EndpointProgress {
    const name = endpointName(endpoint);
    const key = `${settings.profile ?? ""} ${name}`;
    const progress =
      this.#endpoints.get(key) ?? new EndpointProgress(name, rateFor(endpoint, settings));
    this.#endpoints.set(key, progress);
    return progress;
  }

  /** Those that were called, and those that are going to be. */
  #everyEndpoint(): readonly EndpointProgress[] {
    const { planned } = this.#options;
    for (const settings of this.#accounts)
      for (const operation of allOperations()) {
        const times = planned.times(operation, settings.profile);
        if (times > 0) this.#endpoint(operation, settings).planned = times;
      }
    return [...this.#endpoints.values()];
  }

  #clear(urn: string | undefined): void {
    if (urn && this.#rows.delete(urn) && this.#options.isLive) this.#options.show("", urn);
  }

  get #isUnderWay(): boolean {
    return [...this.#endpoints.values()].some(({ begun, ended }) => begun > ended);
  }

  /** Goes on for as long as calls are under way; a new look comes no sooner than `everyMs` after the last. */
  async #show(): Promise<void> {
    const { clock, everyMs } = this.#options;
    this.#isShowing = true;
    while (this.#isUnderWay) {
      const nextMs = this.#drawnAt + everyMs - clock.now();
      await clock.sleep(Math.max(firstLookMs, nextMs));
      if (this.#isUnderWay) this.#draw();
    }
    this.#isShowing = false;
  }

  /** At once, and not at the next look: the engine ends the process after the last answer. */
  #takeAway(): void {
    const { isLive, show, title } = this.#options;
    if (this.#isUnderWay) return;
    if (isLive) show("");
    title?.("");
  }

  #draw(): void {
    const { clock, isLive, show, title } = this.#options;
    const text = this.text();
    this.#drawnAt = clock.now();
    show(text);
    title?.(text);
    if (!isLive) return;
    for (const [urn, { wait, until }] of this.#rows)
      show(waitText({ ...wait, waitMs: Math.max(0, until - clock.now()) }), urn);
  }
}
