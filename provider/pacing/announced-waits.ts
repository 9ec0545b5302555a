import type { Wait } from "../service/http/pace.js";

/** A wait that goes on as announced is announced again after so long, in milliseconds. */
const againMs = 10_000;

/** Later than announced by more than this is news at once, in milliseconds: a refusal came between. */
const toleratedMs = 1_000;

/** Who is told of one wait. */
export type WaitListener = (wait: Wait) => void;

/** What callers are told of their waits: how long each is, now and then, and at once where it becomes longer. */
export class AnnouncedWaits {
  readonly #told = new WeakMap<WaitListener, { readonly at: number; readonly turnAt: number }>();

  /**
   * @param listener another one for each wait
   * @param now in milliseconds of the clock that the wait is measured with
   */
  tell(listener: WaitListener, wait: Wait, now: number): void {
    const turnAt = now + wait.waitMs;
    const last = this.#told.get(listener);
    if (last && now - last.at < againMs && turnAt <= last.turnAt + toleratedMs) return;
    this.#told.set(listener, { at: now, turnAt });
    listener(wait);
  }
}
