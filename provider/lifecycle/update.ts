import { mergeFields } from "../definition/merge.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { type JsonObject, objectOf } from "../kernel/json.js";
import type { Holding } from "../pulumi-cli/stack-states.js";
import { isUnclear } from "../service/collections.js";
import { asWritten, desiredBody, holdsFields, lastWritten } from "./body.js";
import { ownedElsewhere, ownObjects, takenByProgram } from "./existing.js";
import { connected, type Declared, resourceIn } from "./resource.js";
import type { HeldObject, ObjectHolders } from "./run.js";
import {
  describe,
  type Found,
  type SeenObject,
  seenObject,
  seenObjects,
  wholeObject,
} from "./seen.js";
import { type ObjectRecord, stateOutputs } from "./state.js";

/**
 * Writes what the program wants over the live object, in one PUT after one read: members that
 * neither the definition nor the program knows are kept.
 *
 * @param olds the outputs of the last write, as the state has them
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

/** The resource as it was when its object was last written, in its present account. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> =>
  connected(resourceIn(declared, { ...olds, profile: declared.properties.profile }), declared);

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
 * Whether a refused PUT is worth another try: the object changed between the read and the PUT, or
 * its new name belonged to a left-over of ours that has now released it.
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

/** Takes the name from a left-over of ours; otherwise explains who has it. */
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

/** The planned effect of a PUT on an object. */
export interface PutPlan {
  readonly live: Found;
  readonly body: JsonObject;
  readonly serial: string;
  readonly isMarked: boolean;
  /** Members that the program does not name and that stay. */
  readonly undeclared: readonly string[];
  /** Members that the program does not name, that the service hides and that the PUT would erase. */
  readonly hidden: readonly string[];
  /**
   * Members that the program no longer names and that stay because this tenant's PUT keeps omitted
   * members.
   */
  readonly staying: readonly string[];
}

/**
 * Plans the new content of an object. Members that the program does not declare are kept, including
 * a description that a person wrote.
 *
 * @param before the resource as the program had it when the object was last written; undefined if
 *   it was never written
 */
export const planPut = (declared: Declared, live: Found, before?: Declared): PutPlan => {
  const { definition, settings } = declared;
  const { id: _, created: __, modified, ...rest } = live;
  // If the program wrote the last description, no part of it is a person's.
  const isPrograms = before?.properties.fields.description !== undefined;
  const description = isPrograms ? undefined : live.description;
  const soFar = { serial: serialOf(before ?? declared, live), description };
  const last = before && lastWritten(before, declared);
  const desired = desiredBody(asWritten(declared), soFar);
  const { serial, isMarked } = desired;
  const prior = last ? desiredBody(last, { serial }).body : {};
  const {
    body: merged,
    undeclared,
    hidden,
  } = mergeFields({
    fields: definition.fields,
    rule: definition.rule,
    live: rest,
    desired: desired.body,
    prior,
    keeps: settings.put === "keep",
  });
  // A service may refuse to overwrite a later change than this one (public reference).
  const body = modified === undefined ? merged : { ...merged, modified };
  const isStaying = (wire: string): boolean =>
    live[wire] !== undefined && live[wire] !== null && !Object.hasOwn(body, wire);
  const staying = settings.put === "keep" ? Object.keys(prior).filter(isStaying) : [];
  return { live, body, serial, isMarked, undeclared, hidden, staying };
};

/** The serial by which the state, or otherwise the object itself, identifies it. */
const serialOf = (declared: Declared, live: Found): string | undefined => {
  const { serial } = declared.properties.record;
  if (serial) return serial;
  const { isOwn, mark } = seenObject(declared, live.id, live);
  return isOwn ? mark?.serial : undefined;
};

/** Refuses a PUT that would erase hidden members that the program neither declares nor gives up. */
export const assertNothingErased = ({ definition, properties }: Declared, plan: PutPlan): void => {
  const { hidden, live } = plan;
  if (hidden.length === 0 || properties.eraseHidden) return;
  const [one] = hidden;
  const [members, them, they] =
    hidden.length === 1 ? ["a member", "it", "it"] : ["members", "them", "they"];
  throw new ConversationError(
    "HIDDEN_MEMBER",
    `the ${describe(definition, live)} has ${members} that the program does not declare ` +
      `and that the service does not show: ${hidden.join(", ")}. A PUT would erase ${them}. Nothing was changed. ` +
      `Declare ${hidden.length === 1 ? one : "them"} with the value, or set eraseHidden: true if ${they} may go` +
      ", or set conversation:put to keep if this tenant's PUT keeps what it does not name.",
  );
};

