import { mergeDeep } from "../definition/wire/extra.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { adoptee } from "./adoption/adopt.js";
import { type ExistingObject, existingObject, neededStates } from "./adoption/existing.js";
import { knownObjects, wholeObject } from "./adoption/known-objects.js";
import { assertFree } from "./adoption/name-taken.js";
import { type Declared, declaredBefore, type Found } from "./declared.js";
import { ResourceInitFailed } from "./engine-call.js";
import { leftOvers, removeLeftOvers } from "./ownership/left-overs.js";
import { describe, seenObject } from "./ownership/seen-object.js";
import { clearedUp, type MadeObject, post } from "./post.js";
import { putInPlace } from "./put-in-place.js";
import { planPut } from "./put-plan.js";
import type { Properties } from "./state/properties.js";
import { dropSecrets, joinInputs, stateOutputs } from "./state/state-values.js";

export interface CreateResult {
  readonly id: string;
  readonly outs: JsonObject;
}

/**
 * Makes the object, once: an object that stands for the resource already is put into shape, a name
 * that is not ours is refused, and a POST whose effect is not known is repeated only after a fresh
 * list shows that it had none.
 */
export const createObject = async (declared: Declared): Promise<CreateResult> => {
  const { definition, identity, run, properties } = declared;
  const { id, record } = await make(declared);
  if (identity) run.decisions.assign(identity, { id, serial: record.serial });
  return { id, outs: stateOutputs(definition, { ...properties, record }) };
};

const make = async (declared: Declared): Promise<MadeObject> => {
  const inPlace = await notDeleted(declared);
  if (inPlace) return inPlace;
  const earlier = await clearedUp(declared);
  if (earlier) return earlier;
  const known = await knownObjects(declared);
  const states = await neededStates(declared, known);
  const existing = await existingObject(declared, known, states);
  if (existing && !isOtherChoice(declared, existing)) {
    noteTakenOver(declared, existing);
    const made = await takeOver(declared, existing.object);
    const keep = { id: made.id, serial: made.record.serial };
    // What is surely left over beside the object goes; a failure of that is none of the creation.
    await removeLeftOvers(declared, leftOvers(declared, known.objects, keep, states));
    return made;
  }
  if (declared.properties.adopt !== undefined) {
    return takeOver(declared, await adoptee(declared, known));
  }
  await assertFree(declared, known, states);
  return post(declared, known);
};

/** Under `deleteBeforeReplace` the object is there, and what the program said of it is known. */
const notDeleted = async (declared: Declared): Promise<MadeObject | undefined> => {
  const { identity, run } = declared;
  const kept = identity && run.decisions.skipped.get(identity.key);
  const live = kept && (await wholeObject(declared, kept.id));
  return live && takeOver(declared, live, await declaredBefore(declared, kept.outputs));
};

/** Whether the program names another object by `adopt` than the one that only its mark speaks for. */
const isOtherChoice = (
  { properties: { adopt } }: Declared,
  { object, by }: ExistingObject,
): boolean => by === "mark" && typeof adopt === "string" && adopt !== object.id;

const noteTakenOver = (
  { definition, identity, run, properties }: Declared,
  { object, by }: ExistingObject,
): void => {
  if (by === "mark") {
    run.tell?.(
      `took over the ${describe(definition, object)}: it carries the mark of this resource, and no state holds it. An interrupted run left it, or it was kept on purpose (retainOnDelete, pulumi state delete).`,
      "warning",
    );
  }
  // Under forced replacement the engine tells only later what the program declared before.
  const kept = { id: object.id, outputs: joinInputs(properties) };
  if (identity) run.decisions.rewrote(identity.key, kept);
};

/** An object that is there already: put into shape. Its id is not lost if that fails. */
const takeOver = async (
  declared: Declared,
  object: Found,
  before?: Declared,
): Promise<MadeObject> => {
  const { definition, properties } = declared;
  const { id } = object;
  const plan = planPut(declared, object, before);
  try {
    return { id, record: await putInPlace(declared, plan) };
  } catch (error) {
    if (!(error instanceof Error) || isConversationError(error, "NOT_FOUND")) throw error;
    // What was not ours before is not ours because a PUT failed.
    const isOwn = properties.adopt === undefined || seenObject(declared, id, object).isOwn;
    if (!isOwn) throw error;
    const record = { serial: plan.serial };
    const written = before ? withRemoved(before.properties, properties) : properties;
    const sure = dropSecrets(definition, { ...written, record });
    throw new ResourceInitFailed(id, stateOutputs(definition, sure), error);
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
