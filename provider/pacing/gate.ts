import type Bottleneck from "bottleneck";

/** Lower goes first. */
export const turns = { repeat: 1, new: 5 } as const;

export type Turn = (typeof turns)[keyof typeof turns];

/**
 * Lets one job run at a time: repeats first, then in order of arrival. Only the queue and the
 * priorities of the library are used; the time of a call is never left to it.
 */
export class Gate {
  #limiter: Promise<Bottleneck> | undefined;

  async run<T>(turn: Turn, job: () => Promise<T>): Promise<T> {
    this.#limiter ??= import("bottleneck").then(({ default: Queue }) => {
      return new Queue({ maxConcurrent: 1 });
    });
    return (await this.#limiter).schedule({ priority: turn }, job);
  }
}
