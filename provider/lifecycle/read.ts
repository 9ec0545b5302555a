import { managedFields, tidyFields } from "../definition/changes.js";
import { normaliseFields, withoutSecrets } from "../definition/fields.js";
import { sameFields, sameMeaning } from "../definition/meaning.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertId, isId } from "../kernel/object-id.js";
import { holdsUndisclosed } from "../kernel/pulumi.js";
import type { WireObject } from "../service/lists.js";
import { engineCall } from "./engine-call.js";
import { objectTime, originalMark, readMark } from "./ownership.js";
import {
  connected,
  type Declared,
  type KindInRun,
  type ObjectRecord,
  type Resource,
  stateValues,
} from "./resource.js";

export interface ReadResult {
  /** ID of the object; empty if the object certainly does not exist. */
  readonly id: string;
  readonly props: JsonObject;
  /** Inputs for the state. If absent, the inputs in the state stay unchanged. */
  readonly inputs?: JsonObject;
}

/** What the engine calls to read a resource. */
export const onRead =
  (of: KindInRun) =>
  (id: string, inputs: JsonObject): Promise<ReadResult> =>
    engineCall({ of, doing: "reading", id, inputs }, (resource) => read(resource, id));

/** Reads the live object: the managed members for a refresh, all members for `get`. */
const read = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition, properties } = resource;
  assertId(id, definition.noun);
  const declared = await connected(resource);
  const isGet = Object.keys(properties.fields).length === 0;
  const seen = await seeLiveObject(declared, id, isGet);
  if (!seen) {
    // The engine treats an empty answer to `get` as success.
    if (isGet)
      throw new ConversationError(
        "NOT_FOUND",
        `there is no ${definition.noun} with this ID. Correct the ID, or check that the settings are for the right tenant.`,
      );
    return { id: "", props: {} };
  }
  const { live, fields } = seen;
  const now = { definition, properties: { ...properties, fields } };
  const props = stateValues(now, liveRecord(live, properties.record));
  // The inputs in the state may contain a secret that these outputs lack: they stay.
  if (!isGet && holdsUndisclosed(fields)) return { id, props };
  return { id, props, inputs: stateValues(now) };
};

/**
 * Reads the object itself for `get`; for a refresh, from the one list that all reads of a run share.
 * A list may omit members, so only the object itself confirms its absence, or a difference from the
 * state.
 */
const seeLiveObject = async (declared: Declared, id: string, isGet: boolean) => {
  const { definition, service, properties } = declared;
  const see = (live: WireObject | undefined) =>
    live && { live, fields: readFields(declared, live, isGet) };
  const listed = isGet ? undefined : see(await findListed(declared, id));
  if (listed && sameFields(definition.fields, listed.fields, properties.fields)) return listed;
  return see(await service.read(definition, id));
};

/** Undefined, too, if the list cannot be read. */
const findListed = ({ definition, service }: Declared, id: string) =>
  service.find(definition, id).catch((error) => {
    if (isConversationError(error, "FORBIDDEN", "BAD_RESPONSE")) return undefined;
    throw error;
  });

/** A live object in a program's terms. */
const readFields = (declared: Declared, live: WireObject, isGet: boolean): JsonObject => {
  const { definition, settings, properties } = declared;
  const description = descriptionOf(declared, live);
  const fields = fieldsFromWire(definition.fields, { ...live, description }, settings);
  return isGet ? fields : managedFields(definition.fields, fields, properties.fields);
};

/** Returns what is known about an object, with the current times from the service. */
const liveRecord = (live: WireObject, record: ObjectRecord): ObjectRecord => {
  const created = sameTime(live.created, record.created);
  const modified = sameTime(live.modified, record.modified);
  return { ...record, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};

/**
 * A time of the service. Right after a creation or an update it comes from the answer's `Date`,
 * which is slightly later and has no fractions of a second: that counts as the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** Maximum time between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;

const latestMs = 1_000;

/**
 * Returns the description without the mark. A description that only seems to contain a mark is
 * returned in full.
 */
const descriptionOf = (
  { definition, properties, settings, ownMark }: Declared,
  { description }: WireObject,
): unknown => {
  const { description: field } = definition.fields;
  const isProgramText =
    field &&
    description !== undefined &&
    sameMeaning(field, description, properties.fields.description);
  const { mark, description: rest } = readMark(description);
  const isMarked = settings.ownershipMark === "description" || mark?.stack === ownMark?.stack;
  return isProgramText || !isMarked ? description : rest;
};

/** What the plugin calls to read an object that the resource with this owner may import. */
export const onLookUp =
  (of: KindInRun) =>
  (id: string, owner?: string): Promise<ReadResult> =>
    engineCall({ of, doing: "looking up", id, inputs: owner ? { owner } : {} }, (resource) =>
      lookUpObject(resource, id),
    );

/**
 * Reads an object by its ID, and returns it as a program would declare it, without empty members.
 * Every secret is undisclosed, because Pulumi writes the inputs of an import into code. Whose the
 * object is, only a check says: the next update adds the mark.
 */
const lookUpObject = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition } = resource;
  const declared = await connected(resource);
  const live = isId(id) ? await declared.service.read(definition, id) : undefined;
  if (!live) return { id: "", props: {} };
  const { settings, ownMark } = declared;
  const description = descriptionOf(declared, live);
  const wire = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const tidy = normaliseFields(definition, tidyFields(definition.fields, wire), () => false);
  const mark = originalMark(definition, live);
  const isOurs = mark?.stack === ownMark?.stack && mark?.resource === ownMark?.resource;
  const properties = { fields: withoutSecrets(definition.fields, tidy), record: {} };
  const record = liveRecord(live, isOurs && mark?.serial ? { serial: mark.serial } : {});
  return {
    id,
    props: stateValues({ definition, properties }, record),
    inputs: stateValues({ definition, properties }),
  };
};
