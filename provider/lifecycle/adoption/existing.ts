import { ConversationError } from "../../kernel/errors.js";
import type { Declared, Found } from "../declared.js";
import { isNamesake, objectTime } from "../ownership/read-mark.js";
import { describe, type SeenObject } from "../ownership/seen-object.js";
import type { ObjectHolders } from "../run.js";
import { type KnownObjects, wholeObject } from "./known-objects.js";

/** An object that is there already and stands for the resource from now on. */
export interface ExistingObject {
  readonly object: Found;
  /** `state`: the state holds it, and the engine was told to replace it; `mark`: an earlier run left it. */
  readonly by: "state" | "mark";
}

/** Whether a mark names the resource, but of another state. */
export const hasNamesakeMark = ({ mark: own }: Declared, { mark }: SeenObject): boolean =>
  mark !== undefined && own !== undefined && isNamesake(own, mark);

/**
 * The states, where a creation cannot be decided without them: an object carries the mark of the
 * resource, has its name or carries no mark, the object to be made would carry none, or the list could
 * not be read whole.
 */
export const neededStates = async (
  declared: Declared,
  { objects, complete }: KnownObjects,
): Promise<ObjectHolders | undefined> => {
  const { properties, run, isUnique } = declared;
  if (!run.states || !properties.owner) return undefined;
  // A replaced Ownership makes strangers of the marks of the very objects that the state holds.
  const alike = objects.filter(
    (each) => each.isNamed && (isUnique || hasNamesakeMark(declared, each)),
  );
  if (ownObjects(declared, objects).length > 0 || alike.some(({ mark }) => mark))
    return run.states(properties.owner, "all");
  // It may be the one that a forced replacement is about though it carries no mark: its description,
  // which the program may have shortened since, leaves no room for one.
  const mayBeOurs = ({ id, isRoomless }: SeenObject) =>
    isRoomless && run.decisions.holders.get(id) === undefined;
  const isDoubtful = !complete || alike.length > 0 || !declared.isMarked || objects.some(mayBeOurs);
  return isDoubtful ? run.states(properties.owner, "own") : undefined;
};

/**
 * The objects that carry the mark of a resource, are no copies as far as they tell, and do not stand
 * for another resource by now: of this run, or of a state that can be seen.
 */
export const ownObjects = (
  declared: Declared,
  objects: readonly SeenObject[],
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const { definition, identity, run, properties } = declared;
  return objects.filter(({ id, isReachable, isOwn }) => {
    if (!isReachable || !isOwn) return false;
    const holder = run.decisions.holders.get(id);
    if (holder) return holder.key === identity?.key;
    const holders = states?.holdersOf(definition.kind, id) ?? [];
    return holders.every(({ own, owner }) => own && owner === properties.owner);
  });
};

/** The object that stands for the resource already, though this call is to make one. */
export const existingObject = async (
  declared: Declared,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<ExistingObject | undefined> => {
  const held = await heldByState(declared, states);
  if (held) return { object: held, by: "state" };
  const own = ownObjects(declared, objects, states);
  // Without a look at the states an object of another name may be a renamed or moved resource's.
  const first = chosen(declared, states ? own : own.filter(({ mayBeNamed }) => mayBeNamed));
  const object = first && (await wholeObject(declared, first.id));
  return object && { object, by: "mark" };
};

/** The object that the state holds for a resource that the engine was told to replace. */
const heldByState = async (
  declared: Declared,
  states: ObjectHolders | undefined,
): Promise<Found | undefined> => {
  const { properties, definition } = declared;
  const id = properties.owner && states?.resourceOf(properties.owner)?.id;
  if (!id) return undefined;
  // The half of a replacement that was cut off may stay behind when the other half is moved away.
  const isMoved = states?.holdersOf(definition.kind, id).some(({ own }) => !own);
  return isMoved ? undefined : wholeObject(declared, id);
};

/**
 * The one of a resource's own objects that is to stand for it: first the one with the wanted name, as no
 * other can be given it; then the one made last. One serial on two objects means that a person copied
 * one of them: the older is ours, and where that cannot be told nothing is touched.
 */
const chosen = (
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
  const objects = alike.map(({ id, wire }) => `the ${describe(definition, { ...wire, id })}`);
  throw new ConversationError(
    "AMBIGUOUS",
    `${objects.join(" and ")} carry the same mark of this resource: one is a copy of the other, ` +
      "and nothing tells which. Nothing was changed. Say which one is meant with adopt: and its id, or take the mark off the copy with npx pulumi-conversation orphans --release --id and its id.",
  );
};
