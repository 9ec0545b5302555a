import { ConversationError, isConversationError } from "../kernel/errors.js";
import { filledText, type JsonObject, withoutUndefined } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { findAdoptee } from "./adoption.js";
import { brokenSinceCheck, findViolations } from "./check.js";
import { engineCall } from "./engine-call.js";
import {
  assertNameFree,
  type ExistingObject,
  findExistingObject,
  findLeftovers,
  type KnownObjects,
  newSerial,
  readNeededStates,
  readWholeObject,
  removeLeftovers,
  type SeenObject,
  seeObject,
  seeObjects,
} from "./ownership.js";
import { asWritten, desiredBody, desiredObject, holdsFields } from "./put.js";
import { describeObject } from "./refusals.js";
import {
  assignObject,
  connected,
  type Declared,
  inAccount,
  type KindInRun,
  resourceIn,
  stateValues,
} from "./resource.js";
import type { ObjectHolders, UnclearPost } from "./run.js";
import { type MadeObject, removeUndeclared, takeOver } from "./update.js";

export interface CreateResult {
  readonly id: string;
  readonly outs: JsonObject;
}

/** What the engine calls to create a resource. A policy may have changed its inputs since the check. */
export const onCreate =
  (of: KindInRun) =>
  (inputs: JsonObject): Promise<CreateResult> =>
    engineCall({ of, doing: "creating", inputs }, async (resource) => {
      const broken = findViolations(resource, inputs);
      if (broken.length > 0) throw brokenSinceCheck(broken);
      return createObject(await connected(resource));
    });

/**
 * Creates the object exactly once. If the state or a mark shows that an object already belongs to
 * the resource, as after a killed run, updates it instead. Refuses a name that another owner uses.
 * Repeats a POST whose effect is unknown only after a fresh list shows that it had no effect.
 */
const createObject = async (declared: Declared): Promise<CreateResult> => {
  const { id, record } =
    (await updateKeptObject(declared)) ??
    (await recoverLostPost(declared)) ??
    (await takeOverOrPost(declared));
  assignObject(declared, { id, serial: record.serial });
  return { id, outs: stateValues(declared, record) };
};

/**
 * Under `deleteBeforeReplace` this run has skipped the deletion: the object still exists, and its
 * earlier declaration is known.
 */
const updateKeptObject = async (declared: Declared): Promise<MadeObject | undefined> => {
  const { identity, run } = declared;
  const kept = identity && run.decisions.skipped.get(identity.key);
  const live = kept && (await readWholeObject(declared, kept.id));
  return live && takeOver(declared, live, inAccount(resourceIn(declared, kept.outputs), declared));
};

/**
 * Maximum number of POST attempts for one object; before each repeat, the effect of the last one is
 * checked.
 */
const mostAttempts = 3;

const takeOverOrPost = async (declared: Declared): Promise<MadeObject> => {
  const { definition, service, run, properties } = declared;
  const { adopt } = properties;
  const known = await listObjects(declared);
  const states = await readNeededStates(declared, known);
  const existing = await findExistingObject(declared, known, states);
  // `adopt` may name a different object from the one that is recognized only by its mark.
  const isOtherMeant = typeof adopt === "string" && adopt !== existing?.object.id;
  if (existing && !(existing.by === "mark" && isOtherMeant))
    return takeOverExisting(declared, existing, known, states);
  if (adopt !== undefined) return takeOver(declared, await findAdoptee(declared, known));
  await assertNameFree(declared, known, states);
  for (let attempt = 1; ; attempt += 1) {
    const serial = newSerial(service);
    const desired = desiredObject(asWritten(declared), { serial });
    const marked = desired.isMarked ? serial : undefined;
    // Known to this process only.
    run.decisions.posted.add(serial);
    try {
      const object = await service.create(definition, desiredBody(declared, desired.fields));
      const { id, created, modified } = object;
      const made = { id, record: withoutUndefined({ serial: marked, created, modified }) };
      return attempt === 1 ? made : await removeEarlierObjects(declared, made);
    } catch (failure) {
      const found = await findDespiteFailure(declared, known, failure, marked);
      if (found) return found;
      if (attempt === mostAttempts) throw failure;
    }
  }
};

