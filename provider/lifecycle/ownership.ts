import { randomInt } from "node:crypto";
import { nameStem } from "../definition/automatic-name.js";
import type { Definition } from "../definition/define.js";
import { nameOnWire } from "../definition/kinds.js";
import { sameMeaning } from "../definition/meaning.js";
import { type ConversationError, isConversationError } from "../kernel/errors.js";
import { isId } from "../kernel/object-id.js";
import type { Collections } from "../service/collections.js";
import type { Listing, WireObject } from "../service/lists.js";
import {
  ambiguousMark,
  type Found,
  nameTaken,
  ownedElsewhere,
  takenByProgram,
  unreadableList,
} from "./refusals.js";
import {
  base36,
  checksumOf,
  type Declared,
  hasRoom,
  labelOf,
  type Resource,
  serialLength,
} from "./resource.js";
import type { HeldObject, ObjectHolders } from "./run.js";
import type { Holding, Mark } from "./stack-states.js";

// Whose is an object? A state that contains it decides; then what this run has done; then its mark,
// unless the object itself shows that it is a copy. Everything else is foreign.

/** The first part of a serial is a time, the rest is random. */
const stampLength = 7;

const randomLength = serialLength - stampLength;

/**
 * Returns the serial for an object about to be created. The service's time is kept to the second, so
 * that a copy made much later than its mark can be distinguished from the original. If it is
 * unknown, no object counts as created later.
 */
export const newSerial = ({ now }: Pick<Collections, "now">): string => {
  const ms = now();
  const stamp = ms === undefined ? "z".repeat(stampLength) : base36(ms / 1000, stampLength);
  return stamp + base36(randomInt(36 ** randomLength), randomLength);
};

/** The time at which a serial was generated, in milliseconds of the service's time. */
const madeAt = (serial: string): number => Number.parseInt(serial.slice(0, stampLength), 36) * 1000;

const pattern =
  /\s?\[pulumi: ([^\]]{0,250}) #([0-9a-f]{8})-([0-9a-f]{12})(?:-([0-9a-z]{11})([0-9a-z]{4}))?\]$/;

/**
 * Splits a description from the service into the text that a program or a person wrote, and the
 * mark.
 */
export const readMark = (
  description: unknown,
): { readonly description?: string; readonly mark?: Mark } => {
  if (typeof description !== "string") return {};
  const found = pattern.exec(description);
  if (!found) return description ? { description } : {};
  const text = description.slice(0, found.index);
  const [, label = "", stack = "", resource = "", serial = "", checksum = ""] = found;
  return {
    ...(text ? { description: text } : {}),
    mark: { label, stack, resource, serial, checksum },
  };
};

const withoutZone = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/;

/**
 * A time that the service states for an object, in milliseconds since 1970; NaN if there is none.
 * The service's times are GMT (public reference), even if they specify no time zone.
 */
export const objectTime = (value: unknown): number =>
  typeof value === "string"
    ? Date.parse(withoutZone.test(value) ? `${value}Z` : value)
    : Number.NaN;

/**
 * On a slow plan a POST may wait for hours for its turn; a copy made later than this is detected.
 */
const longestWaitMs = 6 * 3600000;

/**
 * Whether an object itself shows that it is a copy of a marked object: its mark was made for
 * another name, or long before the object was created. A copy with the same name made soon after
 * the original looks the same; only the state and the serial reveal it.
 */
export const isCopy = (mark: Mark, name: unknown, created: unknown): boolean => {
  if (!mark.serial) return false;
  // An invalid name proves nothing.
  const isName = typeof name === "string" || typeof name === "number";
  if (isName && mark.checksum !== checksumOf(mark.serial, name)) return true;
  return objectTime(created) > madeAt(mark.serial) + longestWaitMs;
};

export const markOn = ({ description }: WireObject): Mark | undefined => readMark(description).mark;

