import type { Definition } from "../definition/define.js";
import { referencesOf } from "../definition/fields.js";
import type { Clock } from "../kernel/clock.js";
import { durationText } from "../kernel/text.js";
import { conversationRate, likelyBurst } from "../pacing/plan-rates.js";
import { resources } from "../resources/index.js";
import { tokenEndpoint } from "../service/http/client.js";
import {
  allOperations,
  type Endpoint,
  endpointName,
  setUpOperation,
} from "../service/http/operations.js";
import { type Pace, type Wait, waitText } from "../service/http/pace.js";
import type { Plan } from "../service/plans.js";
import type { Settings } from "../service/setting-table.js";
import type { ForeseenCalls } from "./foreseen-calls.js";
import type { RunDisplay, StatusLine } from "./status-line.js";

export interface RunProgressOptions extends RunDisplay {
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly show: StatusLine;
  readonly planned: Pick<ForeseenCalls, "times" | "isWhole">;
  /** Called when the run's first wait starts. */
  readonly onFirstWait?: () => void;
}

/** Progress of one account's calls in a run. */
export interface AccountProgress {
  /** Records that a call for this resource has to wait. */
  waits(wait: Wait, urn?: string): void;
  /** Records that the tenant appears to have a plan other than the assumed one. */
  seems(plan: Plan): void;
  /** Returns a pace that works like the given one and also counts the calls. */
  paced(pace: Pace, urn: () => string | undefined): Pace;
}

/** The content of a resource's row. */
interface WaitingRow {
  readonly wait: Wait;
  readonly until: number;
}

const firstLookMs = 1000;

/** A turn that is due has not come yet. */
const leastShownMs = 1000;

/**
 * Shows the progress of a run while rate limits make it wait. The stack's row and, if possible, a
 * permanent line in the terminal show the number of finished and expected calls and the time left.
 * They also show the endpoint that determines that time, and the number of refusals. A resource's
 * row shows its remaining wait. Each message disappears when its wait is over. Runs without waits
 * show nothing.
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
        // A token has no rate, and is not a step of the run.
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
   * Returns progress such as `34/120 calls, 2 min 5 s left, limited by POST /channels, 3 refused
   * (429)` or, if more calls than expected might follow, `34 of at least 120 calls, at least 2 min
   * 5 s left, limited by POST /channels`.
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
            `limited by ${endpointName(slowest.endpoint)}`,
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

  /**
   * Updates the messages while calls are in progress, at most once every `everyMs` milliseconds.
   */
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

  /**
   * Clears the messages as soon as no call is in progress, because the engine ends the process
   * after the last response.
   */
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

type RatedSettings = Pick<Settings, "profile" | "plan" | "burst" | "share">;

/** The time of the last call to an endpoint. */
interface EndpointTime {
  readonly endpoint: Endpoint;
  readonly leftMs: number;
}

/** The calls of a run to one account, including the expected ones. */
class AccountCalls {
  readonly #planned: Pick<ForeseenCalls, "times">;
  readonly #endpoints = new Map<string, EndpointProgress>();
  #settings: RatedSettings;
  /** Calls that the service refused for their rate (429); they are repeated. */
  refused = 0;

  constructor(settings: RatedSettings, planned: Pick<ForeseenCalls, "times">) {
    this.#settings = settings;
    this.#planned = planned;
  }

