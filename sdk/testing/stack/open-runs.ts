import { StackFailure } from "./stack-failure.js";

/** The runs of Pulumi on a stack, which end when it is closed. */
export class OpenRuns {
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly signal: AbortSignal = this.#controller.signal;

  async add<T>(run: () => Promise<T>): Promise<T> {
    if (this.signal.aborted)
      throw new StackFailure("The stack is closed: nothing runs on it any more.");
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Asks Pulumi to end. */
  abort(): void {
    this.#controller.abort();
  }

  /** When the last of them has ended. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#running]);
  }
}
