import { isId } from "../../kernel/object-id.js";
import { findAll, type KnownObjects, wholeObject } from "../adoption/known-objects.js";
import { type Declared, type Found, isNamed, isOwn, markOn } from "../declared.js";
import { isSameResource } from "./mark.js";

/** Objects with the wanted name are read themselves where a list leaves descriptions, and so marks, out. */
export const withDescriptions = async (
  declared: Declared,
  objects: KnownObjects["objects"],
): Promise<KnownObjects["objects"]> => {
  const doubtful = findAll(
    objects,
    (wire, id) => isId(id) && wire.description === undefined && isNamed(declared, wire),
  );
  const whole = await Promise.all(doubtful.map(({ id }) => wholeObject(declared, id)));
  return new Map([
    ...objects,
    ...whole.flatMap((wire) => (wire ? [[wire.id, wire] as const] : [])),
  ]);
};

/**
 * Objects with serials of this run. One under another name or age than its mark was made for is a
 * copy, unless there is no other: then the service gives names or times in forms of its own.
 */
export const madeByRun = (
  declared: Declared,
  objects: KnownObjects["objects"],
): readonly Found[] => {
  const { mark, resource, run } = declared;
  const made = findAll(objects, (wire, id) => {
    const there = markOn(wire);
    const isOurs = there !== undefined && mark !== undefined && isSameResource(mark, there);
    const holder = run.decisions.holderOf(id);
    const isFree = holder === undefined || holder.key === resource?.key;
    return isId(id) && isOurs && isFree && run.decisions.made(there.serial);
  });
  const fitting = made.filter((wire) => isOwn(declared, wire));
  return fitting.length > 0 ? fitting : made;
};
