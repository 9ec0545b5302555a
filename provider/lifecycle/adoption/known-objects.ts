import { isConversationError } from "../../kernel/errors.js";
import type { Listing, WireObject } from "../../service/objects/collections.js";
import type { Declared, Found } from "../declared.js";

/** The objects of a kind before one of them is made. */
export interface KnownObjects extends Listing {
  /** Why the list could not be had: the client may not list. Absence then proves nothing. */
  readonly refusal?: Error;
}

/** From the one list that all creations of a run share. */
export const knownObjects = async ({ definition, service }: Declared): Promise<KnownObjects> => {
  try {
    return await service.list(definition);
  } catch (error) {
    // Who may create but not list still gets the service's own refusal of a name that is taken.
    if (!isConversationError(error, "FORBIDDEN")) throw error;
    return { objects: new Map(), complete: false, refusal: error };
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

/** The objects that fit. */
export const findAll = (
  objects: Listing["objects"],
  fits: (wire: WireObject, id: string) => boolean,
): readonly Found[] =>
  [...objects].filter(([id, wire]) => fits(wire, id)).map(([id, wire]) => ({ ...wire, id }));
