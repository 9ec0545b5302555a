import { naturalKey } from "../../definition/references.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { isId } from "../../kernel/object-id.js";
import type { Listing } from "../../service/objects/collections.js";
import type { Holding } from "../../stacks/stack-states.js";
import { findAll, wholeObject } from "../adoption/known-objects.js";
import { type Declared, describe, type Found, isNamed, isOwn, markOn } from "../declared.js";
import { planPut, putInPlace } from "../put-in-place.js";
import type { ObjectHolders } from "../run.js";
import { objectTime } from "./object-time.js";

const serialOf = (wire: Found): string | undefined => markOn(wire)?.serial;

/**
 * The objects that carry the mark of a resource, are no copies as far as they tell, and do not stand
 * for another resource by now: of this run, or of a state that can be seen.
 */
export const ownObjects = (
  declared: Declared,
  objects: Listing["objects"],
  states?: ObjectHolders,
): readonly Found[] => {
  const { definition, resource, run } = declared;
  return findAll(objects, (wire, id) => {
    if (!isId(id) || !isOwn(declared, wire)) return false;
    const holder = run.decisions.holderOf(id);
    if (holder) return holder.key === resource?.key;
    const holders = states?.holdersOf(definition.kind, id) ?? [];
    return holders.every(({ own, owner }) => own && owner === declared.properties.owner);
  });
};

/** First the one with the wanted name, as no other can be given it; then the one made last. */
const inOrder = (declared: Declared, own: readonly Found[]): readonly Found[] => {
  const rank = (wire: Found): string => `${isNamed(declared, wire) ? 1 : 0}${serialOf(wire) ?? ""}`;
  return [...own].sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
};

const createdAt = (wire: Found): number => objectTime(wire.created);

/**
 * The one of a resource's own objects that is to stand for it. One serial on two objects means that a
 * person copied one of them: the older is ours, and where that cannot be told nothing is touched.
 */
export const chosen = (declared: Declared, own: readonly Found[]): Found | undefined => {
  const { adopt } = declared.properties;
  const [first] = inOrder(declared, own);
  const named = own.find(({ id }) => id === adopt);
  if (!first || named) return named;
  const serial = serialOf(first);
  const alike = serial ? own.filter((other) => serialOf(other) === serial) : [first];
  const ages = alike.map(createdAt);
  const oldest = alike.filter((_, place) => ages[place] === Math.min(...ages));
  const [only, ...others] = alike.length === 1 ? alike : oldest;
  if (only && others.length === 0) return only;
  throw new ConversationError(
    "AMBIGUOUS",
    `${alike.map((wire) => `the ${describe(declared.definition, wire)}`).join(" and ")} carry the same mark of this resource: one is a copy of the other, ` +
      "and nothing tells which. Nothing was changed. Say which one is meant with adopt: and its id, or take the mark off the copy with npx pulumi-conversation orphans --release --id and its id.",
  );
};

/**
 * Whether an object is surely a left-over of ours beside the object that stands for the resource: this
 * run sent the POST itself, or its name, which is unique, is the one that its mark was made for, while
 * its serial is another one, and no other resource of any state holds it. Where names need not be
 * unique, a copy of an object that is gone by now looks the same, so there only what this run made
 * itself is sure.
 */
const isLeftOver = (
  { definition, isUnique, run, properties }: Declared,
  wire: Found,
  known: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const serial = serialOf(wire);
  if (serial === undefined || serial === known) return false;
  if (run.decisions.made(serial)) return true;
  if (!isUnique || !states) return false;
  // The old half of a replacement that was cut off is still in the state, until it is deleted.
  const isOldHalf = ({ own, owner }: Holding): boolean => own && owner === properties.owner;
  const { kind } = definition;
  return (
    states.holdersOf(kind, wire.id).every(isOldHalf) && states.readersOf(kind, wire.id).length === 0
  );
};

/**
 * What is surely left over of a resource beside its object.
 *
 * @param keep the object that stands for the resource, with its serial
 */
export const leftOvers = (
  declared: Declared,
  objects: Listing["objects"],
  keep: { readonly id: string; readonly serial?: string | undefined },
  states?: ObjectHolders,
): readonly Found[] => {
  const beside = ownObjects(declared, objects, states).filter(({ id }) => id !== keep.id);
  const serials = beside.map(serialOf);
  // Two with one serial: one of them is a person's.
  return beside.filter(
    (wire, place) =>
      serials.indexOf(serials[place]) === serials.lastIndexOf(serials[place]) &&
      isLeftOver(declared, wire, keep.serial, states),
  );
};

/**
 * Removes left-overs. One that cannot go now does no harm to the resource, so that is no failure.
 *
 * @returns those that are gone
 */
export const removeLeftOvers = async (
  { definition, service }: Declared,
  surplus: readonly Found[],
): Promise<readonly Found[]> => {
  const gone: Found[] = [];
  for (const wire of surplus) {
    try {
      await service.remove(definition, wire.id);
      gone.push(wire);
    } catch (error) {
      if (!isConversationError(error)) throw error;
    }
  }
  return gone;
};

/**
 * Gives a left-over that cannot go yet, because others of the stack still refer to it, another name:
 * they are written later in the run, and the resource's own object comes before them.
 */
const setAside = async (declared: Declared, leftOver: Found): Promise<void> => {
  const { definition, properties } = declared;
  const key = naturalKey(definition);
  const field = definition.fields[key];
  if (field?.type !== "text") return;
  const suffix = `-left-over-${leftOver.id}`;
  const kept = String(declared.name).slice(0, (field.max ?? 255) - suffix.length);
  // No half of a character that takes two.
  const name = `${kept.replace(/[\uD800-\uDBFF]$/, "")}${suffix}`;
  const aside: Declared = {
    ...declared,
    name,
    properties: { ...properties, fields: { ...properties.fields, [key]: name }, told: {} },
  };
  const whole = await wholeObject(declared, leftOver.id);
  if (whole) await putInPlace(aside, planPut(aside, whole));
};

/**
 * Frees the name of a resource from its own left-overs: removes them, and renames what is still
 * referred to.
 *
 * @returns whether one had the name
 */
export const freeName = async (
  declared: Declared,
  objects: Listing["objects"],
  keep: { readonly id: string; readonly serial?: string | undefined },
  states?: ObjectHolders,
): Promise<boolean> => {
  const named = leftOvers(declared, objects, keep, states).filter((wire) =>
    isNamed(declared, wire),
  );
  const gone = await removeLeftOvers(declared, named);
  for (const wire of named) if (!gone.includes(wire)) await setAside(declared, wire);
  return named.length > 0;
};