/** Writes the object in one PUT and returns what is known about it afterward. */
export const putInPlace = async (declared: Declared, plan: PutPlan): Promise<ObjectRecord> => {
  const { definition, run } = declared;
  const { live, serial, isMarked, undeclared, staying } = plan;
  assertNothingErased(declared, plan);
  const modified = await replaced(declared, plan);
  if (staying.length > 0) {
    run.notify?.(
      `the ${describe(definition, live)} still has ${staying.join(", ")}, which the program no longer declares: ` +
        "this tenant's PUT keeps what it does not name (conversation:put). Remove it at the service by hand.",
      "warning",
    );
  }
  return objectOf([
    ["serial", isMarked ? serial : undefined],
    ["created", typeof live.created === "string" ? live.created : undefined],
    ["modified", modified],
    ["undeclared", undeclared.length > 0 ? undeclared : undefined],
  ]) as ObjectRecord;
};

/**
 * Sends the PUT and returns when the object was changed. If the answer did not come from the
 * service, the content of the object shows whether it was written.
 */
const replaced = async (
  declared: Declared,
  { live, body }: PutPlan,
): Promise<string | undefined> => {
  const { definition, service, settings } = declared;
  try {
    return (await service.replace(definition, live.id, body)).modified;
  } catch (error) {
    if (!isUnclear(error)) throw error;
    const now = await wholeObject(declared, live.id);
    const sent = fieldsFromWire(definition.fields, body, settings);
    if (!now || !holdsFields(declared, now, sent)) throw error;
    return typeof now.modified === "string" ? now.modified : undefined;
  }
};

/**
 * The objects that are certainly left-overs of a resource.
 *
 * @param keep the object that stands for the resource
 */
export const leftOvers = (
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
      isLeftOver(declared, each, keep.serial, states),
  );
};

/**
 * Whether an object is certainly a left-over of ours beside the object that stands for the
 * resource: this run sent the POST itself, or its unique name is the one that its mark was made
 * for, its serial differs, and no other resource of any state holds it. If names need not be
 * unique, a copy of an object that is gone by now looks the same, so only objects that this run
 * created are certain.
 */
const isLeftOver = (
  { definition: { kind }, isUnique, run, properties }: Declared,
  { id, mark }: SeenObject,
  known: string | undefined,
  states: ObjectHolders | undefined,
): boolean => {
  const serial = mark?.serial;
  if (serial === undefined || serial === known) return false;
  if (run.decisions.made(serial)) return true;
  if (!isUnique || !states) return false;
  // The old half of an interrupted replacement stays in the state until it is deleted.
  const isOldHalf = ({ own, owner }: Holding): boolean => own && owner === properties.owner;
  return states.holdersOf(kind, id).every(isOldHalf) && states.readersOf(kind, id).length === 0;
};

/**
 * Removes left-overs. One that cannot be removed now does not harm the resource, so that is no
 * failure.
 *
 * @returns those that stay
 */
export const removeLeftOvers = async (
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
 * Frees the name of a resource from its own left-overs: removes them, and renames those that other
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
  const named = leftOvers(declared, objects, keep, states).filter(({ isNamed }) => isNamed);
  for (const { id } of await removeLeftOvers(declared, named)) await setAside(declared, id);
  return named.length > 0;
};

/**
 * Renames a left-over that cannot be deleted yet because others of the stack still refer to it:
 * they are written later in the run, after the resource's own object.
 */
const setAside = async (declared: Declared, id: string): Promise<void> => {
  const { definition, properties, nameKey } = declared;
  const field = definition.fields[nameKey];
  if (field?.type !== "text") return;
  const suffix = `-left-over-${id}`;
  const kept = String(declared.name).slice(0, (field.max ?? 255) - suffix.length);
  // Do not keep half of a surrogate pair.
  const name = `${kept.replace(/[\uD800-\uDBFF]$/, "")}${suffix}`;
  const fields = { ...properties.fields, [nameKey]: name };
  const aside: Declared = { ...declared, name, properties: { ...properties, fields, record: {} } };
  const whole = await wholeObject(declared, id);
  if (whole) await putInPlace(aside, planPut(aside, whole));
};
