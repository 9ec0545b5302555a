import type { Clock } from "../../provider/kernel/clock.js";
import { isObject, jsonIn, listedObjects } from "../../provider/kernel/json.js";
import {
  grantOf,
  type TokenGrant,
  tokenFailure,
  tokenRequest,
} from "../../provider/service/http/client.js";
import type { Method } from "../../provider/service/http/operations.js";
import { retryAfterMs } from "../../provider/service/http/pace.js";
import {
  type HttpResponse,
  type Transport,
  TransportFailure,
} from "../../provider/service/http/transport.js";
import type { Settings } from "../../provider/service/setting-table.js";

/** An answer of the tenant, including refusals. */
export interface TenantAnswer {
  readonly status: number;
  /** The JSON value; undefined if there is none. */
  readonly body: unknown;
  /** The value of a header; undefined if it is missing. */
  readonly header: (name: string) => string | undefined;
}

/** Why no further call may be made. */
export class ProbeStopped extends Error {
  constructor(readonly reason: "budget" | "interrupted") {
    super(reason === "budget" ? "the allowed calls were used up" : "the probe was interrupted");
  }
}

/** No answer: whether the call had an effect is not known, unless it was never sent. */
export class NoTenantAnswer extends Error {
  /** Whether no byte of the call was written. */
  get isUnsent(): boolean {
    return this.cause instanceof TransportFailure && !this.cause.sent;
  }
}

interface TenantCall {
  readonly query?: string;
  readonly body?: unknown;
}

interface TenantClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Maximum number of calls, including those for tokens and repeats. */
  readonly mostCalls: number;
  /** Ends everything except the clean-up. */
  readonly signal: AbortSignal;
  /**
   * How long a call of the clean-up may still take once the signal is aborted, in milliseconds. The
   * first one without an answer then ends the clean-up.
   */
  readonly lastCallMs?: number;
}

/**
 * An origin that nobody owns: the response of the token URL shows whether foreign pages may
 * read it.
 */
export const foreignOrigin = "https://probe.invalid";

/** Refusals unrelated to the content of a call: they concern who calls, how slowly, how often. */
const ofEveryCall: readonly number[] = [401, 407, 408, 421, 425, 429];

/** Whether a call was refused for its content, not for a failure. */
export const isRefused = ({ status }: Pick<TenantAnswer, "status">): boolean =>
  status >= 400 && status < 500 && !ofEveryCall.includes(status);

const mostRepeats = 6;
const mostTries = 3;
/** Less than the 10 s in which a command ends. */
const lastCallMs = 8_000;
/** Longest pause, if the tenant does not ask for one and if it does. */
const longestWaitMs = { guessed: 10_000, asked: 60_000 };
const headers = { accept: "application/json", "accept-language": "en-US" } as const;

const answerOf = ({ status, text, headers: got }: HttpResponse): TenantAnswer => ({
  status,
  body: jsonIn(text),
  header: (name) => {
    const value = got[name];
    return Array.isArray(value) ? value[0] : value;
  },
});

/**
 * Calls a tenant and returns every answer unchanged, including refusals. Calls beyond the rate are
 * repeated after a while; calls beyond the budget are not made.
 */
export class TenantClient {
  /** Calls so far, including those for tokens. */
  calls = 0;
  /** How many of them were refused for reasons unrelated to their content. */
  refusals = 0;
  /** Calls to keep in reserve for the removal of what was made. */
  reserved = 0;
  #isCleaning = false;
  /** Whether the tenant stays silent although the person waits for the end. */
  #isGivenUp = false;
  #token: Promise<TokenGrant & { readonly answer: TenantAnswer }> | undefined;

  constructor(
    readonly settings: Settings,
    private readonly options: TenantClientOptions,
  ) {}

  /** Time of this client, in milliseconds. */
  now(): number {
    return this.options.clock.now();
  }

