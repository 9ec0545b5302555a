import { AsyncResource } from "node:async_hooks";
import type { Wait } from "../service/http/pace.js";

/** A wait that goes on as announced is announced again after so long, in milliseconds. */
const againMs = 10_000;

/** Later than announced by more than this is news at once, in milliseconds: a refusal came between. */
const toleratedMs = 1_000;

/** What one caller is told of its wait: how long it is, now and then, and at once where it becomes longer. */
export class AnnouncedWait {
  readonly #listen: (wait: Wait) => void;
  #at = Number.NEGATIVE_INFINITY;
  #turnAt = Number.NEGATIVE_INFINITY;

  /** To be made where the caller calls: the listener runs in its asynchronous context, and knows who waits. */
  constructor(onWait: (wait: Wait) => void) {
    this.#listen = AsyncResource.bind(onWait);
  }

  /** @param now in milliseconds of the clock that the wait is measured with */
  tell(wait: Wait, now: number): void {
    const turnAt = now + wait.waitMs;
    if (now - this.#at < againMs && turnAt <= this.#turnAt + toleratedMs) return;
    this.#at = now;
    this.#turnAt = turnAt;
    this.#listen(wait);
  }
}
