import type { Clock } from "../../../provider/kernel/clock.js";

/** A clock on which every sleep is over at once; it keeps the time and what was slept. */
export class JumpingClock implements Clock {
  time = 0;
  readonly slept: number[] = [];

  now(): number {
    return this.time;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
  }
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  time = 0;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.time;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.time;
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { until: this.time + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  advance(ms: number): void {
    this.time += ms;
    const due = this.#sleepers.filter(({ until }) => until <= this.time);
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.time);
    for (const { wake } of due) wake();
  }
}

/** Lets everything that is ready run: all microtasks and one round of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
