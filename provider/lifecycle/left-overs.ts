import { isConversationError } from "../kernel/errors.js";
import type { Holding } from "../pulumi-cli/stack-states.js";
import { ownObjects } from "./existing.js";
import { planPut, putInPlace } from "./put.js";
import { type Declared, wholeObject } from "./resource.js";
import type { HeldObject, ObjectHolders } from "./run.js";
import type { SeenObject } from "./seen-object.js";

/**
 * What is surely left over of a resource beside its object.
 *
 * @param keep the object that stands for the resource
 */
export const leftOvers = (
  declared: Declared,
  objects: readonly SeenObject[],
  keep: HeldObject,
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const beside = ownObjects(declared, objects, states).filter(({ id }) => id !== keep.id);
  const serials = beside.map(({ mark }) => mark?.serial);
  // Two with one serial: one of them is a person's.
  return beside.filter(
    (each, place) =>
      serials.indexOf(serials[place]) === serials.lastIndexOf(serials[place]) &&
      isLeftOver(declared, each, keep.serial, states),
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
  { definition: { kind }, isUnique, run, properties }: Declared,
  { id, mark }: SeenObject,
  known: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const serial = mark?.serial;
  if (serial === undefined || serial === known) return false;
  if (run.decisions.made(serial)) return true;
  if (!isUnique || !states) return false;
  // The old half of a replacement that was cut off is still in the state, until it is deleted.
  const isOldHalf = ({ own, owner }: Holding): boolean => own && owner === properties.owner;
  return states.holdersOf(kind, id).every(isOldHalf) && states.readersOf(kind, id).length === 0;
};

/**
 * Removes left-overs. One that cannot go now does no harm to the resource, so that is no failure.
 *
 * @returns those that stay
 */
export const removeLeftOvers = async (
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

/**
 * Frees the name of a resource from its own left-overs: removes them, and renames what is still
 * referred to.
 *
 * @returns whether one had the name
 */
export const freeName = async (
  declared: Declared,
  objects: readonly SeenObject[],
  keep: HeldObject,
  states?: ObjectHolders,
): Promise<boolean> => {
  const named = leftOvers(declared, objects, keep, states).filter(({ isNamed }) => isNamed);
  for (const { id } of await removeLeftOvers(declared, named)) await setAside(declared, id);
  return named.length > 0;
};

/**
 * Gives a left-over that cannot go yet, because others of the stack still refer to it, another name:
 * they are written later in the run, and the resource's own object comes before them.
 */
const setAside = async (declared: Declared, id: string): Promise<void> => {
  const { definition, properties, nameKey } = declared;
  const field = definition.fields[nameKey];
  if (field?.type !== "text") return;
  const suffix = `-left-over-${id}`;
  const kept = String(declared.name).slice(0, (field.max ?? 255) - suffix.length);
  // No half of a character that takes two.
  const name = `${kept.replace(/[\uD800-\uDBFF]$/, "")}${suffix}`;
  const fields = { ...properties.fields, [nameKey]: name };
  const aside: Declared = { ...declared, name, properties: { ...properties, fields, record: {} } };
  const whole = await wholeObject(declared, id);
  if (whole) await putInPlace(aside, planPut(aside, whole));
};
