import { changeFieldSecrets } from "../definition/fields.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { brokenSinceCheck, findViolations } from "./check.js";
import { engineCall, ResourceInitFailed } from "./engine-call.js";
import {
  findLeftovers,
  readWholeObject,
  removeLeftovers,
  type SeenObject,
  seeObject,
  seeObjects,
} from "./ownership.js";
import { type PutPlan, planPut, putInPlace } from "./put.js";
import { type Found, ownedElsewhere, takenByProgram } from "./refusals.js";
import {
  assignObject,
  connected,
  type Declared,
  inAccount,
  type KindInRun,
  labelOf,
  type ObjectRecord,
  resourceIn,
  stateValues,
} from "./resource.js";
import type { HeldObject, ObjectHolders } from "./run.js";

/** What the engine calls to update a resource. A policy may have changed its inputs since the check. */
export const onUpdate =
  (of: KindInRun) =>
  (id: string, olds: JsonObject, inputs: JsonObject): Promise<{ readonly outs: JsonObject }> =>
    engineCall({ of, doing: "updating", id, inputs, olds }, async (resource, before) => {
      const broken = findViolations(resource, inputs, before.properties);
      if (broken.length > 0) throw brokenSinceCheck(broken);
      const declared = await connected(resource);
      return updateObject(declared, inAccount(before, declared), id);
    });

/**
 * Overwrites the live object with the program's values, in one PUT after one read; tries again if
 * the cause of a refusal is gone. Keeps members that the program has never declared.
 *
 * @param before the resource as its object was last written
 */
const updateObject = async (
  declared: Declared,
  before: Declared,
  id: string,
): Promise<{ readonly outs: JsonObject }> => {
  const record = await writeObject(declared, before, id);
  assignObject(declared, { id, serial: record.serial });
  return { outs: stateValues(declared, record) };
};

const writeObject = async (
  declared: Declared,
  before: Declared,
  id: string,
): Promise<ObjectRecord> => {
  const plan = planPut(declared, await readLiveObject(declared, id), before);
  try {
    return await putInPlace(declared, plan);
  } catch (error) {
    if (!isConversationError(error, "REJECTED")) throw error;
    if (!(await resolveRefusal(declared, plan, error))) throw error;
    return putInPlace(declared, planPut(declared, await readLiveObject(declared, id), before));
  }
};

const readLiveObject = async (declared: Declared, id: string): Promise<Found> => {
  const live = await declared.service.read(declared.definition, id);
  if (live) return { ...live, id };
  throw new ConversationError(
    "NOT_FOUND",
    "it no longer exists in the service. Run `pulumi refresh`, then `pulumi up` to create it again.",
  );
};

/**
 * Whether a refused PUT is worth another try: the object changed between the read and the PUT, or
 * its new name belonged to a leftover of ours that has now released it.
 *
 * @throws ConversationError `NAME_TAKEN`, `OWNED_ELSEWHERE` if another object has the name
 */
const resolveRefusal = async (
  declared: Declared,
  plan: PutPlan,
  refusal: ConversationError,
): Promise<boolean> => {
  const { definition, service, isUnique } = declared;
  const { live } = plan;
  const isConflict = refusal.details.status === 409;
  if (!isUnique || seeObject(declared, live.id, live).isNamed) return isConflict;
  const listing = await service.list(definition, { fresh: true }).catch((error) => {
    throw isConversationError(error) ? refusal : error;
  });
  const objects = seeObjects(declared, listing.objects);
  const holder = objects.find(({ id, isNamed }) => id !== live.id && isNamed);
  return holder ? freeOrExplainName(declared, plan, objects, holder, refusal) : isConflict;
};

/** Takes the name from a leftover of ours; otherwise explains who has it. */
const freeOrExplainName = async (
  declared: Declared,
  { live, serial }: PutPlan,
  objects: readonly SeenObject[],
  { id, wire, mark }: SeenObject,
  refusal: ConversationError,
): Promise<boolean> => {
  const { definition, run, properties } = declared;
  const holder = { ...wire, id };
  const other = run.decisions.holders.get(id);
  if (other) throw takenByProgram(declared, holder, labelOf(other));
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  if (await freeName(declared, objects, { id: live.id, serial }, states)) return true;
  const [held] = states?.holdersOf(definition.kind, id) ?? [];
  const owner = held ?? mark;
  if (owner) throw ownedElsewhere(declared, holder, owner);
  throw new ConversationError(
    "NAME_TAKEN",
    `the service refused the update (${refusal.details.status}) because another ${definition.noun} (ID ${id}), which Pulumi does not manage, already has that name. Nothing was changed. Use a different ${declared.nameKey}, or rename or remove that object.`,
    refusal.details,
    "none",
    { cause: refusal },
  );
};

/**
 * Frees the name of a resource from its own leftovers: removes them, and renames those that other
 * objects still refer to.
 *
 * @returns whether one of them had the name
 */
const freeName = async (
  declared: Declared,
  objects: readonly SeenObject[],
  keep: HeldObject,
  states?: ObjectHolders,
): Promise<boolean> => {
  const named = findLeftovers(declared, objects, keep, states).filter(({ isNamed }) => isNamed);
  for (const { id } of await removeLeftovers(declared, named)) await renameLeftover(declared, id);
  return named.length > 0;
};

/**
 * Renames a leftover that cannot be deleted yet because others of the stack still refer to it:
 * they are written later in the run, after the resource's own object.
 */
const renameLeftover = async (declared: Declared, id: string): Promise<void> => {
  const { definition, properties, nameKey } = declared;
  const field = definition.fields[nameKey];
  if (field?.type !== "text") return;
  const suffix = `-leftover-${id}`;
  const kept = String(declared.name).slice(0, (field.max ?? 255) - suffix.length);
  // Do not keep half of a surrogate pair.
  const name = `${kept.replace(/[\uD800-\uDBFF]$/, "")}${suffix}`;
  const fields = { ...properties.fields, [nameKey]: name };
  const aside: Declared = { ...declared, name, properties: { ...properties, fields, record: {} } };
  const whole = await readWholeObject(declared, id);
  if (whole) await putInPlace(aside, planPut(aside, whole));
};

/** The object of a resource, and what is known of it beyond the program's declaration. */
export interface MadeObject {
  readonly id: string;
  readonly record: ObjectRecord;
}

/**
 * Removes members that the program declared before a forced replacement updated the object: during
 * the replacement nothing distinguished them from members that are not the program's.
 *
 * @param state the resource as the state had it
 */
export const removeUndeclared = async (
  declared: Declared,
  id: string,
  state: JsonObject,
): Promise<void> => {
  const live = await readWholeObject(declared, id);
  const before = inAccount(resourceIn(declared, state), declared);
  if (live) await putInPlace(declared, planPut(declared, live, before));
};

/** Updates an existing object. If that fails, its ID is not lost. */
export const takeOver = async (
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
    // A failed PUT does not make an object ours.
    const isOriginal = properties.adopt === undefined || seeObject(declared, id, object).isOriginal;
    if (!isOriginal) throw error;
    // What the program removed remains until a PUT succeeds. A masked secret cannot be compared with
    // the intended one, so the state must not claim that it was written.
    const values = { ...before?.properties.fields, ...properties.fields };
    const fields = changeFieldSecrets(definition.fields, values, () => undefined);
    const sure = { ...declared, properties: { ...properties, fields } };
    throw new ResourceInitFailed(id, stateValues(sure, { serial: plan.serial }), error);
  }
};
