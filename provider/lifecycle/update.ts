import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import type { WireObject } from "../service/objects/collections.js";
import { ownedElsewhere, takenByProgram } from "./adoption/existing.js";
import { findAll } from "./adoption/known-objects.js";
import {
  type Context,
  type Declared,
  declaredBefore,
  declaredIn,
  type Found,
  isNamed,
  markOn,
} from "./declared.js";
import { stateOutputs } from "./outputs.js";
import { freeName } from "./ownership/left-overs.js";
import type { Told } from "./properties.js";
import { type PutPlan, planPut, putInPlace } from "./put-in-place.js";

/**
 * Writes what the program wants over the live object, in one PUT after one read: what neither the
 * definition nor the program knows is kept.
 */
export const updateObject = async (
  context: Context,
  id: string,
  olds: JsonObject,
  news: JsonObject,
): Promise<{ readonly outs: JsonObject }> => {
  const declared = await declaredIn(context, news);
  const before = await declaredBefore(declared, olds);
  const told = await write(declared, before, id);
  const { resource, run, properties } = declared;
  if (resource) run.decisions.settled(resource, { id, serial: told.serial });
  return { outs: stateOutputs(context.definition, { ...properties, told }) };
};

const liveObject = async ({ definition, service }: Declared, id: string): Promise<Found> => {
  const live = await service.read(definition, id);
  if (live) return { ...live, id };
  throw new ConversationError(
    "NOT_FOUND",
    "it is gone from the service. Run `pulumi refresh`, then `pulumi up` makes it again.",
  );
};

const write = async (declared: Declared, before: Declared, id: string): Promise<Told> => {
  const plan = planPut(declared, await liveObject(declared, id), before);
  try {
    return await putInPlace(declared, plan);
  } catch (error) {
    if (!isConversationError(error, "REJECTED")) throw error;
    if (!(await mayPassNow(declared, plan, error))) throw error;
    return putInPlace(declared, planPut(declared, await liveObject(declared, id), before));
  }
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
  const isConflict = [409, 412].includes(refusal.details.status ?? 0);
  const renames = isUnique && !isNamed(declared, plan.live);
  if (!renames) return isConflict;
  const listing = await service.list(definition, { fresh: true }).catch((error) => {
    throw isConversationError(error) ? refusal : error;
  });
  const [holder] = findAll(
    listing.objects,
    (wire, id) => id !== plan.live.id && isNamed(declared, wire),
  );
  if (!holder) return isConflict;
  return letGo(declared, plan, listing.objects, holder, refusal);
};

/** Frees the name from a left-over of ours; explains who has it otherwise. */
const letGo = async (
  declared: Declared,
  { live, serial }: PutPlan,
  objects: ReadonlyMap<string, WireObject>,
  holder: Found,
  refusal: ConversationError,
): Promise<boolean> => {
  const { definition, run, properties } = declared;
  const other = run.decisions.holderOf(holder.id);
  if (other) throw takenByProgram(declared, holder, other.label);
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  if (await freeName(declared, objects, { id: live.id, serial }, states)) return true;
  const [held] = states?.holdersOf(definition.kind, holder.id) ?? [];
  const owner = held ?? markOn(holder);
  if (owner) throw ownedElsewhere(declared, holder, owner);
  throw new ConversationError(
    "NAME_TAKEN",
    `the service refuses (${refusal.details.status}), as the name is taken by another ${definition.noun} (id ${holder.id}), which is not managed by Pulumi. Nothing was changed. Give this resource another name, or remove that object.`,
    refusal.details,
    "none",
    { cause: refusal },
  );
};
