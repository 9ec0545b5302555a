import { managedFields, typedFields } from "../definition/changes.js";
import type { Definition } from "../definition/define.js";
import { managedExtra } from "../definition/extra.js";
import { objectTitle, wireName } from "../definition/fields.js";
import { sameMeaning } from "../definition/meaning.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject, pathsOfTexts } from "../kernel/json.js";
import { assertId } from "../kernel/object-id.js";
import { holdsUndisclosed } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import { readMark } from "./ownership/mark.js";
import type { Properties } from "./properties.js";
import { connected, type Declared, type Resource } from "./run.js";
import { liveRecord, stateInputs, stateOutputs } from "./state.js";

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
  const now = liveProperties(declared, live, isGet);
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
  { fields, extra }: Properties,
): void => {
  const paths = pathsOfTexts({ ...fields, ...(extra ? { extra } : {}) }, (text) =>
    text.includes("\ufffd"),
  );
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
const liveProperties = (declared: Declared, live: WireObject, isGet: boolean): Properties => {
  const { definition, settings, properties } = declared;
  const description = descriptionOf(declared, live);
  const fields = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const { extra, extraSecrets = [] } = properties;
  return {
    ...properties,
    fields: isGet
      ? typedFields(definition.fields, fields)
      : managedFields(definition.fields, fields, properties.fields),
    ...(isObject(extra) ? { extra: managedExtra(live, extra, extraSecrets) } : {}),
    record: liveRecord(live, properties.record),
  };
};

/**
 * Returns the description without the mark. A description that only seems to contain a mark is
 * returned in full.
 */
export const descriptionOf = (
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
