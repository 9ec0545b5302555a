/** What begins here begins after whoever called was answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The work of one conversation. */
interface Line {
  last: Promise<unknown>;
  waiting: number;
}

/** Work of many conversations: in order within each, side by side between them. */
export class ConversationQueues {
  readonly #lines = new Map<string, Line>();
  #waiting = 0;

  /** Pieces of work that are not done yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Those of one conversation. */
  waitingIn(conversationId: string): number {
    return this.#lines.get(conversationId)?.waiting ?? 0;
  }

  /** Adds work, which must not fail. It begins later, never at once. */
  add<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(conversationId) ?? { last: nextTurn(), waiting: 0 };
    this.#lines.set(conversationId, line);
    this.#waiting += 1;
    line.waiting += 1;
    const mine = line.last.then(work).finally(() => {
      this.#waiting -= 1;
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(conversationId);
    });
    line.last = mine;
    return mine;
  }

  /** When all work is done, also what is added meanwhile. */
  async idle(): Promise<void> {
    while (this.#lines.size > 0) {
      await Promise.all([...this.#lines.values()].map(({ last }) => last));
    }
  }
}
