import { randomUUID } from "node:crypto";
import type { Clock } from "../service/clock.js";
import { type BucketState, type Lesson, longestHoldPeriods, type Taken } from "./buckets.js";
import { Learning } from "./learning.js";

/** Leave to send one call now. */
export interface Admission {
  /** `due`: its token came back at the limit's rate. `saved`: saved up before. `trial`: to find out. */
  readonly kind: "due" | "saved" | "trial";
  readonly at: number;
  /** Tokens that were due before. */
  readonly tokens: number;
  /** The first call that the bucket knows of. */
  readonly first: boolean;
}

/** Not now. */
export interface Wait {
  readonly waitMs: number;
  /** An answer that is on its way may end the wait before. */
  readonly mayEndEarly: boolean;
}

export interface EndpointBucketOptions {
  readonly clock: Clock;
  readonly state: BucketState;
  readonly key: string;
  /** Calls per second that may be made now; may change while the plan is being guessed. */
  readonly rate: () => number;
  readonly burst?: number;
  readonly share: number;
  readonly onRefused: () => void;
  readonly onAccepted: () => void;
}

/** Two machines' clocks do not run at quite the same speed. */
const driftPart = 1.0005;
const mostSavedUnderWay = 8;
const quietMs = 10_000;

/** The client's view of one endpoint's bucket: says when a call may go and learns from the answers. */
export class EndpointBucket {
  readonly #options: EndpointBucketOptions;
  readonly #learning: Learning;
  /** Tells this process from others that share the bucket. */
  readonly #name = randomUUID();
  #answered = false;
  /** A call was admitted: only the first one tells when the bucket started to refill. */
  #begun = false;
  /** Tokens that were there when the first was taken, less those taken since. */
  #left: number | undefined;
  readonly #underWay = { due: 0, saved: 0, trial: 0 };
  /** When the last trial was sent that was not refused. */
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Saved-up calls that may be under way together: 1, 2, 4, 8 while they get through. */
  #window = 1;
  #roundTripMs = 0;
  #takenAt = Number.NEGATIVE_INFINITY;
  #heldAt = Number.NEGATIVE_INFINITY;

  constructor(options: EndpointBucketOptions) {
    this.#options = options;
    const { burst, share } = options;
    this.#learning = new Learning({ share, ...(burst === undefined ? {} : { burst }) });
  }

