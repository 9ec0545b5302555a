import { nameStem } from "../definition/automatic-name.js";
import { isConversationError } from "../kernel/errors.js";
import { isId } from "../kernel/object-id.js";
import { isNamesake, objectTime } from "./ownership/mark.js";
import type { Holding } from "./ownership/stack-states.js";
import {
  ambiguousMark,
  type Found,
  nameTaken,
  ownedElsewhere,
  takenByProgram,
  unreadableList,
} from "./refusals.js";
import type { Declared, Resource } from "./resource.js";
import type { HeldObject, ObjectHolders } from "./run.js";
import { type KnownObjects, originalMark, readWholeObject, type SeenObject } from "./seen.js";

// Whose is an object? A state that contains it decides; then what this run has done; then its mark,
// unless the object itself shows that it is a copy. Everything else is foreign.

/** Whether a resource in a state manages or looks up an object. */
export const isHeld = (states: ObjectHolders, kind: string, id: string): boolean =>
  states.holdersOf(kind, id).length + states.readersOf(kind, id).length > 0;

/**
 * Whether a resource in a state is this one. Its owner, and whether the plugin or a dynamic provider
 * manages it, stand for its URN.
 *
 * @param owner the owner of `held` to go by. Default: its present one
 */
export const isThisResource = (
  { run, properties }: Resource,
  held: Holding,
  owner = held.owner,
): boolean =>
  held.own && owner === properties.owner && Boolean(held.isPlugins) === Boolean(run.isPlugins);

/**
 * Whether a mark names this resource but belongs to another state, and so does the name: automatic
 * ones of two states are equal but for the suffix.
 */
const hasNamesakeMark = (
  { mark: own, name, nameOnWire }: Declared,
  { mark, isNamed, wire }: SeenObject,
): boolean => {
  if (mark === undefined || own === undefined || !isNamesake(own, mark)) return false;
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
  return objects.filter(({ id, isOwn }) => {
    if (!isOwn || !isId(id)) return false;
    const holder = run.decisions.holders.get(id);
    if (holder) return holder.key === identity?.key;
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
  const id = owner && states?.resourceOf(definition.kind, owner, run.isPlugins ?? false)?.id;
  if (!id) return undefined;
  // Half of an interrupted replacement may stay behind when the other half is moved away.
  const isMoved = states?.holdersOf(definition.kind, id).some(({ own }) => !own);
  return isMoved ? undefined : readWholeObject(declared, id);
};

/**
 * Chooses which of a resource's own objects stands for it: first the one with the wanted name,
 * because no other object can take it; then the newest. The same serial on two objects means that a
 * person copied one of them: the older is ours, and if the order is unknown nothing is changed.
 */
const chooseObject = (
  { definition, properties: { adopt } }: Declared,
  own: readonly SeenObject[],
): SeenObject | undefined => {
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
  throw ambiguousMark(definition, alike);
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
  if (holder) throw takenByProgram(declared, found, holder.label);
  // The resource of any stack that it stands for: without a mark, only the states know it.
  const all = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const owner = all?.holdersOf(definition.kind, taken.id)[0] ?? originalMark(definition, found);
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
  const isHeld = holder
    ? holder.key !== identity?.key
    : (states?.holdersOf(definition.kind, seen.id).length ?? 0) > 0;
  if (isHeld) return false;
  // Its state is lost or out of sight, or was renamed: it would be one resource's second object.
  if (seen.addedMark) return hasNamesakeMark(declared, seen);
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
  known: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const { definition, isUnique, run } = declared;
  const serial = mark?.serial;
  if (serial === undefined || serial === known) return false;
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
