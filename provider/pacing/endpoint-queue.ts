import type { Clock } from "../service/clock.js";
import type { ConversationError } from "../service/errors.js";
import type { Endpoint } from "../service/operations.js";
import { retryAfterMs } from "../service/retry-after.js";
import type { HttpResponse } from "../service/transport.js";
import type { Admission, EndpointBucket, Wait } from "./endpoint-bucket.js";
import { Gate, turns } from "./gate.js";
import { WaitBoard, type WaitNews } from "./wait-board.js";
import { cancelledWhileWaiting, stillRefused } from "./waiting-errors.js";

export interface EndpointQueueOptions {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly bucket: EndpointBucket;
  /** Longest time for one call to get through after its first refusal, in milliseconds. */
  readonly totalMs: number;
  readonly onWait: (news: WaitNews) => void;
}

/** One call on its way. */
interface Call {
  readonly signal: AbortSignal | undefined;
  refusals: number;
  giveUpAt: number;
  /** The caller no longer waits. */
  gone: boolean;
}

/** So often at least the head of the queue looks again. */
const longestSleepMs = 10_000;

/** The calls of one endpoint: a queue whose head waits for the bucket. Other endpoints do not notice. */
export class EndpointQueue {
  readonly #options: EndpointQueueOptions;
  readonly #gate = new Gate();
  readonly #board = new WaitBoard();
  #asking = false;
  #sleep: AbortController | undefined;
  /** Answers so far: a change while the head asked for its turn means that it asks again. */
  #answers = 0;

  constructor(options: EndpointQueueOptions) {
    this.#options = options;
  }

  async run(attempt: () => Promise<HttpResponse>, signal?: AbortSignal): Promise<HttpResponse> {
    const call: Call = { signal, refusals: 0, giveUpAt: Number.POSITIVE_INFINITY, gone: false };
    for (;;) {
      const admission = await this.#turn(call);
      const response = await this.#tried(admission, attempt);
      if (response.status !== 429) return response;
      call.refusals += 1;
      if (call.refusals === 1) call.giveUpAt = this.#options.clock.now() + this.#options.totalMs;
    }
  }

  async #tried(admission: Admission, attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { bucket, clock } = this.#options;
    let response: HttpResponse;
    try {
      response = await attempt();
    } catch (error) {
      bucket.ended(admission);
      this.#answered();
      throw error;
    }
    const told =
      response.status === 429
        ? bucket.refused(admission, retryAfterMs(response.headers, clock.wall()))
        : bucket.accepted(admission);
    if (told) await told;
    this.#answered();
    return response;
  }

  #answered(): void {
    this.#answers += 1;
    this.#sleep?.abort();
  }

  async #turn(call: Call): Promise<Admission> {
    const ended = this.#endOf(call);
    if (ended) throw ended;
    // While nobody waits there is no need to queue.
    const turn = this.#board.size === 0 && !this.#asking ? this.#asked() : undefined;
    const now = turn instanceof Promise ? await turn : turn;
    return now && "kind" in now ? now : this.#queued(call);
  }

  /** One call asks at a time, so that each knows what the one before was given. */
  #asked(): Admission | Wait | Promise<Admission | Wait> {
    const found = this.#options.bucket.take();
    if (!(found instanceof Promise)) return found;
    this.#asking = true;
    return found.finally(() => {
      this.#asking = false;
    });
  }

  #endOf({ signal, giveUpAt, refusals }: Call): ConversationError | undefined {
    const { endpoint, clock } = this.#options;
    if (signal?.aborted) return cancelledWhileWaiting(endpoint);
    return clock.now() >= giveUpAt ? stillRefused(endpoint, refusals) : undefined;
  }

  #queued(call: Call): Promise<Admission> {
    const turn = call.refusals > 0 ? turns.repeat : turns.new;
    const waiter = this.#board.join(turn, this.#options.onWait);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#board.leave(waiter);
        call.signal?.removeEventListener("abort", cancel);
      };
      const cancel = (): void => {
        call.gone = true;
        leave();
        this.#sleep?.abort();
        reject(cancelledWhileWaiting(this.#options.endpoint));
      };
      if (call.signal?.aborted) return cancel();
      call.signal?.addEventListener("abort", cancel, { once: true });
      this.#gate
        .run(turn, () => this.#head(call))
        .then((admission) => {
          if (admission && call.gone) return this.#options.bucket.ended(admission);
          leave();
          return admission ? resolve(admission) : undefined;
        })
        .catch((error: unknown) => {
          leave();
          reject(error);
        });
    });
  }

  /** Waits at the head of the queue; undefined where the caller has gone. */
  async #head(call: Call): Promise<Admission | undefined> {
    while (!call.gone) {
      const ended = this.#endOf(call);
      if (ended) throw ended;
      const answers = this.#answers;
      const turn = await this.#options.bucket.take();
      if ("kind" in turn) return turn;
      if (answers === this.#answers && !call.gone) await this.#pause(turn);
    }
    return undefined;
  }

  async #pause({ waitMs, mayEndEarly }: Wait): Promise<void> {
    const { clock, bucket } = this.#options;
    if (!mayEndEarly) this.#board.announce(clock.now(), waitMs, bucket.periodMs);
    const sleep = new AbortController();
    this.#sleep = sleep;
    try {
      await clock.sleep(Math.min(Math.ceil(waitMs), longestSleepMs), sleep.signal);
    } catch {
      // Woken by an answer, or because the caller has gone: the loop looks again.
    } finally {
      this.#sleep = undefined;
    }
  }
}
