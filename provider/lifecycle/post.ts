import { sameFieldsMeaning } from "../definition/meaning/same.js";
import { managedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import { type ConversationError, isConversationError } from "../kernel/errors.js";
import type { WireObject } from "../service/objects/collections.js";
import { findAll, type KnownObjects } from "./adoption/known-objects.js";
import { type Declared, desiredBody, type Found, markBeside, markOn } from "./declared.js";
import { leftOvers, removeLeftOvers } from "./ownership/left-overs.js";
import { madeByRun, withDescriptions } from "./ownership/made-by-run.js";
import { newSerial } from "./ownership/mark.js";
import type { Told } from "./properties.js";

/** The object of a resource, and what is known of it besides what the program says. */
export interface MadeObject {
  readonly id: string;
  readonly told: Told;
}

/** Attempts to POST one object, each after a look whether the one before had an effect. */
const mostAttempts = 3;

/**
 * Makes the object with a POST. One whose effect is not known is repeated only after a fresh list shows
 * that it had none.
 *
 * @param before the objects of the kind before the first attempt
 */
export const post = async (declared: Declared, before: KnownObjects): Promise<MadeObject> => {
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
): Promise<MadeObject | undefined> => {
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
const withoutEarlier = async (declared: Declared, made: MadeObject): Promise<MadeObject> => {
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
