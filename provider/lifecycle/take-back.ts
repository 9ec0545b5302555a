import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../kernel/json.js";
import {
  type Context,
  type Declared,
  declaredBefore,
  declaredIn,
  desiredBody,
} from "./declared.js";
import { planPut, putInPlace } from "./put-in-place.js";

/** Whether something of a value has no place in another one. */
const isLeftOut = (before: unknown, now: unknown): boolean => {
  if (before === undefined || before === null) return false;
  if (now === undefined || now === null) return true;
  if (isObject(before) && isObject(now))
    return Object.entries(before).some(([name, value]) => isLeftOut(value, now[name]));
  return Array.isArray(before) && before.some(isObject) && !isDeepStrictEqual(before, now);
};

const declaresLess = (before: Declared, now: Declared): boolean =>
  (before.properties.fields.description !== undefined &&
    now.properties.fields.description === undefined) ||
  isLeftOut(desiredBody(before, "").body, desiredBody(now, "").body);

/**
 * Takes members off an object that the program declared until a forced replacement put the object
 * into shape: while it did so nobody could tell them from what is not the program's.
 *
 * @param olds the resource as the state had it
 * @param news the resource as its object was put into shape
 */
export const takeBack = async (
  context: Context,
  id: string,
  olds: JsonObject,
  news: JsonObject,
): Promise<void> => {
  const declared = await declaredIn(context, news);
  const before = await declaredBefore(declared, olds);
  if (!declaresLess(before, declared)) return;
  const live = await declared.service.read(declared.definition, id);
  if (live) await putInPlace(declared, planPut(declared, { ...live, id }, before));
};
