import type { Definition } from "../definition/define.js";
import { sameMeaning } from "../definition/meaning.js";
import { type ConversationError, isConversationError } from "../kernel/errors.js";
import type { Listing, WireObject } from "../service/lists.js";
import {
  hasRoom,
  isCopy,
  isSameResource,
  type Mark,
  markOn,
  nameOnWire,
} from "./ownership/mark.js";
import type { Found } from "./refusals.js";
import type { Declared } from "./resource.js";

/** An object in the service, classified from the point of view of one resource. */
export interface SeenObject {
  readonly id: string;
  readonly wire: WireObject;
  /** The mark in the object's description; a copy carries the original's mark. */
  readonly mark: Mark | undefined;
  /** The mark, unless it is part of the description that the program declares. */
  readonly addedMark: Mark | undefined;
  /** Whether the object carries the resource's mark. */
  readonly isOurs: boolean;
  /** Whether the object carries the resource's mark and nothing shows that the object is a copy. */
  readonly isOwn: boolean;
  /** Whether the object has the resource's name, in any form that the service may return. */
  readonly isNamed: boolean;
  /**
   * Whether the object may have the resource's name. An unreadable name counts as a possible match.
   */
  readonly mayBeNamed: boolean;
  /** Whether the object's description leaves no room for the resource's mark. */
  readonly isRoomless: boolean;
}

/** The objects of a kind before another one is created. */
export interface KnownObjects {
  readonly objects: readonly SeenObject[];
  /** Whether the list is complete. If it is not, absence from the list proves nothing. */
  readonly complete: boolean;
  /** The error if the client lacks permission to list objects. */
  readonly refusal?: ConversationError;
}

/**
 * Reads the list that all creations in a run share. If the client may not list objects and names
 * are unique, the service itself refuses a second object; otherwise nothing is created.
 */
export const listObjects = async (declared: Declared): Promise<KnownObjects> => {
  try {
    const { objects, complete } = await declared.service.list(declared.definition);
    return { objects: seeObjects(declared, objects), complete };
  } catch (error) {
    if (!isConversationError(error, "FORBIDDEN")) throw error;
    return { objects: [], complete: false, refusal: error };
  }
};

/** Classifies the objects in a list, once for all decisions in a call. */
export const seeObjects = (
  declared: Declared,
  objects: Listing["objects"],
): readonly SeenObject[] => {
  const see = seeFor(declared);
  return Array.from(objects, ([id, wire]) => see(id, wire));
};

/** Classifies one object from the point of view of one resource. */
export const seeObject = (declared: Declared, id: string, wire: WireObject): SeenObject =>
  seeFor(declared)(id, wire);

/** What does not depend on the object is decided once: every creation looks at all objects of its kind. */
const seeFor = (declared: Declared) => {
  const { definition, properties } = declared;
  const { [declared.nameKey]: nameField, description: textField } = definition.fields;
  const given = properties.fields.description;
  const isPlain = nameField?.type === "text" && !nameField.json && !nameField.format;
  const isPlainWanted = isPlain && hasOneForm(declared.name);
  return (id: string, wire: WireObject): SeenObject => {
    const { description, created } = wire;
    const name = wire[declared.nameOnWire];
    const { mark, hasPlainName } = readFacts(name, wire);
    const isOurs =
      mark !== undefined && declared.mark !== undefined && isSameResource(mark, declared.mark);
    // Most names have only one form, and then a simple comparison is enough.
    const isNamed =
      nameField !== undefined &&
      (hasPlainName && isPlainWanted
        ? name === declared.name
        : sameMeaning(nameField, name, declared.name));
    const isGiven =
      mark && textField && given !== undefined && sameMeaning(textField, description, given);
    return {
      id,
      wire,
      mark,
      addedMark: isGiven ? undefined : mark,
      isOurs,
      isOwn: isOurs && !isCopy(mark, name, created),
      isNamed,
      mayBeNamed: isNamed || !(typeof name === "string" || typeof name === "number"),
      isRoomless: typeof description === "string" && !hasRoom(declared, description),
    };
  };
};

/** Whether every service returns a name unchanged because it has only one form. */
const hasOneForm = (name: unknown): boolean =>
  typeof name === "string" && /^[!-~](?:[ -~]*[!-~])?$/.test(name);

/** The facts about an object that are the same for every resource. */
interface ObjectFacts {
  readonly mark: Mark | undefined;
  readonly hasPlainName: boolean;
}

/** They are read once: all objects of a list are of one kind, and so have one name. */
const knownFacts = new WeakMap<WireObject, ObjectFacts>();

const readFacts = (name: unknown, wire: WireObject): ObjectFacts => {
  const known = knownFacts.get(wire);
  if (known) return known;
  const facts = { mark: markOn(wire), hasPlainName: hasOneForm(name) };
  knownFacts.set(wire, facts);
  return facts;
};

/**
 * Returns the mark of an object that a stack created; undefined for other objects and for copies.
 */
export const originalMark = (definition: Definition, wire: WireObject): Mark | undefined => {
  const mark = markOn(wire);
  return mark && !isCopy(mark, nameOnWire(definition, wire), wire.created) ? mark : undefined;
};

/**
 * Reads the object itself rather than a list, which may be out of date or omit members. Returns
 * undefined if the object no longer exists.
 */
export const readWholeObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<Found | undefined> => {
  const wire = await service.read(definition, id);
  return wire && { ...wire, id };
};
