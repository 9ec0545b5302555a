/** A part of a list that grows at its end and is trimmed at its start. */
export interface EntriesSince<T> {
  /** Position of the oldest entry that is still stored. Positions increase over the emulator's lifetime. */
  readonly first: number;
  /** Position of the next entry, to be passed in the next request. */
  readonly next: number;
  readonly entries: readonly T[];
}

/** The last entries of a list that would otherwise grow without limit. */
export class RecentEntries<T> {
  #entries: T[] = [];
  /** Number of entries removed before the first stored one. */
  #forgotten = 0;

  constructor(private readonly most: number) {}

  /** @returns its place */
  add(entry: T): number {
    const place = this.#forgotten + this.#entries.push(entry) - 1;
    // Trimmed only now and then, as trimming copies the list.
    if (this.#entries.length >= 2 * this.most) this.#forget(this.#entries.length - this.most);
    return place;
  }

  /** The entries in order of arrival. */
  all(): readonly T[] {
    return this.#entries.slice(-this.most);
  }

  /** The entries starting at a position; all entries if the position is beyond the end. */
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

/** One call in the log, without secrets, tokens, or bodies. */
export interface LogEntry {
  readonly at: string;
  readonly method: string;
  readonly template: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly clientId?: string;
}

/** The subjects of an entry, for links and filters. */
export interface WithSubjects {
  /** The subjects, such as `channels/<id>`, `conversations/<id>`, or `messages/<messageId>`. */
  readonly subjects: readonly string[];
}

/** A call as the page lists it. */
export interface ShownCall extends LogEntry, WithSubjects {
  /**
   * Why the service refused the call: the code and the message in its response, never a value from
   * the request.
   */
  readonly reason?: string;
  /** Whether this is a refused call to the token URL. Only the page lists such calls. */
  readonly isTokenCall?: true;
}

/** An entry in the form in which the control interface returns it. */
export const withoutSubjects = <T extends WithSubjects>({ subjects: _, ...entry }: T) => entry;

/**
 * The service's checks that can refuse a call, in order; `credentials` is the token URL's check.
 */
export type Check =
  | "credentials"
  | "size"
  | "path"
  | "token"
  | "rate"
  | "fault"
  | "scope"
  | "operation";

/** The body of a request or response. */
export interface KeptBody {
  /** Size in bytes. */
  readonly size: number;
  /** The body's text. Absent if the body is too large to be stored. */
  readonly text?: string;
  /** Whether secrets in the body are already hidden. */
  readonly isMasked?: true;
}

/**
 * Details of a call. The bodies contain secrets in plain text; hide the secrets before you show a
 * body.
 */
export interface CallContent {
  readonly sent?: KeptBody | undefined;
  readonly answer?: KeptBody | undefined;
  /** The last check that the call reached. */
  readonly check: Check;
  /** The kind of fault that the call encountered. */
  readonly fault?: string;
}

/** Maximum size of a stored body, in bytes. */
export const longestKept = 64 * 1024;
/** How much of all bodies is kept, in characters; the oldest go first. */
const mostCharacters = 8 * 1024 * 1024;

/** A body in its stored form; undefined if the body is empty. @param text returns the body's text */
export const keptBody = (size: number, text: () => string): KeptBody | undefined => {
  if (size === 0) return undefined;
  return size > longestKept ? { size } : { size, text: text() };
};

const charactersOf = ({ sent, answer }: CallContent): number =>
  (sent?.text?.length ?? 0) + (answer?.text?.length ?? 0);

/** How many calls to an endpoint were refused because of the rate limit, and how many were not. */
export interface CallCounts {
  accepted: number;
  refused: number;
}

/**
 * Paths of the services that share the plan are made up by callers: beyond this many, the least
 * recently called one is forgotten.
 */
const mostEndpoints = 2_000;

const mostCalls = 10_000;

/** The last calls with their bodies, and the number of calls to each endpoint. */
export class CallLog {
  readonly entries = new RecentEntries<ShownCall>(mostCalls);
  readonly #counts = new Map<string, CallCounts>();
  /** The calendar month of the last call, and its calls by HTTP method. */
  #month = "";
  #monthly: Record<string, number> = {};
  /** The details of each call, keyed by the call's position, oldest first. */
  readonly #contents = new Map<number, CallContent>();
  #characters = 0;

  /**
   * Logs a call. A 429 counts as refused; every other response to an authenticated client counts as
   * accepted.
   */
  add(entry: ShownCall, content: CallContent): void {
    this.#keep(this.entries.add(entry), content);
    if (entry.clientId === undefined) return;
    const name = `${entry.method} ${entry.template}`;
    this.#countInMonth(entry);
    const counts = this.#counts.get(name) ?? { accepted: 0, refused: 0 };
    counts[entry.status === 429 ? "refused" : "accepted"] += 1;
    this.#counts.delete(name);
    this.#counts.set(name, counts);
    if (this.#counts.size > mostEndpoints) this.#forgetOldest();
  }

  counts(): Readonly<Record<string, CallCounts>> {
    return Object.fromEntries(this.#counts);
  }

  /**
   * The calls of the last call's calendar month by HTTP method, without refused ones (429): what
   * they take of the plan's monthly quota.
   */
  get monthly(): Readonly<Record<string, number>> {
    return this.#monthly;
  }

  /** The call at a position, and its details; undefined if either is no longer stored. */
  callAt(place: number): { readonly entry: ShownCall; readonly content: CallContent } | undefined {
    const { entries } = this.entries.since(place);
    const [entry, content] = [entries[0], this.#contents.get(place)];
    return entry && content && { entry, content };
  }

  reset(): void {
    this.entries.clear();
    this.#counts.clear();
    this.#monthly = {};
    this.#contents.clear();
    this.#characters = 0;
  }

  #countInMonth({ at, method, status }: ShownCall): void {
    const month = at.slice(0, "yyyy-mm".length);
    if (month !== this.#month) this.#monthly = {};
    this.#month = month;
    if (status !== 429) this.#monthly[method] = (this.#monthly[method] ?? 0) + 1;
  }

  #keep(place: number, content: CallContent): void {
    this.#contents.set(place, content);
    this.#characters += charactersOf(content);
    for (const [oldest, gone] of this.#contents) {
      if (this.#characters <= mostCharacters && this.#contents.size <= mostCalls) break;
      this.#contents.delete(oldest);
      this.#characters -= charactersOf(gone);
    }
  }

  #forgetOldest(): void {
    const [oldest = ""] = this.#counts.keys();
    this.#counts.delete(oldest);
  }
}
