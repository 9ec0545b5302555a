import type { Clock } from "../provider/kernel/clock.js";

interface Timer {
  at: number;
  readonly fire: () => void;
  /** Of an interval; it does not end. */
  readonly everyMs?: number;
  /** Libraries ask that a timer does not keep the process alive. */
  readonly unref: () => void;
}

/** Idle rounds of the event loop before time moves on. */
const quietRounds = 4;

/** A clock that stands still while anything is left to do, then jumps to the earliest timer. */
export class VirtualTime implements Clock {
  #now = 0;
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = this.#start(ms, () => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      });
      const cancel = (): void => {
        this.#stop(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  /**
   * Lets time pass until the work is done.
   *
   * @throws Error if nothing is left to wait for before that
   */
  async during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const over = (): void => {
      isDone = true;
    };
    work.then(over, over);
    for (;;) {
      for (let round = 0; round < quietRounds; round += 1)
        await new Promise((resolve) => setImmediate(resolve));
      if (isDone) return work;
      this.#step();
    }
  }

  /**
   * Makes this process's timers and dates virtual, since libraries cannot be handed a clock.
   * Returns a function that undoes this.
   */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const wall = Date.now;
    // As in Node, no timer fires before a millisecond has passed.
    const least = (ms = 0): number => Math.max(1, ms);
    const clear = (timer: Timer): void => this.#stop(timer);
    Object.assign(globalThis, {
      setTimeout: (fire: () => void, ms?: number) => this.#start(least(ms), fire),
      setInterval: (fire: () => void, ms?: number) => this.#start(least(ms), fire, least(ms)),
      clearTimeout: clear,
      clearInterval: clear,
    });
    Date.now = () => this.wall();
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = wall;
    };
  }

  /** Fires the earliest timer, and all others that are due then. */
  #step(): void {
    const next = this.#timers[0];
    if (!next) throw new Error("The work is not done, but no timer is left to wait for.");
    this.#now = Math.max(this.#now, next.at);
    for (let due: Timer | undefined = next; due && due.at <= this.#now; due = this.#timers[0]) {
      this.#stop(due);
      // The same object, by which it is stopped.
      if (due.everyMs !== undefined) this.#add(Object.assign(due, { at: this.#now + due.everyMs }));
      due.fire();
    }
  }

  #start(ms: number, fire: () => void, everyMs?: number): Timer {
    const at = this.#now + Math.max(0, ms);
    return this.#add({ at, fire, unref: () => undefined, ...(everyMs ? { everyMs } : {}) });
  }

  #add(timer: Timer): Timer {
    const place = this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1;
    this.#timers.splice(place, 0, timer);
    return timer;
  }

  #stop(timer: Timer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }
}
