/** The caller went away while it waited for its turn. */
const gone = new Error("The call was given up.");

interface Waiting {
  readonly group: string;
  readonly start: () => void;
}

/**
 * Lets so many calls run at once, and so many of them in one group: a callback that is slow keeps no
 * other from its messages, and many conversations at once open no more sockets than a process may have.
 */
export class CallSlots {
  #running = 0;
  readonly #inGroup = new Map<string, number>();
  #waiting: Waiting[] = [];

  /**
   * @param most calls at once
   * @param mostInGroup of them in one group
   */
  constructor(
    private readonly most: number,
    private readonly mostInGroup: number,
  ) {}

  /**
   * Waits for a turn, in the order of asking as far as the groups allow.
   *
   * @returns gives the turn back; more than once does nothing more
   * @throws Error where the signal ends the wait
   */
  take(group: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(gone);
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(gone);
      };
      const start = () => {
        signal.removeEventListener("abort", giveUp);
        resolve(this.#taken(group));
      };
      const waiting = { group, start };
      if (this.#hasRoom(group)) return start();
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #hasRoom(group: string): boolean {
    return this.#running < this.most && (this.#inGroup.get(group) ?? 0) < this.mostInGroup;
  }

  #taken(group: string): () => void {
    this.#count(group, 1);
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#count(group, -1);
      this.#startNext();
    };
  }

  #count(group: string, change: number): void {
    this.#running += change;
    const inGroup = (this.#inGroup.get(group) ?? 0) + change;
    if (inGroup > 0) this.#inGroup.set(group, inGroup);
    else this.#inGroup.delete(group);
  }

  #startNext(): void {
    const place = this.#waiting.findIndex(({ group }) => this.#hasRoom(group));
    const [next] = place < 0 ? [] : this.#waiting.splice(place, 1);
    next?.start();
  }
}
