import type { Clock } from "../../../provider/kernel/clock.js";

interface Timer {
  readonly at: number;
  readonly number: number;
  readonly fire: () => void;
}

const round = setImmediate;

/** A clock that goes on by itself to the next timer as soon as nothing else is left to do. */
export class VirtualTime implements Clock {
  time = 0;
  #timers: Timer[] = [];
  #numbers = 0;

  now(): number {
    return this.time;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = this.#after(ms, resolve);
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason);
      });
    });
  }

  /** Lets time pass until the work is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const over = () => {
      done = true;
    };
    work.then(over, over);
    for (;;) {
      for (let n = 0; n < 3; n++) await new Promise((resolve) => round(resolve));
      if (done) return work;
      const next = this.#timers.shift();
      if (!next) throw new Error("Nothing is left to wait for, but the work is not done.");
      this.time = Math.max(this.time, next.at);
      next.fire();
      while (this.#timers[0] && this.#timers[0].at <= this.time) this.#timers.shift()?.fire();
    }
  }

  #after(ms: number, fire: () => void): () => void {
    const timer = { at: this.time + Math.max(0, ms), number: this.#numbers++, fire };
    const place = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }
}

/** A new virtual time for one test. */
export const virtualTime = (): VirtualTime => new VirtualTime();
