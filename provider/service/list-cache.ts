import type { Listing, WireObject } from "./collections.js";
import { isConversationError } from "./errors.js";
import type { Pages } from "./pages.js";

/** What an own write made of an object; undefined: it is gone. */
interface Write {
  readonly id: string;
  readonly object: WireObject | undefined;
}

/**
 * The listing of one collection: asked for once, shared by all who want it, and kept true by own
 * writes. A listing that was under way during a write does not undo what the write told.
 */
export class ListCache {
  readonly #read: () => Promise<Pages>;
  #kept: Promise<Listing> | undefined;
  #running: Promise<Listing> | undefined;
  #following: Promise<Listing> | undefined;
  #objects: Map<string, WireObject> | undefined;
  /** Own writes since the listing under way was started. */
  #writes: Write[] = [];
  #doubtful = false;

  constructor(read: () => Promise<Pages>) {
    this.#read = read;
  }

  /** The listing kept, or the one under way, or a new one. */
  get(): Promise<Listing> {
    return this.#kept ?? this.#running ?? this.#start();
  }

  /** A listing that starts after this call; callers meanwhile share it. */
  fresh(): Promise<Listing> {
    if (!this.#running) return this.#start();
    this.#following ??= this.#afterRunning(this.#running);
    return this.#following;
  }

  wrote(id: string, object: WireObject | undefined): void {
    if (this.#running) this.#writes.push({ id, object });
    if (this.#objects) apply(this.#objects, id, object);
  }

  /** What is kept of an object. */
  known(id: string): WireObject | undefined {
    return this.#objects?.get(id);
  }

  /** A write may or may not have had an effect: nothing that is kept can be vouched for. */
  forget(): void {
    this.#doubtful = true;
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
    this.#writes = [];
    this.#doubtful = false;
    const listing = this.#listed();
    this.#running = listing;
    return listing;
  }

  async #listed(): Promise<Listing> {
    try {
      const { objects, complete } = await this.#read();
      for (const { id, object } of this.#writes) apply(objects, id, object);
      const listing: Listing = { objects, complete };
      if (!this.#doubtful) this.#keep(Promise.resolve(listing), objects);
      return listing;
    } catch (error) {
      // Asking again would be refused again: the refusal is as good an answer as a listing.
      if (isConversationError(error, "FORBIDDEN")) this.#keep(refused(error));
      throw error;
    } finally {
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
