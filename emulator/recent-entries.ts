/** A part of a list that grows at its end and is forgotten from its beginning. */
export interface EntriesSince<T> {
  /** Place of the oldest entry that is still there; places count on over the emulator's life. */
  readonly first: number;
  /** Place of the next entry: what to ask for the next time. */
  readonly next: number;
  readonly entries: readonly T[];
}

/** The last entries of a list that would grow without end. */
export class RecentEntries<T> {
  #entries: T[] = [];
  /** How many there were before the first of these. */
  #forgotten = 0;

  constructor(private readonly most: number) {}

  add(entry: T): void {
    this.#entries.push(entry);
    // Cut only now and then: a cut copies the list.
    if (this.#entries.length >= 2 * this.most) this.#forget(this.#entries.length - this.most);
  }

  /** In the order in which they came. */
  all(): readonly T[] {
    return this.#entries.slice(-this.most);
  }

  /** The entries from a place on; all of them where the place is beyond the end. */
  since(place: number): EntriesSince<T> {
    const entries = this.all();
    const next = this.#forgotten + this.#entries.length;
    const first = next - entries.length;
    const from = place > next ? 0 : Math.max(0, place - first);
    return { first, next, entries: entries.slice(from) };
  }

  clear(): void {
    this.#forget(this.#entries.length);
  }

  #forget(count: number): void {
    this.#forgotten += count;
    this.#entries = this.#entries.slice(count);
  }
}
