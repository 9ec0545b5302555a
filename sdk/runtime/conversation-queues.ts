/** What begins here begins after whoever called was answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work of many conversations: in order within each, side by side between them. */
export class ConversationQueues {
  readonly #last = new Map<string, Promise<void>>();
  #waiting = 0;

  /** Pieces of work that are not done yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Adds work, which must not fail. It begins later, never at once. */
  add(conversationId: string, work: () => Promise<void>): void {
    this.#waiting += 1;
    const before = this.#last.get(conversationId) ?? nextTurn();
    const mine = before.then(work).finally(() => {
      this.#waiting -= 1;
      if (this.#last.get(conversationId) === mine) this.#last.delete(conversationId);
    });
    this.#last.set(conversationId, mine);
  }

  /** When all work is done, also what is added meanwhile. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
