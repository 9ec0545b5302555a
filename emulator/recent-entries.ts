/** The last entries of a list that would grow without end. */
export class RecentEntries<T> {
  #entries: T[] = [];

  constructor(private readonly most: number) {}

  add(entry: T): void {
    this.#entries.push(entry);
    // Cut only now and then: a cut copies the list.
    if (this.#entries.length >= 2 * this.most) this.#entries = this.#entries.slice(-this.most);
  }

  /** In the order in which they came. */
  all(): readonly T[] {
    return this.#entries.slice(-this.most);
  }

  clear(): void {
    this.#entries = [];
  }
}
