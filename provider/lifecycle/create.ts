import { mergeDeep } from "../definition/extra.js";
import { isObject, type JsonObject } from "../definition/json.js";
import { managedFields } from "../definition/managed.js";
import { sameFieldsMeaning } from "../definition/same.js";
import { fieldsFromWire } from "../definition/wire.js";
import type { WireObject } from "../service/collections.js";
import { type ConversationError, isConversationError } from "../service/errors.js";
import { adoptee } from "./adopt.js";
import {
  type Context,
  type Declared,
  declaredBefore,
  declaredIn,
  describe,
  desiredBody,
  type Found,
  isOwn,
  markBeside,
  markOn,
} from "./declared.js";
import { assertFree, existingObject, statesFor } from "./existing.js";
import { Incomplete } from "./incomplete.js";
import { findAll, type KnownObjects, knownObjects } from "./known-objects.js";
import { leftOvers, removeLeftOvers } from "./left-overs.js";
import { madeByRun, withDescriptions } from "./made-by-run.js";
import { newSerial } from "./mark.js";
import { outputsOf } from "./outputs.js";
import { joinInputs, type Properties, type Told } from "./properties.js";
import { planPut, putInPlace } from "./put-in-place.js";
import type { StackStates } from "./run.js";

export interface CreateResult {
  readonly id: string;
  readonly outs: JsonObject;
}

/** The object of a resource, and what is known of it besides what the program says. */
interface Made {
  readonly id: string;
  readonly told: Told;
}

/** Attempts to POST one object, each after a look whether the one before had an effect. */
const mostAttempts = 3;

/**
 * Makes the object, once: an object that stands for the resource already is put into shape, a name
 * that is not ours is refused, and a POST whose effect is not known is repeated only after a fresh
 * list shows that it had none.
 */
export const create = async (context: Context, bag: JsonObject): Promise<CreateResult> => {
  const declared = await declaredIn(context, bag);
  const { id, told } = await make(declared);
  const { resource, run, properties } = declared;
  if (resource) run.decisions.settled(resource, { id, serial: told.serial });
  return { id, outs: outputsOf(context.definition, { ...properties, told }) };
};

const make = async (declared: Declared): Promise<Made> => {
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
  assertFree(declared, known, states);
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
const spared = async (declared: Declared): Promise<Made | undefined> => {
  const { definition, service, resource, run } = declared;
  const object = resource && run.decisions.sparedOf(resource.key);
  const live = object && (await service.read(definition, object.id));
  if (!live) return undefined;
  const before = await declaredBefore(declared, object.outputs);
  return takeOver(declared, { ...live, id: object.id }, before);
};

/** An object that is there already: put into shape. Its id is not lost if that fails. */
const takeOver = async (declared: Declared, object: Found, before?: Declared): Promise<Made> => {
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
    throw new Incomplete(object.id, outputsOf(definition, { ...written, told }), error);
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
  made: Made,
  { objects }: KnownObjects,
  states: StackStates | undefined,
): Promise<Made> => {
  const keep = { id: made.id, serial: made.told.serial };
  await removeLeftOvers(declared, leftOvers(declared, objects, keep, states));
  return made;
};

const post = async (declared: Declared, before: KnownObjects): Promise<Made> => {
  const { definition, service, run } = declared;
  for (let attempt = 1; ; attempt += 1) {
    const serial = newSerial(service.now());
    const { body, isMarked } = desiredBody(declared, serial);
    run.decisions.making(serial);
    const outcome = await attempted(() => service.create(definition, body));
    if ("made" in outcome) {
      const made = {
        id: outcome.made.id,
        told: toldOf(outcome.made, isMarked ? serial : undefined),
      };
      return attempt === 1 ? made : withoutEarlier(declared, made);
    }
    const { objectId } = outcome.error.details;
    if (objectId) return { id: objectId, told: isMarked ? { serial } : {} };
    const found = await afterUnclear(declared, isMarked ? undefined : before, outcome.error);
    if (found) return found;
    if (attempt === mostAttempts) throw outcome.error;
  }
};

/** A POST that surely had no effect is final; one that may have had is looked into. */
const attempted = async <T>(
  call: () => Promise<T>,
): Promise<{ readonly made: T } | { readonly error: ConversationError }> => {
  try {
    return { made: await call() };
  } catch (error) {
    if (!isConversationError(error) || error.effect === "none") throw error;
    return { error };
  }
};

const toldOf = (wire: WireObject, serial: string | undefined): Told => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/**
 * The object that a POST without a clear answer made, as a fresh list shows it; undefined where it
 * surely made none.
 *
 * @param before the objects before the POST, where the body carried no mark
 * @throws the failure of the POST where that cannot be known
 */
const afterUnclear = async (
  declared: Declared,
  before: KnownObjects | undefined,
  failure: ConversationError,
): Promise<Made | undefined> => {
  const { definition, service } = declared;
  const listing = await service.list(definition, { fresh: true }).catch((error) => {
    throw isConversationError(error) ? failure : error;
  });
  const { complete } = listing;
  const objects = before ? listing.objects : await withDescriptions(declared, listing.objects);
  const isMade = (wire: WireObject) => declared.run.decisions.made(markOn(wire)?.serial);
  const [found, ...others] = before
    ? newObjects(declared, before, objects)
    : madeByRun(declared, objects);
  const told = found && toldOf(found, markBeside(declared, found)?.serial);
  if (found && told && others.length === 0) return { id: found.id, told };
  if (found && told && !before) return withoutEarlier(declared, { id: found.id, told });
  // A list with holes proves nothing, nor do two objects of which one may be anybody's: the next run
  // looks again.
  const isUnusable = !found && findAll(objects, isMade).length > 0;
  if (found || isUnusable || !complete || before?.complete === false) throw failure;
  return undefined;
};

/**
 * Objects that were not there before the POST and are what was posted, name and all: where the body
 * carries no mark, that is all there is to recognise one by.
 */
const newObjects = (
  declared: Declared,
  before: KnownObjects,
  objects: KnownObjects["objects"],
): readonly Found[] => {
  const { definition, properties, settings, run } = declared;
  return findAll(objects, (wire, id) => {
    const isNew = !before.objects.has(id) && run.decisions.holderOf(id) === undefined;
    const fields = fieldsFromWire(definition.fields, wire, settings);
    const managed = managedFields(definition.fields, fields, properties.fields);
    return (
      isNew &&
      markBeside(declared, wire) === undefined &&
      sameFieldsMeaning(definition.fields, managed, properties.fields)
    );
  });
};

/**
 * The list that showed no effect of an attempt may have been behind the truth. Nothing that follows a
 * success may turn it into a failure.
 */
const withoutEarlier = async (declared: Declared, made: Made): Promise<Made> => {
  const { definition, service } = declared;
  try {
    const { objects } = await service.list(definition, { fresh: true });
    const keep = { id: made.id, serial: made.told.serial };
    await removeLeftOvers(declared, leftOvers(declared, objects, keep));
  } catch (error) {
    if (!isConversationError(error)) throw error;
  }
  return made;
};