/** An object in the service, classified from the point of view of one resource. */
export interface SeenObject {
  readonly id: string;
  readonly wire: WireObject;
  /** The mark in the object's description; a copy carries the original's mark. */
  readonly mark: Mark | undefined;
  /** The mark, unless it is part of the description that the program declares. */
  readonly addedMark: Mark | undefined;
  readonly hasOurMark: boolean;
  /** Whether the object carries the resource's mark and nothing shows that the object is a copy. */
  readonly isOriginal: boolean;
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
    const hasOurMark =
      mark !== undefined &&
      mark.stack === declared.mark?.stack &&
      mark.resource === declared.mark.resource;
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
      hasOurMark,
      isOriginal: hasOurMark && !isCopy(mark, name, created),
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

/**
 * Read once per object: all resources that look at it are of its kind, and read the same field as
 * its name.
 */
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

/** Whether a resource in a state manages or looks up an object. */
export const isHeld = (states: ObjectHolders, kind: string, id: string): boolean =>
  states.holdersOf(kind, id).length + states.readersOf(kind, id).length > 0;

/**
 * Whether a resource in a state is this one. Its owner (project, stack, `Ownership`, logical name),
 * and whether the plugin or a dynamic provider manages it, stand for its URN.
 *
 * @param owner the owner of `held` to go by. Default: its present one
 */
export const isThisResource = (
  { run, properties }: Resource,
  held: Holding,
  owner = held.owner,
): boolean =>
  held.own && owner === properties.owner && Boolean(held.isPlugins) === Boolean(run.isPlugins);

/** Whether a mark names this resource but belongs to another state. */
const hasNamesakeMark = ({ mark: own }: Declared, { mark }: SeenObject): boolean =>
  own !== undefined && mark?.label === own.label && mark.stack !== own.stack;

/** Whether an object has the resource's name: automatic ones of two states differ in the suffix. */
const isNamesake = ({ name, nameOnWire }: Declared, { isNamed, wire }: SeenObject): boolean => {
  const stem = nameStem(name);
  return isNamed || (stem !== undefined && stem === nameStem(wire[nameOnWire]));
};

/**
 * Returns the states if they are needed to decide on a creation; otherwise, undefined. They are
 * needed if an object carries the resource's mark, has its name, or carries no mark. They are also
 * needed if the new object would carry no mark, or if the list could not be read completely.
 */
export const readNeededStates = async (
  declared: Declared,
  { objects, complete }: KnownObjects,
): Promise<ObjectHolders | undefined> => {
  const { properties, run, isUnique } = declared;
  if (!run.states || !properties.owner) return undefined;
  // Replacing the Ownership makes the marks of the very objects that the state holds look foreign.
  const alike = objects.filter(
    (each) => hasNamesakeMark(declared, each) || (isUnique && each.isNamed),
  );
  if (findOwnObjects(declared, objects).length > 0 || alike.some(({ mark }) => mark))
    return run.states(properties.owner, "all");
  // An object may be the target of a forced replacement although it does not carry our mark: a long
  // description left no room for one (the program may have shortened it since), or a person
  // overwrote it with another one.
  const mayBeOurs = ({ id, mark, isRoomless }: SeenObject) =>
    (mark === undefined || isRoomless) && run.decisions.holders.get(id) === undefined;
  const isDoubtful = !complete || alike.length > 0 || !declared.isMarked || objects.some(mayBeOurs);
  return isDoubtful ? run.states(properties.owner, "own") : undefined;
};

/**
 * Returns the objects that carry a resource's mark, do not appear to be copies, and do not belong
 * to another resource in this run or in a visible state.
 */
const findOwnObjects = (
  declared: Declared,
  objects: readonly SeenObject[],
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const { definition, identity, run } = declared;
  return objects.filter(({ id, isOriginal }) => {
    if (!isOriginal || !isId(id)) return false;
    const holder = run.decisions.holders.get(id);
    if (holder && holder.key !== identity?.key) return false;
    const holders = states?.holdersOf(definition.kind, id) ?? [];
    return holders.every((holder) => isThisResource(declared, holder));
  });
};

/** An existing object that already belongs to the resource. */
export interface ExistingObject {
  readonly object: Found;
  /**
   * Why the object belongs to the resource. `state`: the state contains the object, and the engine
   * requested its replacement. `mark`: an earlier run created the object.
   */
  readonly by: "state" | "mark";
}

/**
 * Returns the object that already belongs to a resource that the engine is creating; undefined if
 * there is none.
 */
export const findExistingObject = async (
  declared: Declared,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<ExistingObject | undefined> => {
  const held = await findReplacedObject(declared, states);
  if (held) return { object: held, by: "state" };
  const own = findOwnObjects(declared, objects, states);
  // Without the states, an object with another name may belong to a renamed or moved resource.
  const first = chooseObject(declared, states ? own : own.filter(({ mayBeNamed }) => mayBeNamed));
  const object = first && (await readWholeObject(declared, first.id));
  return object && { object, by: "mark" };
};

/** The object that the state holds for a resource whose replacement the engine requested. */
const findReplacedObject = async (
  declared: Declared,
  states: ObjectHolders | undefined,
): Promise<Found | undefined> => {
  const { properties, definition, run } = declared;
  const { owner } = properties;
  const held = owner && states?.resourceOf(definition.kind, owner, run.isPlugins ?? false);
  if (!held) return undefined;
  // Half of an interrupted replacement may stay behind when the other half is moved or renamed.
  const isMoved = states
    ?.holdersOf(definition.kind, held.id)
    .some(({ own, urn, leaving }) => !own || (!leaving && urn !== held.urn));
  return isMoved ? undefined : readWholeObject(declared, held.id);
};

/**
 * Chooses which of a resource's own objects stands for it: first the one with the wanted name,
 * because no other object can take it; then the newest. The same serial on two objects means that a
 * person copied one of them: the older is ours, and if the order is unknown nothing is changed.
 */
const chooseObject = (declared: Declared, own: readonly SeenObject[]): SeenObject | undefined => {
  const { adopt } = declared.properties;
  const rank = ({ isNamed, mark }: SeenObject) => `${isNamed ? 1 : 0}${mark?.serial ?? ""}`;
  const [first] = [...own].sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
  const named = own.find(({ id }) => id === adopt);
  if (!first || named) return named;
  const serial = first.mark?.serial;
  const alike = serial ? own.filter(({ mark }) => mark?.serial === serial) : [first];
  const ages = alike.map(({ wire }) => objectTime(wire.created));
  const oldest = alike.filter((_, place) => ages[place] === Math.min(...ages));
  const [only, ...others] = alike.length === 1 ? alike : oldest;
  if (only && others.length === 0) return only;
  throw ambiguousMark(declared, alike);
};

/**
 * Throws if another owner's object has the name. Also throws if names need not be unique and the
 * list cannot be read completely, because the service would accept a second object with the same
 * name.
 */
export const assertNameFree = async (
  declared: Declared,
  { objects, complete, refusal }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<void> => {
  const { definition, run, isUnique, properties } = declared;
  if (!isUnique && !complete) throw unreadableList(declared, refusal);
  const taken = objects.find((each) => isTaken(declared, each, states));
  if (!taken) return;
  const found = { ...taken.wire, id: taken.id };
  const holder = run.decisions.holders.get(taken.id);
  if (holder) throw takenByProgram(declared, found, labelOf(holder));
  // The resource of any stack that it stands for: without a mark, only the states know it.
  const all = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const holders = all?.holdersOf(definition.kind, taken.id) ?? [];
  const other = holders.find((each) => !isThisResource(declared, each));
  const owner = other ?? originalMark(definition, found);
  if (owner) throw ownedElsewhere(declared, found, owner);
  throw nameTaken(declared, found, taken.mark !== undefined);
};

const isTaken = (
  declared: Declared,
  seen: SeenObject,
  states: ObjectHolders | undefined,
): boolean => {
  const { definition, isUnique, isMarked, run, identity } = declared;
  if (isUnique && seen.isNamed) return true;
  const holder = run.decisions.holders.get(seen.id);
  const belongsToAnother = holder
    ? holder.key !== identity?.key
    : (states?.holdersOf(definition.kind, seen.id).length ?? 0) > 0;
  if (belongsToAnother) return false;
  // Its state is lost or out of sight, or was renamed: it would be one resource's second object.
  if (seen.addedMark) return hasNamesakeMark(declared, seen) && isNamesake(declared, seen);
  // No mark distinguishes this object from the one to be created: an interrupted run may have left
  // it.
  return !isMarked && seen.isNamed;
};

/**
 * Returns the objects that are certainly a resource's leftovers.
 *
 * @param keep the object that belongs to the resource
 */
export const findLeftovers = (
  declared: Declared,
  objects: readonly SeenObject[],
  keep: HeldObject,
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const beside = findOwnObjects(declared, objects, states).filter(({ id }) => id !== keep.id);
  const serials = beside.map(({ mark }) => mark?.serial);
  // Two objects share a serial: a person copied one of them.
  return beside.filter(
    (each, place) =>
      serials.indexOf(serials[place]) === serials.lastIndexOf(serials[place]) &&
      isLeftover(declared, each, keep.serial, states),
  );
};

/**
 * Whether an object is certainly a leftover of ours beside the object that stands for the
 * resource: this run sent the POST itself, or its unique name is the one that its mark was made
 * for, its serial differs, and no other resource of any state holds it. If names need not be
 * unique, a copy of an object that is gone by now looks the same, so only objects that this run
 * created are certain.
 */
const isLeftover = (
  declared: Declared,
  { id, mark }: SeenObject,
  keptSerial: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const { definition, isUnique, run } = declared;
  const serial = mark?.serial;
  if (!serial || serial === keptSerial) return false;
  if (run.decisions.hasPosted(serial)) return true;
  if (!isUnique || !states) return false;
  // The old half of an interrupted replacement stays in the state until it is deleted.
  const holders = states.holdersOf(definition.kind, id);
  return (
    holders.every((holder) => isThisResource(declared, holder)) &&
    states.readersOf(definition.kind, id).length === 0
  );
};

/**
 * Removes leftovers. A leftover that cannot be removed now does not harm the resource, so it does
 * not count as a failure.
 *
 * @returns the leftovers that remain
 */
export const removeLeftovers = async (
  { definition, service }: Declared,
  surplus: readonly SeenObject[],
): Promise<readonly SeenObject[]> => {
  const staying: SeenObject[] = [];
  for (const each of surplus) {
    try {
      await service.remove(definition, each.id);
    } catch (error) {
      if (!isConversationError(error)) throw error;
      staying.push(each);
    }
  }
  return staying;
};
