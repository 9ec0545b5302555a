import { isConversationError } from "../../kernel/errors.js";
import type { Listing, WireObject } from "./collections.js";
import { isTooLarge } from "./list-budget.js";
import type { FirstPage } from "./pages.js";

/** What an own write made of an object; undefined: it is gone. */
interface Write {
  readonly id: string;
  readonly object: WireObject | undefined;
}

/** A listing is read on for one object in so many of its further pages: others are likely to follow. */
const pagesForOne = 4;

/**
 * The listing of one collection: asked for once, shared by all who want it, and kept true by own
 * writes. A listing that was under way during a write does not undo what the write told.
 */
export class ListCache {
  readonly #first: () => Promise<FirstPage>;
  /** The first page of a listing under way, or of one whose other pages were not worth their calls so far. */
  #begun: Promise<FirstPage> | undefined;
  /** Objects that were looked for. */
  readonly #wanted = new Set<string>();
  #kept: Promise<Listing> | undefined;
  /** The failure of a listing that is too large: to read so much again for each caller would be in vain. */
  #tooLarge: Promise<Listing> | undefined;
  #running: Promise<Listing> | undefined;
  #following: Promise<Listing> | undefined;
  #objects: Map<string, WireObject> | undefined;
  /** Own writes since the listing under way was started. */
  #writes: Write[] = [];
  #doubtful = false;

  constructor(first: () => Promise<FirstPage>) {
    this.#first = first;
  }

  /** The listing kept, or the one under way, or a new one. */
  get(): Promise<Listing> {
    return this.#kept ?? this.#running ?? this.#tooLarge ?? this.#start();
  }

  /** The first page, kept, under way or new: resolves where the service has answered with a list. */
  async answered(): Promise<void> {
    await (this.#kept ?? this.#begin());
  }

  /**
   * The object as the listing shows it, or undefined. Where the listing is long and few objects are
   * looked for, only its first page is read: asking for them one by one is cheaper.
   */
  async find(id: string): Promise<WireObject | undefined> {
    if (!this.#kept && !this.#tooLarge) {
      this.#wanted.add(id);
      const begun = this.#begin();
      const page = await begun;
      const isEnough = page.objects.has(id) || !(this.#running || this.#isWorthReading(page));
      if (isEnough && this.#begun === begun && !this.#doubtful) return this.#shown(page, id);
    }
    return (await this.get()).objects.get(id);
  }

  #begin(): Promise<FirstPage> {
    if (this.#begun) return this.#begun;
    this.#writes = [];
    this.#doubtful = false;
    const begun = this.#first();
    begun.catch((error) => {
      if (this.#begun === begun) this.#begun = undefined;
      // Asking again would be refused again: the refusal is as good an answer as a listing.
      if (isConversationError(error, "FORBIDDEN")) this.#keep(refused(error));
    });
    this.#begun = begun;
    return begun;
  }

  #isWorthReading({ objects, callsLeft }: FirstPage): boolean {
    const elsewhere = [...this.#wanted].filter((id) => !objects.has(id));
    return callsLeft === 0 || callsLeft < pagesForOne * elsewhere.length;
  }

  #shown({ objects }: FirstPage, id: string): WireObject | undefined {
    const written = this.#writes.findLast((write) => write.id === id);
    return written ? written.object : objects.get(id);
  }

  /** A listing that starts after this call; callers meanwhile share it. */
  fresh(): Promise<Listing> {
    if (!this.#running) {
      this.#begun = undefined;
      return this.#start();
    }
    this.#following ??= this.#afterRunning(this.#running);
    return this.#following;
  }

  wrote(id: string, object: WireObject | undefined): void {
    if (this.#begun) this.#writes.push({ id, object });
    if (this.#objects) apply(this.#objects, id, object);
  }

  /** What is kept of an object. */
  known(id: string): WireObject | undefined {
    return this.#objects?.get(id);
  }

  /** A write may or may not have had an effect: nothing that is kept can be vouched for. */
  forget(): void {
    this.#doubtful = true;
    if (!this.#running) this.#begun = undefined;
    this.#keep(undefined);
  }

  async #afterRunning(running: Promise<Listing>): Promise<Listing> {
    try {
      await running;
    } catch {
      // Its own callers are told; the next listing is another try.
    }
    this.#following = undefined;
    return this.#start();
  }

  #start(): Promise<Listing> {
    this.#tooLarge = undefined;
    const listing = this.#listed(this.#begin());
    this.#running = listing;
    return listing;
  }

  async #listed(begun: Promise<FirstPage>): Promise<Listing> {
    try {
      const { objects, complete } = await (await begun).rest();
      for (const { id, object } of this.#writes) apply(objects, id, object);
      const listing: Listing = { objects, complete };
      if (!this.#doubtful) this.#keep(Promise.resolve(listing), objects);
      return listing;
    } catch (error) {
      if (isTooLarge(error)) this.#tooLarge = refused(error);
      throw error;
    } finally {
      this.#begun = undefined;
      this.#running = undefined;
    }
  }

  #keep(listing: Promise<Listing> | undefined, objects?: Map<string, WireObject>): void {
    this.#kept = listing;
    this.#objects = objects;
  }
}

const refused = (error: unknown): Promise<Listing> => {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
};

const apply = (
  objects: Map<string, WireObject>,
  id: string,
  object: WireObject | undefined,
): void => {
  if (object) objects.set(id, object);
  else objects.delete(id);
};
