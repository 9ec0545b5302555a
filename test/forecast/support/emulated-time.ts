import { Agent, request as httpRequest } from "node:http";
import { afterEach, vi } from "vitest";
import type { Emulator } from "../../../emulator/index.js";
import type { Clock } from "../../../provider/kernel/clock.js";
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from "../../../provider/service/http/transport.js";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

const round = setImmediate;
const quietRounds = 6;

/**
 * The emulator's manual clock as the clock of its clients: goes on to the next timer by itself as
 * soon as no call is under way and nothing else is left to do. The process's own timers run on it.
 */
export class EmulatedTime implements Clock {
  #now = 0;
  #timers: Timer[] = [];
  #underWay = 0;
  readonly #emulator: Emulator;
  /** Calls that were not refused, tokens left out. */
  accepted = 0;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.#after(ms, resolve);
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason);
      });
    });
  }

  /** Calls over real sockets; time stands still while one is under way. */
  transport(): Transport {
    const agent = new Agent({ keepAlive: true });
    const send = async (request: HttpRequest): Promise<HttpResponse> => {
      this.#underWay += 1;
      try {
        const answer = await answerTo(request, agent);
        const counts = answer.status !== 429 && request.url !== this.#emulator.tokenUrl;
        this.accepted += counts ? 1 : 0;
        return answer;
      } finally {
        this.#underWay -= 1;
      }
    };
    return { send, close: async () => agent.destroy() };
  }

  /** Lets time pass until the work is done; gives the seconds that it took. */
  async seconds(work: Promise<unknown>): Promise<number> {
    const start = this.#now;
    let done = false;
    const over = () => {
      done = true;
    };
    work.then(over, over);
    for (;;) {
      await this.#quiet();
      if (done) break;
      const next = this.#timers.shift();
      if (!next) throw new Error("Nothing is left to wait for, but the work is not done.");
      this.#emulator.advance(Math.max(0, next.at - this.#now));
      this.#now = Math.max(this.#now, next.at);
      next.fire();
    }
    await work;
    return (this.#now - start) / 1000;
  }

  async #quiet(): Promise<void> {
    for (let rounds = 0; rounds < quietRounds; rounds++) {
      await new Promise((resolve) => round(resolve));
      if (this.#underWay > 0) rounds = 0;
    }
  }

  #after(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), fire };
    const place = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Takes over the process's timers, on which libraries wait. */
  install(): void {
    vi.stubGlobal("setTimeout", (fire: () => void, ms = 0) => this.#after(ms, fire));
    vi.stubGlobal("clearTimeout", (stop?: () => void) => stop?.());
  }
}

/** By Node's own client, whose timers are not those that the test takes over. */
const answerTo = ({ method, url, headers, body }: HttpRequest, agent: Agent) =>
  new Promise<HttpResponse>((resolve, reject) => {
    const call = httpRequest(url, { method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
      });
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    call.on("error", reject);
    call.end(body);
  });

afterEach(() => {
  vi.unstubAllGlobals();
});