  /** @throws ProbeStopped if the probe is interrupted, except during the clean-up */
  async sleep(ms: number): Promise<void> {
    const { clock, signal } = this.options;
    if (this.#isCleaning) return clock.sleep(ms);
    await clock.sleep(ms, signal).catch(() => {
      throw new ProbeStopped("interrupted");
    });
  }

  /** The token in use, and the answer that it came with. */
  token() {
    this.#token ??= this.#fetchToken().catch((error: unknown) => {
      // The cause of the failure may be gone, such as the budget during the clean-up.
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }

  /**
   * Fetches the first token, so that nothing begins on a tenant that cannot be reached.
   *
   * @throws ConversationError
   */
  async connect(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.token();
        return;
      } catch (error) {
        if (!(error instanceof NoTenantAnswer)) throw error;
        const parts = { settings: this.settings, secrets: [] };
        if (attempt >= mostTries) throw tokenFailure(parts, error.cause);
      }
      await this.sleep(500 * attempt);
    }
  }

  /** From now on, calls are made regardless of the budget. */
  startCleaning(): void {
    this.#isCleaning = true;
  }

  /** Makes a call, repeated while it exceeds the rate, and if reading or removing failed. */
  async call(method: Method, path: string, call: TenantCall = {}): Promise<TenantAnswer> {
    for (let repeat = 0; ; repeat += 1) {
      const answer = await this.#tried(method, path, call);
      if (answer.status !== 429 || repeat >= mostRepeats) return answer;
      const askedMs = retryAfterMs(
        { "retry-after": answer.header("retry-after"), date: answer.header("date") },
        this.options.clock.wall(),
      );
      const waitMs = Math.min(
        askedMs === undefined ? longestWaitMs.guessed : longestWaitMs.asked,
        askedMs ?? 1000 * 2 ** repeat,
      );
      await this.sleep(waitMs);
    }
  }

  /** Makes one call, without repeats. @throws NoTenantAnswer */
  async attempt(method: Method, path: string, { query, body }: TenantCall = {}) {
    const { accessToken } = await this.token();
    const response = await this.#exchange({
      method,
      url: `${this.settings.baseUrl}${path}${query === undefined ? "" : `?${query}`}`,
      headers: {
        ...headers,
        authorization: `Bearer ${accessToken}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = answerOf(response);
    // Something in front of the tenant answered; whether the tenant acted is not known.
    if (answer.status < 300 && answer.body === undefined && response.text.trim() !== "")
      throw new NoTenantAnswer("received text that is not JSON instead of the tenant's response");
    if (answer.status === 401) this.#token = undefined;
    if (ofEveryCall.includes(answer.status)) this.refusals += 1;
    return answer;
  }

  async #tried(method: Method, path: string, call: TenantCall): Promise<TenantAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = method === "POST" || attempt >= mostTries;
      try {
        const answer = await this.attempt(method, path, call);
        const isPassing = answer.status >= 500 || answer.status === 401;
        if (!isPassing || (isLast && answer.status !== 401) || attempt >= mostTries) return answer;
      } catch (error) {
        if (isLast || this.#isGivenUp || !(error instanceof NoTenantAnswer)) throw error;
      }
      await this.sleep(500 * attempt);
    }
  }

  async #fetchToken() {
    const request = tokenRequest(this.settings, { ...headers, origin: foreignOrigin });
    const response = await this.#exchange(request);
    return { ...grantOf(this.settings, response), answer: answerOf(response) };
  }

  async #exchange(request: Parameters<Transport["send"]>[0]): Promise<HttpResponse> {
    const { signal, mostCalls, transport } = this.options;
    const isCleaning = this.#isCleaning;
    if (!isCleaning) {
      if (signal.aborted) throw new ProbeStopped("interrupted");
      if (this.calls + this.reserved >= mostCalls) throw new ProbeStopped("budget");
    }
    if (this.#isGivenUp) throw new NoTenantAnswer(silent);
    this.calls += 1;
    const { limit, release } = this.#limit();
    try {
      return await transport.send({ ...request, signal: limit });
    } catch (error) {
      if (signal.aborted && !isCleaning) throw new ProbeStopped("interrupted");
      this.#isGivenUp = signal.aborted;
      throw new NoTenantAnswer(silent, { cause: error });
    } finally {
      release();
    }
  }

  /** Ends a call: at once if the probe is interrupted, a little later if it cleans up. */
  #limit(): { readonly limit: AbortSignal; readonly release: () => void } {
    const { signal, lastCallMs: ms = lastCallMs } = this.options;
    const over = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const begin = (): void => {
      if (this.#isCleaning) timer = setTimeout(() => over.abort(), ms);
      else over.abort();
    };
    if (signal.aborted) begin();
    else signal.addEventListener("abort", begin, { once: true });
    return {
      limit: over.signal,
      release: () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", begin);
      },
    };
  }
}

const silent = "the tenant did not respond";

/** The objects of a list, and their total number. */
export const listIn = ({ body }: TenantAnswer, listKey: string) => {
  const members = isObject(body) ? body : {};
  const items = listedObjects(members[listKey]);
  const info = isObject(members.paginationInfo) ? members.paginationInfo : {};
  const count = typeof info.count === "number" ? info.count : undefined;
  const pageSize = typeof info.pagesize === "number" ? info.pagesize : undefined;
  return { items, count, pageSize };
};
