/** The caller went away while it waited for its turn. */
const gone = new Error("The call was given up.");

interface Waiting {
  /** Whoever asked earlier has a lower one. */
  readonly turn: number;
  readonly start: () => void;
}

/** The calls of one group, in the order of asking. */
interface Group {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Lets so many calls run at once, and so many of them in one group: a callback that is slow keeps no
 * other from its messages, and many conversations at once open no more sockets than a process may have.
 */
export class CallSlots {
  readonly #groups = new Map<string, Group>();
  #running = 0;
  #turns = 0;

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
  take(name: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(gone);
      const group = this.#groups.get(name) ?? { running: 0, waiting: new Set() };
      this.#groups.set(name, group);
      const giveUp = () => {
        group.waiting.delete(waiting);
        this.#tidy(name, group);
        reject(gone);
      };
      const start = () => {
        signal.removeEventListener("abort", giveUp);
        resolve(this.#taken(name, group));
      };
      this.#turns += 1;
      const waiting = { turn: this.#turns, start };
      if (this.#hasRoom(group)) return start();
      signal.addEventListener("abort", giveUp, { once: true });
      group.waiting.add(waiting);
    });
  }

  #hasRoom({ running }: Group): boolean {
    return this.#running < this.most && running < this.mostInGroup;
  }

  #taken(name: string, group: Group): () => void {
    this.#running += 1;
    group.running += 1;
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#running -= 1;
      group.running -= 1;
      this.#startNext();
      this.#tidy(name, group);
    };
  }

  /** A group without calls is forgotten. */
  #tidy(name: string, { running, waiting }: Group): void {
    if (running === 0 && waiting.size === 0) this.#groups.delete(name);
  }

  /** Whoever asked first, of the groups that have room: looks at the first of each only. */
  #startNext(): void {
    let first: { readonly group: Group; readonly waiting: Waiting } | undefined;
    for (const group of this.#groups.values()) {
      const [waiting] = this.#hasRoom(group) ? group.waiting : [];
      if (waiting && waiting.turn < (first?.waiting.turn ?? Number.POSITIVE_INFINITY))
        first = { group, waiting };
    }
    if (!first) return;
    first.group.waiting.delete(first.waiting);
    first.waiting.start();
  }
}
