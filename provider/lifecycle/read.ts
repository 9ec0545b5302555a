import { managedFields, tidyFields } from "../definition/changes.js";
import type { Definition } from "../definition/define.js";
import { normaliseFields, wireName, withoutSecrets } from "../definition/fields.js";
import { objectTitle } from "../definition/kinds.js";
import { sameMeaning } from "../definition/meaning.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { type JsonObject, pathsOfTexts } from "../kernel/json.js";
import { assertId, isId } from "../kernel/object-id.js";
import { holdsUndisclosed } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import { isSameResource, readMark } from "./ownership/mark.js";
import {
  connected,
  type Declared,
  liveRecord,
  type Properties,
  type Resource,
  stateInputs,
  stateOutputs,
} from "./resource.js";
import { originalMark } from "./seen.js";

export interface ReadResult {
  /** ID of the object; empty if the object certainly does not exist. */
  readonly id: string;
  readonly props: JsonObject;
  /** Inputs for the state. If absent, the inputs in the state stay unchanged. */
  readonly inputs?: JsonObject;
}

/** Reads the live object: the managed members for a refresh, all members for `get`. */
export const read = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition, properties } = resource;
  assertId(id, definition.noun);
  const declared = await connected(resource);
  const isGet = Object.keys(properties.fields).length === 0;
  const live = isGet ? await declared.service.read(definition, id) : await liveObject(declared, id);
  if (!live) {
    // The engine treats an empty answer to `get` as success.
    if (isGet)
      throw new ConversationError(
        "NOT_FOUND",
        `there is no ${definition.noun} with this ID. Correct the ID, or check that the settings are for the right tenant.`,
      );
    return { id: "", props: {} };
  }
  const now = readProperties(declared, live, isGet);
  warnOfBrokenTexts(declared, now);
  const props = stateOutputs(definition, now);
  // The inputs in the state may contain a secret that these outputs lack: they stay.
  if (!isGet && holdsUndisclosed(now.fields)) return { id, props };
  return { id, props, inputs: stateInputs(definition, now) };
};

/**
 * Half of a character arrived as the replacement character, which a person would take for the text.
 */
const warnOfBrokenTexts = (
  { definition, run, nameKey, name }: Declared,
  { fields }: Properties,
): void => {
  const paths = pathsOfTexts(fields, (text) => text.includes("\ufffd"));
  if (paths.length === 0) return;
  const title = objectTitle(definition, { ...fields, [nameKey]: name ?? fields[nameKey] });
  run.notify?.(
    `${paths.join(", ")} of the ${title} ${paths.length === 1 ? "contains" : "contain"} an unpaired surrogate in the service, shown as \ufffd. Enter the text again, in the program or in the service.`,
    "warning",
  );
};

/**
 * Reads from the one list that all reads of a run share; the object itself confirms its absence.
 */
const liveObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<WireObject | undefined> => {
  const listed = await service.find(definition, id).catch((error) => {
    if (isConversationError(error, "FORBIDDEN", "BAD_RESPONSE")) return undefined;
    throw error;
  });
  return listed && isWhole(definition, listed) ? listed : service.read(definition, id);
};

/** Whether a list item shows as much as the object itself. */
const isWhole = (definition: Definition, wire: WireObject): boolean =>
  Object.entries(definition.fields).every(
    ([name, field]) => !field.required || wire[wireName(name, field)] !== undefined,
  );

/** A live object in a program's terms. */
const readProperties = (declared: Declared, live: WireObject, isGet: boolean): Properties => {
  const { definition, settings, properties } = declared;
  const description = descriptionOf(declared, live);
  const fields = fieldsFromWire(definition.fields, { ...live, description }, settings);
  return {
    ...properties,
    fields: isGet ? fields : managedFields(definition.fields, fields, properties.fields),
    record: liveRecord(live, properties.record),
  };
};

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

/**
 * Reads an object by its ID, and returns it as a program would declare it, without empty members.
 * Every secret is undisclosed, because Pulumi writes the inputs of an import into code. Whose the
 * object is, only a check says: the next update adds the mark.
 */
export const lookUpObject = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition } = resource;
  const declared = await connected(resource);
  const live = isId(id) ? await declared.service.read(definition, id) : undefined;
  if (!live) return { id: "", props: {} };
  const now = importedProperties(declared, live);
  return {
    id,
    props: stateOutputs(definition, now),
    inputs: stateInputs(definition, now),
  };
};

const importedProperties = (declared: Declared, live: WireObject): Properties => {
  const { definition, settings, ownMark } = declared;
  const description = descriptionOf(declared, live);
  const wire = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const typed = tidyFields(definition.fields, wire);
  const fields = withoutSecrets(
    definition.fields,
    normaliseFields(definition, typed, () => false),
  );
  const mark = originalMark(definition, live);
  const isOurs = mark !== undefined && ownMark !== undefined && isSameResource(mark, ownMark);
  const record = liveRecord(live, isOurs && mark.serial ? { serial: mark.serial } : {});
  return { fields, record };
};
