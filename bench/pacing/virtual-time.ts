import type { Clock } from "../../provider/kernel/clock.js";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** As much of Node's own timer object as libraries use. */
interface TimerHandle {
  ref(): TimerHandle;
  unref(): TimerHandle;
  hasRef(): boolean;
  refresh(): TimerHandle;
  readonly stop: () => void;
}

/** So often the event loop must come round with nothing under way before time goes on. */
const quietRounds = 4;

type RealTimer = NodeJS.Timeout | string | number | undefined;

const isHandle = (timer: RealTimer | TimerHandle): timer is TimerHandle =>
  typeof timer === "object" && "stop" in timer;

/**
 * A discrete-event clock shared by a service and everything that calls it: time stands still while a
 * call is under way, then jumps to the earliest timer.
 */
export class VirtualTime implements Clock {
  #now = 0;
  readonly #timers: Timer[] = [];
  #underWay = 0;
  readonly #onAdvance: ((ms: number) => void)[] = [];

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = this.#add(ms, () => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      });
      const cancel = (): void => {
        this.#remove(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  /** Tells another clock of every step. */
  onAdvance(advance: (ms: number) => void): void {
    this.#onAdvance.push(advance);
  }

  /** Time stands still until the work, which is not made of timers, is done. */
  async holding<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Lets time pass until the work is done.
   *
   * @throws Error if nothing is left to wait for before that
   */
  async during<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const over = (): void => {
      done = true;
    };
    work.then(over, over);
    for (;;) {
      await this.#quiet();
      if (done) return work;
      this.#step();
    }
  }

  /**
   * Makes this process's timers and dates virtual, since libraries cannot be handed a clock. Gives
   * back the way to undo it.
   */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const wall = Date.now;
    const start =
      (again: boolean) =>
      (fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): TimerHandle =>
        this.#handle(ms, () => fire(...args), again);
    const clear =
      (real: (timer: RealTimer) => void) =>
      (timer: RealTimer | TimerHandle): void =>
        isHandle(timer) ? timer.stop() : real(timer);
    Object.assign(globalThis, {
      setTimeout: start(false),
      setInterval: start(true),
      clearTimeout: clear(clearTimeout),
      clearInterval: clear(clearInterval),
    });
    Date.now = () => this.wall();
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = wall;
    };
  }

  async #quiet(): Promise<void> {
    for (let round = 0; round < quietRounds; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#underWay > 0) round = -1;
    }
  }

  #step(): void {
    const next = this.#timers.shift();
    if (!next) throw new Error("Nothing is left to wait for, but the work is not done.");
    const ms = Math.max(0, next.at - this.#now);
    this.#now += ms;
    for (const advance of this.#onAdvance) advance(ms);
    next.fire();
    while (this.#timers[0] && this.#timers[0].at <= this.#now) this.#timers.shift()?.fire();
  }

  #add(ms: number, fire: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, ms), fire };
    const place = this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1;
    this.#timers.splice(place, 0, timer);
    return timer;
  }

  #remove(timer: Timer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }

  #handle(ms: number, fire: () => void, again: boolean): TimerHandle {
    // As in Node: nothing comes sooner than after a millisecond.
    const delay = Math.max(1, ms);
    const run = (): void => {
      if (again) timer = this.#add(delay, run);
      fire();
    };
    let timer = this.#add(delay, run);
    const handle: TimerHandle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => {
        this.#remove(timer);
        timer = this.#add(delay, run);
        return handle;
      },
      stop: () => this.#remove(timer),
    };
    return handle;
  }
}
