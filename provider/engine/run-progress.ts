import type { Clock } from "../kernel/clock.js";
import { endpointName } from "../service/http/operations.js";
import type { Pace, Wait } from "../service/http/pace.js";
import type { Plan } from "../service/setting-table.js";
import { tokenEndpoint } from "../service/token.js";
import { AccountCalls, longest, type RatedSettings } from "./account-calls.js";
import type { ForeseenCalls } from "./foreseen-calls.js";
import type { RunDisplay } from "./run-display.js";
import type { StatusLine } from "./status-line.js";
import { durationText, waitText } from "./wait-text.js";

export interface RunProgressOptions extends RunDisplay {
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly show: StatusLine;
  readonly planned: Pick<ForeseenCalls, "times" | "isWhole">;
  /** A wait of the run has begun, and there was none before. */
  readonly onFirstWait?: () => void;
}

/** The calls of one account within a run. */
export interface AccountProgress {
  /** A call for this resource has to wait. */
  waits(wait: Wait, urn?: string): void;
  /** The tenant seems to have another plan than was assumed. */
  seems(plan: Plan): void;
  /** The same pace, whose calls are counted. */
  paced(pace: Pace, urn: () => string | undefined): Pace;
}

/** What the row of a resource shows. */
interface WaitingRow {
  readonly wait: Wait;
  readonly until: number;
}

const firstLookMs = 1000;

/** A turn that is due is not there yet. */
const leastShownMs = 1000;

/**
 * Shows how far a run is while it waits for the rate limits: on the stack's row, and where a terminal
 * always shows it, calls done of all, the time left, the endpoint that decides it and what the service
 * refused; on the row of a resource how long it still waits. Each is taken away when it is over. Shows nothing in runs that wait for nothing.
 */
export class RunProgress {
  readonly #options: RunProgressOptions;
  readonly #accounts: AccountCalls[] = [];
  readonly #rows = new Map<string, WaitingRow>();
  #isShowing = false;
  #hasWaited = false;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(options: RunProgressOptions) {
    this.#options = options;
  }

  of(settings: RatedSettings): AccountProgress {
    const account = new AccountCalls(settings, this.#options.planned);
    this.#accounts.push(account);
    return {
      waits: (wait, urn) => {
        const now = this.#options.clock.now();
        account.at(wait).learn(wait, now);
        if (urn) this.#rows.set(urn, { wait, until: now + wait.waitMs });
        if (!this.#hasWaited) this.#options.onFirstWait?.();
        this.#hasWaited = true;
        if (!this.#isShowing) void this.#show();
      },
      seems: (plan) => account.seems(plan),
      paced: (pace, urnOf) => (endpoint, attempt, signal) =>
        // A token has no rate, and is no step of the run.
        endpoint.template === tokenEndpoint.template
          ? pace(endpoint, attempt, signal)
          : this.#counted(account, pace, urnOf())(endpoint, attempt, signal),
    };
  }

  #counted(account: AccountCalls, pace: Pace, urn: string | undefined): Pace {
    return async (endpoint, attempt, signal) => {
      const calls = account.at(endpoint);
      const sent: typeof attempt = async () => {
        this.#clear(urn);
        const response = await attempt();
        if (response.status === 429) account.refused += 1;
        return response;
      };
      calls.begun += 1;
      try {
        return await pace(endpoint, sent, signal);
      } finally {
        calls.ended += 1;
        this.#clear(urn);
        if (this.#isShowing) this.#takeAway();
      }
    };
  }

  /**
   * `34/120 calls, 2 min 5 s left, POST /channels decides, 3 refused (429)`; where more calls may follow
   * than are foreseen: `34 of at least 120 calls, at least 2 min 5 s left, POST /channels decides`.
   */
  text(): string {
    const now = this.#options.clock.now();
    const endpoints = this.#accounts.flatMap((account) => account.everyEndpoint());
    const done = endpoints.reduce((sum, { ended }) => sum + ended, 0);
    const all = endpoints.reduce((sum, calls) => sum + calls.all, 0);
    const { isWhole } = this.#options.planned;
    const least = isWhole ? "" : "at least ";
    const slowest = longest(this.#accounts.flatMap((account) => account.slowest(now) ?? []));
    const refused = this.#accounts.reduce((sum, account) => sum + account.refused, 0);
    return [
      isWhole ? `${done}/${all} calls` : `${done} of at least ${all} calls`,
      ...(slowest
        ? [
            `${least}${durationText(slowest.leftMs)} left`,
            `${endpointName(slowest.endpoint)} decides`,
          ]
        : []),
      ...(refused > 0 ? [`${refused} refused (429)`] : []),
    ].join(", ");
  }

  #clear(urn: string | undefined): void {
    if (urn && this.#rows.delete(urn) && this.#options.isLive) this.#options.show("", urn);
  }

  get #isUnderWay(): boolean {
    return this.#accounts.some(({ isUnderWay }) => isUnderWay);
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
    const { isLive, show, status } = this.#options;
    if (this.#isUnderWay) return;
    if (isLive) show("");
    status?.("");
  }

  #draw(): void {
    const { clock, isLive, show, status } = this.#options;
    const text = this.text();
    this.#drawnAt = clock.now();
    show(text);
    status?.(text);
    if (!isLive) return;
    for (const [urn, { wait, until }] of this.#rows) {
      const waitMs = Math.max(leastShownMs, until - clock.now());
      show(waitText({ ...wait, waitMs }), urn);
    }
  }
}
