import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import type { HeldObject } from "./decisions.js";
import { ownedElsewhere, ownObjects, takenByProgram } from "./existing.js";
import { type ObjectRecord, propertiesIn } from "./properties.js";
import { type PutPlan, planPut, putInPlace } from "./put.js";
import { connected, type Declared, isThisResource, type ObjectHolders, resourceIn } from "./run.js";
import { type Found, type SeenObject, seenObject, seenObjects, wholeObject } from "./seen.js";
import { stateOutputs } from "./state.js";

/**
 * Overwrites the live object with the program's values, in one PUT after one read; tries again if
 * the cause of a refusal is gone. Keeps members that the program has never declared.
 *
 * @param olds the outputs of the last write, from the state
 */
export const updateObject = async (
  declared: Declared,
  olds: JsonObject,
  id: string,
): Promise<{ readonly outs: JsonObject }> => {
  const { definition, identity, run, properties } = declared;
  const before = await declaredBefore(declared, olds);
  const record = await write(declared, before, id);
  const outs = stateOutputs(definition, { ...properties, record });
  if (identity) run.decisions.assign(identity, { id, serial: record.serial });
  return { outs };
};

/** Returns the resource as it was when its object was last written, but in its current account. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> => {
  const last = propertiesIn({ ...olds, profile: declared.properties.profile });
  return connected(resourceIn(declared, last), declared);
};

const write = async (declared: Declared, before: Declared, id: string): Promise<ObjectRecord> => {
  const plan = planPut(declared, await liveObject(declared, id), before);
  try {
    return await putInPlace(declared, plan);
  } catch (error) {
    if (!isConversationError(error, "REJECTED")) throw error;
    if (!(await mayPassNow(declared, plan, error))) throw error;
    return putInPlace(declared, planPut(declared, await liveObject(declared, id), before));
  }
};

const liveObject = async (declared: Declared, id: string): Promise<Found> => {
  const live = await wholeObject(declared, id);
  if (live) return live;
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
const mayPassNow = async (
  declared: Declared,
  plan: PutPlan,
  refusal: ConversationError,
): Promise<boolean> => {
  const { definition, service, isUnique } = declared;
  const { live } = plan;
  const isConflict = [409, 412].includes(refusal.details.status ?? 0);
  if (!isUnique || seenObject(declared, live.id, live).isNamed) return isConflict;
  const listing = await service.list(definition, { fresh: true }).catch((error) => {
    throw isConversationError(error) ? refusal : error;
  });
  const objects = seenObjects(declared, listing.objects);
  const holder = objects.find(({ id, isNamed }) => id !== live.id && isNamed);
  return holder ? letGo(declared, plan, objects, holder, refusal) : isConflict;
};

/** Takes the name from a leftover of ours; otherwise explains who has it. */
const letGo = async (
  declared: Declared,
  { live, serial }: PutPlan,
  objects: readonly SeenObject[],
  { id, wire, mark }: SeenObject,
  refusal: ConversationError,
): Promise<boolean> => {
  const { definition, run, properties } = declared;
  const holder = { ...wire, id };
  const other = run.decisions.holders.get(id);
  if (other) throw takenByProgram(declared, holder, other.label);
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  if (await freeName(declared, objects, { id: live.id, serial }, states)) return true;
  const [held] = states?.holdersOf(definition.kind, id) ?? [];
  const owner = held ?? mark;
  if (owner) throw ownedElsewhere(declared, holder, owner);
  throw new ConversationError(
    "NAME_TAKEN",
    `the service refused the update (${refusal.details.status}) because another ${definition.noun} (ID ${id}), which Pulumi does not manage, already has that name. Nothing was changed. Use a different ${declared.nameKey}, or remove that object.`,
    refusal.details,
    "none",
    { cause: refusal },
  );
};

/**
 * Returns the objects that are certainly a resource's leftovers.
 *
 * @param keep the object that belongs to the resource
 */
export const leftovers = (
  declared: Declared,
  objects: readonly SeenObject[],
  keep: HeldObject,
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const beside = ownObjects(declared, objects, states).filter(({ id }) => id !== keep.id);
  const serials = beside.map(({ mark }) => mark?.serial);
  // Two objects share a serial: a person copied one of them.
  return beside.filter(
    (each, place) =>
      serials.indexOf(serials[place]) === serials.lastIndexOf(serials[place]) &&
      isLeftover(declared, each, keep.serial, states),
  );
};

/**
 * Whether an object is certainly a leftover of ours beside the object that stands for the
 * resource: this run sent the POST itself, or its unique name is the one that its mark was made
 * for, its serial differs, and no other resource of any state holds it. If names need not be
 * unique, a copy of an object that is gone by now looks the same, so only objects that this run
 * created are certain.
 */
const isLeftover = (
  declared: Declared,
  { id, mark }: SeenObject,
  known: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const { definition, isUnique, run } = declared;
  const serial = mark?.serial;
  if (serial === undefined || serial === known) return false;
  if (run.decisions.made(serial)) return true;
  if (!isUnique || !states) return false;
  // The old half of an interrupted replacement stays in the state until it is deleted.
  const holders = states.holdersOf(definition.kind, id);
  return (
    holders.every((holder) => isThisResource(declared, holder)) &&
    states.readersOf(definition.kind, id).length === 0
  );
};

/**
 * Removes leftovers. A leftover that cannot be removed now does not harm the resource, so it does
 * not count as a failure.
 *
 * @returns the leftovers that remain
 */
export const removeLeftovers = async (
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
  const named = leftovers(declared, objects, keep, states).filter(({ isNamed }) => isNamed);
  for (const { id } of await removeLeftovers(declared, named)) await setAside(declared, id);
  return named.length > 0;
};

/**
 * Renames a leftover that cannot be deleted yet because others of the stack still refer to it:
 * they are written later in the run, after the resource's own object.
 */
const setAside = async (declared: Declared, id: string): Promise<void> => {
  const { definition, properties, nameKey } = declared;
  const field = definition.fields[nameKey];
  if (field?.type !== "text") return;
  const suffix = `-leftover-${id}`;
  const kept = String(declared.name).slice(0, (field.max ?? 255) - suffix.length);
  // Do not keep half of a surrogate pair.
  const name = `${kept.replace(/[\uD800-\uDBFF]$/, "")}${suffix}`;
  const fields = { ...properties.fields, [nameKey]: name };
  const aside: Declared = { ...declared, name, properties: { ...properties, fields, record: {} } };
  const whole = await wholeObject(declared, id);
  if (whole) await putInPlace(aside, planPut(aside, whole));
};
