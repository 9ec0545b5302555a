import type { Definition } from "../definition/define.js";
import { isConversationError } from "../kernel/errors.js";

/** An object as the service sends it. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What the list operation answered, all pages together. */
export interface Listing {
  /**
   * By id. An object whose id no call can use is there under a text that `assertId` refuses, as its
   * name is taken all the same.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** False where the pages could not all be had: absence from the listing then proves nothing. */
  readonly complete: boolean;
}

/** How far a list has been read. */
export interface ListProgress {
  /** Objects that came so far. */
  readonly objects: number;
  /** Calls that the other pages take, as far as the service says; 0 if it does not. */
  readonly callsLeft: number;
  /** Objects in all, as the last page counted them. Left out: the service does not count. */
  readonly count?: number;
}

export interface ListOptions {
  /** Asks the service again. */
  readonly fresh?: boolean;
  /** Called after each page, also of a list that another caller asked for. */
  readonly onPage?: (progress: ListProgress) => void;
}

/** The five operations of a collection (specification §4.1). Every failure is a ConversationError. */
export interface Collections {
  /** One paged list per collection and process, shared by all callers and kept up to date by the writes below. */
  list(definition: Definition, options?: ListOptions): Promise<Listing>;
  /** The object as the list shows it; undefined where it does not, or where so much of it is not worth reading: then `read` knows. */
  find(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * The object, or undefined where the service says 404. Nothing else counts as absence, and a 404
   * only at an address that was seen to be the service's: else it fails with `BAD_RESPONSE`.
   */
  read(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * Never repeats a POST whose effect is unknown. Gives back what the answer holds, at least the id;
   * `created` and `modified`, where the answer does not hold them, by the time of the answer.
   */
  create(definition: Definition, body: WireObject): Promise<WireObject & { readonly id: string }>;
  /**
   * Fails with `NOT_FOUND` where the object is gone, believed like that of `read`. Gives back when the
   * object was changed: by its answer, or by the time of the answer.
   */
  replace(
    definition: Definition,
    id: string,
    body: WireObject,
  ): Promise<{ readonly modified?: string }>;
  /** Succeeds where the object is already gone, believed like that of `read`. */
  remove(definition: Definition, id: string): Promise<void>;
  /**
   * The service's time in milliseconds since 1970, good to about a second; this machine's as long as
   * no answer showed another, undefined if that was never set.
   */
  now(): number | undefined;
}

/** Whether a change or deletion may have been made although its answer is none of the service's: only the object shows it. */
export const isUnclear = (error: unknown): boolean =>
  isConversationError(error, "BAD_RESPONSE") && error.effect !== "none";
