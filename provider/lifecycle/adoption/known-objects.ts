import { type ConversationError, isConversationError } from "../../kernel/errors.js";
import type { Declared, Found } from "../declared.js";
import { type SeenObject, seenObjects } from "../ownership/seen-object.js";

/** The objects of a kind before one of them is made. */
export interface KnownObjects {
  readonly objects: readonly SeenObject[];
  /** False where the list has holes: absence from it then proves nothing. */
  readonly complete: boolean;
  /** Why the list could not be had: the client may not list. */
  readonly refusal?: ConversationError;
}

/** From the one list that all creations of a run share. */
export const knownObjects = async (declared: Declared): Promise<KnownObjects> => {
  try {
    const { objects, complete } = await declared.service.list(declared.definition);
    return { objects: seenObjects(declared, objects), complete };
  } catch (error) {
    // Where names are unique the service itself refuses a second object; the others are not made.
    if (!isConversationError(error, "FORBIDDEN")) throw error;
    return { objects: [], complete: false, refusal: error };
  }
};

/**
 * The object itself, to be written over: a list may show less of it, and may have been asked for long
 * ago. Undefined where it is gone.
 */
export const wholeObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<Found | undefined> => {
  const wire = await service.read(definition, id);
  return wire && { ...wire, id };
};
