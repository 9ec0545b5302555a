import { mergeDeep } from "../definition/wire/extra.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { adoptee } from "./adoption/adopt.js";
import { assertFree, existingObject, statesFor } from "./adoption/existing.js";
import { type KnownObjects, knownObjects } from "./adoption/known-objects.js";
import {
  type Context,
  type Declared,
  declaredBefore,
  declaredIn,
  describe,
  type Found,
  isOwn,
} from "./declared.js";
import { Incomplete } from "./incomplete.js";
import { stateOutputs } from "./outputs.js";
import { leftOvers, removeLeftOvers } from "./ownership/left-overs.js";
import { type MadeObject, post } from "./post.js";
import { joinInputs, type Properties } from "./properties.js";
import { planPut, putInPlace } from "./put-in-place.js";
import type { ObjectHolders } from "./run.js";
import { dropSecrets } from "./secrets.js";

export interface CreateResult {
  readonly id: string;
  readonly outs: JsonObject;
}

/**
 * Makes the object, once: an object that stands for the resource already is put into shape, a name
 * that is not ours is refused, and a POST whose effect is not known is repeated only after a fresh
 * list shows that it had none.
 */
export const createObject = async (context: Context, bag: JsonObject): Promise<CreateResult> => {
  const declared = await declaredIn(context, bag);
  const { id, told } = await make(declared);
  const { resource, run, properties } = declared;
  if (resource) run.decisions.settled(resource, { id, serial: told.serial });
  return { id, outs: stateOutputs(context.definition, { ...properties, told }) };
};

const make = async (declared: Declared): Promise<MadeObject> => {
  const inPlace = await spared(declared);
  if (inPlace) return inPlace;
  const known = await knownObjects(declared);
  const states = await statesFor(declared, known);
  const existing = await existingObject(declared, known, states);
  if (existing && !isOtherChoice(declared, existing.object, existing.by)) {
    if (existing.by === "mark") sayTaken(declared, existing.object);
    remember(declared, existing.object);
    return withoutLeftOvers(declared, await takeOver(declared, existing.object), known, states);
  }
  if (declared.properties.adopt !== undefined) {
    return takeOver(declared, await adoptee(declared, known));
  }
  await assertFree(declared, known, states);
  return post(declared, known);
};

/** Whether the program names another object by `adopt` than the one that only its mark speaks for. */
const isOtherChoice = ({ properties: { adopt } }: Declared, { id }: Found, by: string): boolean =>
  by === "mark" && typeof adopt === "string" && adopt !== id;

/** Under forced replacement the engine tells only later what the program declared before. */
const remember = ({ resource, run, properties }: Declared, { id }: Found): void => {
  if (resource) run.decisions.tookOver(resource.key, { id, outputs: joinInputs(properties) });
};

const sayTaken = ({ definition, run }: Declared, object: Found): void =>
  run.tell?.(
    `took over the ${describe(definition, object)}: it carries the mark of this resource, and no state holds it. An interrupted run left it, or it was kept on purpose (retainOnDelete, pulumi state delete).`,
    "warning",
  );

/** Under `deleteBeforeReplace` the object is there, and what the program said of it is known. */
const spared = async (declared: Declared): Promise<MadeObject | undefined> => {
  const { definition, service, resource, run } = declared;
  const object = resource && run.decisions.sparedOf(resource.key);
  const live = object && (await service.read(definition, object.id));
  if (!live) return undefined;
  const before = await declaredBefore(declared, object.outputs);
  return takeOver(declared, { ...live, id: object.id }, before);
};

/** An object that is there already: put into shape. Its id is not lost if that fails. */
const takeOver = async (
  declared: Declared,
  object: Found,
  before?: Declared,
): Promise<MadeObject> => {
  const { definition, properties } = declared;
  const plan = planPut(declared, object, before);
  try {
    return { id: object.id, told: await putInPlace(declared, plan) };
  } catch (error) {
    if (!(error instanceof Error) || isConversationError(error, "NOT_FOUND")) throw error;
    // What was not ours before is not ours because a PUT failed.
    if (!isOwn(declared, object) && properties.adopt !== undefined) throw error;
    const told = { serial: plan.serial };
    const written = before ? withRemoved(before.properties, properties) : properties;
    const sure = dropSecrets(definition, { ...written, told });
    throw new Incomplete(object.id, stateOutputs(definition, sure), error);
  }
};

/** What the object may still hold of a resource: what the program removed is there until a PUT succeeds. */
const withRemoved = (before: Properties, { extra, ...after }: Properties): Properties => {
  const kept = isObject(before.extra) ? before.extra : {};
  const secrets = [...(before.extraSecrets ?? []), ...(after.extraSecrets ?? [])];
  const extras = mergeDeep(kept, isObject(extra) ? extra : {});
  return {
    ...after,
    fields: { ...before.fields, ...after.fields },
    ...(Object.keys(extras).length > 0 ? { extra: extras } : {}),
    ...(secrets.length > 0 ? { extraSecrets: secrets } : {}),
  };
};

/** What is surely left over beside the object goes; a failure of that is none of the creation. */
const withoutLeftOvers = async (
  declared: Declared,
  made: MadeObject,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<MadeObject> => {
  const keep = { id: made.id, serial: made.told.serial };
  await removeLeftOvers(declared, leftOvers(declared, objects, keep, states));
  return made;
};
