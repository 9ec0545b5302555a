import type { Definition } from "../definition/define.js";
import { sameMeaning } from "../definition/meaning/same.js";
import { managedExtra } from "../definition/wire/extra.js";
import { managedFields, typedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import type { WireObject } from "../service/objects/collections.js";
import type { Settings } from "../service/settings/settings.js";
import { markOf, readMark } from "./ownership/mark.js";
import { objectTime } from "./ownership/object-time.js";
import { joinInputs, joinOutputs, type Properties, type Told } from "./properties.js";
import { sealed } from "./secrets.js";

/** The outputs kept in the state: what the program manages, and what is known besides. */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject =>
  joinOutputs(sealed(definition, properties));

/** The inputs kept in the state. */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(sealed(definition, properties));

/** Between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;
const latestMs = 1_000;

/**
 * A time of the service. Right after a creation or an update it is taken from the answer's `Date`,
 * which is a little later and has no fractions of a second: that is the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** The description without the mark; one that only looks as if it carried a mark stays whole. */
const descriptionOf = (
  { kind, fields }: Definition,
  { description }: WireObject,
  prior: Properties,
  { ownershipMark }: Settings,
): unknown => {
  const { description: field } = fields;
  const isWhole =
    field && description !== undefined && sameMeaning(field, description, prior.fields.description);
  const { mark, description: rest } = readMark(description);
  const own = prior.owner ? markOf(kind, prior.owner).stack : undefined;
  const isMarked = ownershipMark === "description" || mark?.stack === own;
  return isWhole || !isMarked ? description : rest;
};

const liveTold = (live: WireObject, { told }: Properties): Told => {
  const created = sameTime(live.created, told.created);
  const modified = sameTime(live.modified, told.modified);
  return { ...told, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};

/** A live object in a program's terms: what `prior` manages, or everything where it manages nothing. */
export const liveProperties = (
  definition: Definition,
  live: WireObject,
  prior: Properties,
  settings: Settings,
): Properties => {
  const description = descriptionOf(definition, live, prior, settings);
  const fields = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const managesAll = Object.keys(prior.fields).length === 0;
  const { extra, extraSecrets = [] } = prior;
  return {
    ...prior,
    fields: managesAll
      ? typedFields(definition.fields, fields)
      : managedFields(definition.fields, fields, prior.fields),
    ...(isObject(extra) ? { extra: managedExtra(live, extra, extraSecrets) } : {}),
    told: liveTold(live, prior),
  };
};
