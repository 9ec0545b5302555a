import type { Definition } from "../definition/define.js";

/** An object as the service sends it. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What the list operation told, all pages together. */
export interface Listing {
  /** By id. */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** False where the pages could not all be had: absence from the listing then proves nothing. */
  readonly complete: boolean;
}

/** The five operations of a collection (specification §4.1). Every failure is a ConversationError. */
export interface Collections {
  /** One paged list per collection and process, shared by all callers and kept up to date by the writes below. `fresh` asks the service again. */
  list(definition: Definition, options?: { readonly fresh?: boolean }): Promise<Listing>;
  /** The object as the list shows it; undefined where it does not, or where so much of it is not worth reading: then `read` tells. */
  find(definition: Definition, id: string): Promise<WireObject | undefined>;
  /** The object, or undefined where the service says 404; nothing else counts as absence. */
  read(definition: Definition, id: string): Promise<WireObject | undefined>;
  /** Never repeats a POST whose effect is unknown. Gives back at least the id. */
  create(definition: Definition, body: WireObject): Promise<WireObject & { readonly id: string }>;
  /** Fails with `NOT_FOUND` where the object is gone. */
  replace(definition: Definition, id: string, body: WireObject): Promise<void>;
  /** Succeeds where the object is already gone. */
  remove(definition: Definition, id: string): Promise<void>;
}
