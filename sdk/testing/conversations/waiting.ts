import { setTimeout as pause } from "node:timers/promises";
import type { Emulator } from "../../../emulator/index.js";

/** Between two looks, in milliseconds of real time. */
const lookEveryMs = 10;

/** Time on the emulator's clock, as far as those who wait move it. */
export class EmulatedTime {
  #passedMs = 0;
  #realMs = performance.now();
  #waiting = 0;

  /** @param isManual whether the clock stands still by itself */
  constructor(
    private readonly emulator: Pick<Emulator, "advance">,
    private readonly isManual: boolean,
  ) {}

  /** Milliseconds of waiting so far: these have passed on the emulator's clock, too. */
  now(): number {
    return this.isManual ? this.#passedMs : performance.now();
  }

  /** Moves a manual clock on. @throws Error on the real clock */
  advance(ms: number): void {
    this.emulator.advance(ms);
    this.#passedMs += ms;
  }

  /** Lets the clock go along with real time while something is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isManual) return work();
    const end = this.#goAlong();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /**
   * Looks again and again until there is something to be seen, or the time is over.
   *
   * @returns undefined where the time was over first
   */
  async until<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined> {
    const first = await look();
    if (first !== undefined) return first;
    return this.during(async () => {
      for (const begun = this.now(); this.now() - begun <= withinMs; ) {
        await pause(lookEveryMs);
        const seen = await look();
        if (seen !== undefined) return seen;
      }
      return look();
    });
  }

  #goAlong(): () => void {
    this.#waiting += 1;
    if (this.#waiting === 1) this.#realMs = performance.now();
    const timer = setInterval(() => this.#catchUp(), lookEveryMs);
    return () => {
      clearInterval(timer);
      this.#catchUp();
      this.#waiting -= 1;
    };
  }

  #catchUp(): void {
    const real = performance.now();
    const passed = real - this.#realMs;
    this.#realMs = real;
    if (passed > 0) this.advance(passed);
  }
}
