import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { ownedElsewhere, takenByProgram } from "./existing.js";
import { freeName } from "./left-overs.js";
import { type PutPlan, planPut, putInPlace } from "./put.js";
import { type Declared, type Found, wholeObject } from "./resource.js";
import { type SeenObject, seenObject, seenObjects } from "./seen-object.js";
import { type ObjectRecord, stateOutputs } from "./state.js";

/**
 * Writes what the program wants over the live object, in one PUT after one read: what neither the
 * definition nor the program knows is kept.
 *
 * @param before the resource as the program had it when the object was last written
 */
export const updateObject = async (
  declared: Declared,
  before: Declared,
  id: string,
): Promise<{ readonly outs: JsonObject }> => {
  const { definition, identity, run, properties } = declared;
  const record = await write(declared, before, id);
  if (identity) run.decisions.assign(identity, { id, serial: record.serial });
  return { outs: stateOutputs(definition, { ...properties, record }) };
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
    "it is gone from the service. Run `pulumi refresh`, then `pulumi up` makes it again.",
  );
};

/**
 * Whether a refused PUT is worth another try: the object changed between the read and the PUT, or its
 * new name was taken by our own left-over, which has let go of it.
 *
 * @throws ConversationError `NAME_TAKEN`, `OWNED_ELSEWHERE` where another object has the name
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

/** Frees the name from a left-over of ours; explains who has it otherwise. */
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
    `the service refuses (${refusal.details.status}), as the name is taken by another ${definition.noun} (id ${id}), which is not managed by Pulumi. Nothing was changed. Give this resource another name, or remove that object.`,
    refusal.details,
    "none",
    { cause: refusal },
  );
};