  at(endpoint: Endpoint): EndpointProgress {
    const name = endpointName(endpoint);
    const known = this.#endpoints.get(name);
    const calls = known ?? new EndpointProgress(endpoint, this.#settings);
    this.#endpoints.set(name, calls);
    return calls;
  }

  /** Records that the tenant appears to have a plan other than the assumed one. */
  seems(plan: Plan): void {
    this.#settings = { ...this.#settings, plan };
    for (const calls of this.#endpoints.values()) calls.assume(this.#settings);
  }

  /** The endpoints that were called, and those that will be. */
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
   * The slowest endpoint, and the total time: endpoints wait in parallel, and parts of the run one
   * after the other. Undefined if nothing has to wait.
   */
  slowest(now: number): EndpointTime | undefined {
    const endpoints = this.everyEndpoint();
    // An endpoint that was not called yet is unlikely to accept more at once than the others did.
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

/** The longest of these times, if there is any. */
const longest = (times: readonly EndpointTime[]): EndpointTime | undefined =>
  times.reduce<EndpointTime | undefined>(
    (most, each) => (each.leftMs > (most?.leftMs ?? 0) ? each : most),
    undefined,
  );

/** The expected rate of an endpoint. */
interface ExpectedRate {
  /** Time between two calls, in milliseconds. */
  readonly periodMs: number;
  /** Calls that it accepts at once, before they are held back. */
  readonly burst: number;
}

const rateFor = (endpoint: Endpoint, { plan, burst, share }: RatedSettings): ExpectedRate => {
  const assumed = plan ?? "enterprise";
  const { method, template } = endpoint;
  const question = { service: "Conversation", version: "v3", plan: assumed, method, template };
  const periodMs = 1000 / (conversationRate(endpoint, assumed) * share);
  return { periodMs, burst: burst ?? (share < 1 ? 1 : likelyBurst(question).calls) };
};

/** The last report of an endpoint's queue. */
interface Queue {
  /** When the first call in it goes, in milliseconds. */
  readonly headAt: number;
  /** Calls that went before that one. */
  readonly sent: number;
}

/** The calls of one run to one endpoint: how many are finished, how many there will be. */
class EndpointProgress {
  begun = 0;
  ended = 0;
  /** Expected calls, including those already made. */
  planned = 0;
  #rate: ExpectedRate;
  #queue: Queue | undefined;
  #atOnce: number | undefined;

  constructor(
    readonly endpoint: Endpoint,
    settings: RatedSettings,
  ) {
    this.#rate = rateFor(endpoint, settings);
  }

  /** The queue's report is more accurate than the table of rates. */
  learn({ periodMs, queued, ahead, waitMs }: Wait, now: number): void {
    const sent = Math.max(0, this.begun - queued);
    this.#atOnce ??= sent;
    this.#queue = { headAt: now + waitMs - ahead * periodMs, sent };
    this.#rate = { ...this.#rate, periodMs };
  }

  /**
   * Settings other than the assumed ones, such as another plan; the queue's report takes
   * precedence.
   */
  assume(settings: RatedSettings): void {
    if (!this.#queue) this.#rate = rateFor(this.endpoint, settings);
  }

  /** Calls that were sent before others had to wait; undefined if none had to. */
  get atOnce(): number | undefined {
    return this.#atOnce;
  }

  get all(): number {
    return Math.max(this.begun, this.planned);
  }

  /**
   * Time until the last call is sent, in milliseconds.
   *
   * @param mostAtOnce calls that other endpoints of the account have accepted at once
   */
  leftMs(now: number, mostAtOnce: number): number {
    const { periodMs, burst } = this.#rate;
    const left = this.all - this.ended;
    if (left === 0) return 0;
    if (!this.#queue)
      return Math.max(0, Math.min(left, this.all - Math.min(burst, mostAtOnce))) * periodMs;
    const { headAt, sent } = this.#queue;
    const announced = headAt - now + (this.all - sent - 1) * periodMs;
    // Calls that were sent sooner than announced are not waited for.
    return Math.max(0, Math.min(announced, Math.max(0, headAt - now) + left * periodMs));
  }
}

/** The number of kinds below one, each referring to the next. */
const depthOf = (definition: Definition): number =>
  referencesOf(definition).reduce((most, { to }) => Math.max(most, depthOf(to) + 1), 0);

const phases = new Map(
  resources.map((definition) => [
    endpointName(setUpOperation(definition, "delete")),
    depthOf(definition),
  ]),
);

/**
 * The part of a run that the calls to an endpoint belong to: Pulumi deletes in levels, users before
 * the objects that they use, and completes one before it begins the next. All other calls are one
 * part.
 */
const phaseOf = (endpoint: Endpoint): number => phases.get(endpointName(endpoint)) ?? -1;
