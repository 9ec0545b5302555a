/** A part of a list that grows at its end and is trimmed at its start. */
export interface EntriesSince<T> {
  /** Position of the oldest entry that is still stored. Positions increase over the emulator's lifetime. */
  readonly first: number;
  /** Position of the next entry: the value to pass next time. */
  readonly next: number;
  readonly entries: readonly T[];
}

/** The last entries of a list that would otherwise grow without limit. */
export class RecentEntries<T> {
  #entries: T[] = [];
  /** Number of entries before the first of these. */
  #forgotten = 0;

  constructor(private readonly most: number) {}

  add(entry: T): void {
    this.#entries.push(entry);
    // Trimmed only now and then, as trimming copies the list.
    if (this.#entries.length >= 2 * this.most) this.#forget(this.#entries.length - this.most);
  }

  /** In order of arrival. */
  all(): readonly T[] {
    return this.#entries.slice(-this.most);
  }

  /** The entries from a position on; all of them if the position is beyond the end. */
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

/** One call in the log: no secret, no token, no body. */
export interface LogEntry {
  readonly at: string;
  readonly method: string;
  readonly template: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly clientId?: string;
}

/** A call as the page shows it. */
export interface ShownCall extends LogEntry {
  /** Why the service refused: the code and the message of its response, never a value that was sent. */
  readonly reason?: string;
}

/** Calls on an endpoint: those refused by the rate limit, and all others. */
export interface CallCounts {
  accepted: number;
  refused: number;
}

/**
 * Paths of the services that share the plan are made up by callers: beyond this many, the least
 * recently called one is forgotten.
 */
const mostEndpoints = 2_000;

/** The last calls, and the number of calls on each endpoint. */
export class CallLog {
  readonly entries = new RecentEntries<ShownCall>(10_000);
  readonly #counts = new Map<string, CallCounts>();

  /** Logs a call. A 429 counts as refused, every other response to an authenticated client as accepted. */
  add(entry: ShownCall): void {
    this.entries.add(entry);
    if (entry.clientId === undefined) return;
    const name = `${entry.method} ${entry.template}`;
    const counts = this.#counts.get(name) ?? { accepted: 0, refused: 0 };
    counts[entry.status === 429 ? "refused" : "accepted"] += 1;
    this.#counts.delete(name);
    this.#counts.set(name, counts);
    if (this.#counts.size > mostEndpoints) this.#forgetOldest();
  }

  counts(): Readonly<Record<string, CallCounts>> {
    return Object.fromEntries(this.#counts);
  }

  reset(): void {
    this.entries.clear();
    this.#counts.clear();
  }

  #forgetOldest(): void {
    const [oldest = ""] = this.#counts.keys();
    this.#counts.delete(oldest);
  }
}