const takeOverExisting = async (
  declared: Declared,
  existing: ExistingObject,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<MadeObject> => {
  recordTakeOver(declared, existing, states);
  const made = await takeOver(declared, existing.object);
  const keep = { id: made.id, serial: made.record.serial };
  // Definite leftovers beside the object are removed; if that fails, the creation still succeeds.
  await removeLeftovers(declared, findLeftovers(declared, objects, keep, states));
  return made;
};

/**
 * Reads the list that all creations in a run share. If the client may not list objects and names
 * are unique, the service itself refuses a second object; otherwise nothing is created.
 */
const listObjects = async (declared: Declared): Promise<KnownObjects> => {
  try {
    const { objects, complete } = await declared.service.list(declared.definition);
    return { objects: seeObjects(declared, objects), complete };
  } catch (error) {
    if (!isConversationError(error, "FORBIDDEN")) throw error;
    return { objects: [], complete: false, refusal: error };
  }
};

const recordTakeOver = (
  declared: Declared,
  { object, by }: ExistingObject,
  states: ObjectHolders | undefined,
): void => {
  const { identity, run } = declared;
  const whence = states
    ? "no state contains it. Either an interrupted run created it, or it was kept on purpose (retainOnDelete, pulumi state delete)."
    : "the provider cannot read the states.";
  if (by === "mark")
    run.notify?.(
      `took over the ${describeObject(declared, object)}: it carries this resource's mark, and ${whence}`,
      "warning",
    );
  // Under a forced replacement the earlier declaration becomes known only later.
  const finish = (state: JsonObject) => removeUndeclared(declared, object.id, state);
  if (identity) run.decisions.rewritten.set(identity.key, { id: object.id, finish });
};

/**
 * Returns the object that a failed POST created; undefined if a fresh list shows that it had no
 * effect.
 *
 * @throws the failure if the POST certainly had no effect, or if its effect stays unknown
 */
const findDespiteFailure = async (
  declared: Declared,
  { objects, complete }: KnownObjects,
  failure: unknown,
  serial: string | undefined,
): Promise<MadeObject | undefined> => {
  if (!isConversationError(failure) || failure.effect === "none") throw failure;
  const { objectId } = failure.details;
  // The damaged response still began with the ID.
  if (objectId) return { id: objectId, record: serial ? { serial } : {} };
  const before = complete ? { before: new Set(objects.map(({ id }) => id)) } : {};
  return recoverLostPost(declared, { failure, isMarked: serial !== undefined, ...before });
};

/**
 * Returns the object that a POST created although its response was lost; undefined if it certainly
 * created none, or if there is no such POST. Until that is known the POST stays on record, even if
 * the engine requests the creation again, as an `onError` hook may cause it to.
 *
 * @param lost default: the POST on record for the resource
 */
const recoverLostPost = async (
  declared: Declared,
  lost?: UnclearPost,
): Promise<MadeObject | undefined> => {
  const { identity, run } = declared;
  const { unclear } = run.decisions;
  const post = lost ?? (identity && unclear.get(identity.key));
  if (!post) return undefined;
  if (identity) unclear.set(identity.key, post);
  const found = await findCreatedObject(declared, post);
  if (identity) unclear.delete(identity.key);
  return found;
};

/**
 * Returns the object that a POST created, as a fresh list shows it; undefined if it certainly
 * created none.
 *
 * @throws the failure of the POST if that cannot be known
 */
const findCreatedObject = async (
  declared: Declared,
  post: UnclearPost,
): Promise<MadeObject | undefined> => {
  const { definition, service, run } = declared;
  const { isMarked, before } = post;
  const listing = await service.list(definition, { fresh: true }).catch((error) => {
    throw isConversationError(error) ? stillUnclear(declared, post, error) : error;
  });
  const listed = seeObjects(declared, listing.objects);
  const objects = isMarked ? await readDescriptions(declared, listed) : listed;
  const [found, ...others] = isMarked
    ? findMarkedByRun(declared, objects)
    : findNewObjects(declared, before, objects);
  if (found && (others.length === 0 || isMarked)) {
    const record = withoutUndefined({
      serial: found.addedMark?.serial,
      created: filledText(found.wire.created),
      modified: filledText(found.wire.modified),
    });
    const made = { id: found.id, record };
    return others.length === 0 ? made : removeEarlierObjects(declared, made);
  }
  // An incomplete list proves nothing, nor do two objects of which one may be anybody's, nor an
  // object of ours without a usable ID.
  const isUnusable = objects.some(
    ({ hasOurMark, mark }) => hasOurMark && run.decisions.hasPosted(mark?.serial),
  );
  const isRecognizable = isMarked || before !== undefined;
  if (found || isUnusable || !listing.complete || !isRecognizable)
    throw stillUnclear(declared, post);
  return undefined;
};

/** The failure of a POST, with the reason why its effect is unknown. */
const stillUnclear = (
  { definition: { noun, collection } }: Declared,
  { failure }: UnclearPost,
  reason?: ConversationError,
): ConversationError =>
  new ConversationError(
    failure.code,
    `${failure.message} It is unknown whether the call created the ${noun}, ${reason ? `because the list cannot be read: ${reason.message}` : `because the list of ${collection} is inconclusive.`} The call is not repeated until that is known. When the list can be read, run pulumi up again. If the ${noun} exists, you can also adopt it by its ID (adopt: "<id>").`,
    failure.details,
    failure.effect,
    { cause: failure },
  );

/**
 * Reads objects with the wanted name individually if a list omits descriptions, and with them the
 * marks.
 */
const readDescriptions = (
  declared: Declared,
  objects: readonly SeenObject[],
): Promise<readonly SeenObject[]> =>
  Promise.all(
    objects.map(async (each) => {
      const { id, wire, isNamed } = each;
      const isDoubtful = isId(id) && wire.description === undefined && isNamed;
      const whole = isDoubtful ? await readWholeObject(declared, id) : undefined;
      return whole ? seeObject(declared, id, whole) : each;
    }),
  );

/**
 * Objects with serials of this run. One whose name or age does not fit its mark is a copy, unless
 * there is no other: then the service returns names or times in its own format.
 */
const findMarkedByRun = (
  { identity, run }: Declared,
  objects: readonly SeenObject[],
): readonly SeenObject[] => {
  const made = objects.filter(({ id, hasOurMark, mark }) => {
    const holder = run.decisions.holders.get(id);
    const isFree = holder === undefined || holder.key === identity?.key;
    return isId(id) && hasOurMark && isFree && run.decisions.hasPosted(mark?.serial);
  });
  const fitting = made.filter(({ isOriginal }) => isOriginal);
  return fitting.length > 0 ? fitting : made;
};

/**
 * Objects that did not exist before the POST and match what was posted, name included: if the body
 * carries no mark, nothing else identifies the object.
 */
const findNewObjects = (
  declared: Declared,
  before: UnclearPost["before"],
  objects: readonly SeenObject[],
): readonly SeenObject[] => {
  const { fields } = declared.properties;
  return objects.filter(({ id, wire, addedMark }) => {
    const isNew = before?.has(id) === false && !declared.run.decisions.holders.has(id);
    return isNew && addedMark === undefined && holdsFields(declared, wire, fields);
  });
};

/**
 * The list that showed no effect of an attempt may have been out of date. Nothing that follows a
 * success may turn it into a failure.
 */
const removeEarlierObjects = async (declared: Declared, made: MadeObject): Promise<MadeObject> => {
  const { definition, service } = declared;
  const keep = { id: made.id, serial: made.record.serial };
  try {
    const { objects } = await service.list(definition, { fresh: true });
    const seen = seeObjects(declared, objects);
    await removeLeftovers(declared, findLeftovers(declared, seen, keep));
  } catch (error) {
    if (!isConversationError(error)) throw error;
  }
  return made;
};