  get periodMs(): number {
    return (1000 / this.#options.rate()) * driftPart;
  }

  /** Takes a token if a call may go now. */
  take(): Admission | Wait | Promise<Admission | Wait> {
    const { state, key } = this.#options;
    const periodMs = this.periodMs;
    const now = this.#options.clock.now();
    if (now - this.#takenAt > Math.max(2 * periodMs, quietMs)) this.#startAnew();
    const untilDue = this.#takenAt + periodMs - now;
    if (this.#underWay.saved >= this.#window && untilDue > 0)
      return { waitMs: untilDue, mayEndEarly: true };
    const trial = this.#mayTry() ? { trialBy: this.#name } : {};
    const rules = { ...this.#learning.rules(periodMs), ...trial };
    const taken = state.take(key, rules);
    const admit = (found: Taken) => this.#admit(found, rules.capacity);
    return taken instanceof Promise ? taken.then(admit) : admit(taken);
  }

  /**
   * A due call counts as a trial, as it, too, is refused where a trial overtakes it. Not on a long
   * line, where one is always under way.
   */
  #mayTry(): boolean {
    const { trial, due } = this.#underWay;
    const isNear = 4 * this.#roundTripMs < this.periodMs;
    return this.#learning.mayTry(trial, isNear ? Math.min(1, due) : 0);
  }

  #startAnew(): void {
    this.#window = 1;
    this.#answered = false;
    this.#left = undefined;
  }

  #admit({ waitMs, tokens, trial, lesson }: Taken, capacity: number): Admission | Wait {
    const learning = this.#learning;
    const now = this.#options.clock.now();
    if (lesson) learning.adopt(lesson);
    learning.noticed(tokens, capacity, now);
    // Asked again: several calls may have asked for the same trial together.
    if (waitMs > 0 && !(trial && this.#mayTry())) {
      return { waitMs, mayEndEarly: this.#underWay.trial > 0 };
    }
    const kind = waitMs > 0 ? "trial" : Math.min(tokens, capacity) >= 2 ? "saved" : "due";
    this.#count(kind, 1);
    if (kind === "trial") this.#triedAt = now;
    else {
      this.#takenAt = now;
      this.#left = (this.#left ?? Math.min(tokens, capacity)) - 1;
    }
    const first = tokens === 0 && !this.#begun;
    this.#begun = true;
    return { kind, at: now, tokens, first };
  }

  #count(kind: Admission["kind"], change: number): void {
    this.#underWay[kind] += change;
  }

  /** The call was not refused. */
  accepted(admission: Admission): void | Promise<void> {
    this.#count(admission.kind, -1);
    this.#roundTripMs = this.#options.clock.now() - admission.at;
    if (admission.kind === "trial") {
      this.#answered = true;
      this.#learning.trialAccepted(admission.tokens);
      return this.#tell(admission);
    }
    const before = this.#learning.lesson;
    this.#learning.accepted(admission.tokens);
    this.#options.onAccepted();
    if (admission.kind === "saved") this.#window = Math.min(this.#window + 1, mostSavedUnderWay);
    if (!this.#answered) return this.#firstAnswer();
    const { lesson } = this.#learning;
    return lesson === before ? undefined : this.#learn(lesson);
  }

  /**
   * The first call after a pause arrives late: it fetches a token and connects. If the bucket was full
   * it took nothing in meanwhile, so what came back until this answer is not counted on.
   */
  #firstAnswer(): Promise<void> {
    this.#answered = true;
    const left = Math.max(0, this.#left ?? 0);
    return this.#hold((1 - left) * this.periodMs, false);
  }

  /** The call ended without an answer, or was never sent. */
  ended(admission: Admission): void {
    this.#count(admission.kind, -1);
  }

  async refused(admission: Admission, retryAfterMs: number | undefined): Promise<void> {
    this.#count(admission.kind, -1);
    const now = this.#options.clock.now();
    if (admission.kind === "trial" || this.#wasOvertaken(admission)) {
      this.#learning.trialRefused(now);
      await this.#tell(admission);
      if (retryAfterMs !== undefined) await this.#hold(retryAfterMs, false);
      return;
    }
    // Calls that were under way together are refused together: that is one refusal, not many.
    if (admission.at <= this.#heldAt) return;
    this.#heldAt = now;
    this.#window = 1;
    const before = this.#learning.lesson;
    const waitMs = this.#learning.refused(admission.kind === "saved", this.periodMs);
    this.#options.onRefused();
    const { lesson } = this.#learning;
    await this.#hold(retryAfterMs ?? waitMs, true);
    if (lesson !== before) await this.#learn(lesson);
  }

  /** A trial that was sent with a due call or after it may have come first and had its token. */
  #wasOvertaken({ kind, at }: Admission): boolean {
    return kind === "due" && this.#triedAt >= at;
  }

  /** After a trial. The bucket surely refills from the time at which its first call was answered. */
  async #tell({ first }: Admission): Promise<void> {
    const { lesson } = this.#learning;
    if (first) await this.#hold(this.periodMs, false);
    await this.#learn(lesson);
  }

  /** What was kept before may be read, and taken over, until this is done. */
  async #learn(lesson: Lesson): Promise<void> {
    await this.#options.state.learn(this.#options.key, lesson);
    this.#learning.adopt(lesson);
  }

  async #hold(askedMs: number, refund: boolean): Promise<void> {
    const { periodMs } = this;
    const waitMs = Math.min(askedMs, longestHoldPeriods * periodMs);
    await this.#options.state.hold(this.#options.key, { periodMs, refund, waitMs });
  }
}
