import type { Definition } from "../definition/define.js";
import { managedExtra, mergeDeep } from "../definition/extra.js";
import { type JsonObject, objectOf } from "../definition/json.js";
import { managedFields, typedFields } from "../definition/managed.js";
import { naturalKey } from "../definition/references.js";
import { bodyOf, fieldsFromWire, wireName } from "../definition/wire.js";
import type { WireObject } from "../service/collections.js";
import type { Settings } from "../service/settings.js";
import { type Mark, markOf, readMark, withMark } from "./mark.js";
import { join, outputNames, type Properties } from "./properties.js";
import type { Run } from "./run.js";
import { sealFields } from "./secrets.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** How this run remembers a resource: as its mark does, whether or not marks are written. */
export const keyOf = (definition: Definition, owner: string): string =>
  markOf(definition.kind, owner).resource;

/** The mark that an object of these properties carries; undefined where marks are off. */
export const ownMark = (
  definition: Definition,
  { owner }: Properties,
  settings: Settings,
): Mark | undefined =>
  owner &&
  settings.ownershipMark === "description" &&
  definition.fields.description?.type === "text"
    ? markOf(definition.kind, owner)
    : undefined;

/** The mark that an object at the service carries. */
export const markOn = (wire: WireObject): Mark | undefined => readMark(wire.description).mark;

/** What the service is to hold: the fields, the owner mark, and the members of `extra`. */
export const desiredBody = (
  definition: Definition,
  properties: Properties,
  settings: Settings,
): JsonObject => {
  const mark = ownMark(definition, properties, settings);
  const { description: field } = definition.fields;
  const max = field?.type === "text" ? (field.max ?? Number.POSITIVE_INFINITY) : 0;
  const written = properties.fields.description;
  const description = mark
    ? withMark(typeof written === "string" ? written : undefined, mark, max)
    : written;
  const body = bodyOf(definition, { ...properties.fields, description }, settings);
  return properties.extra ? mergeDeep(body, properties.extra) : body;
};

/** A live object in a program's terms: what `prior` manages, or everything where it manages nothing. */
export const liveProperties = (
  definition: Definition,
  live: WireObject,
  prior: Properties,
  settings: Settings,
): Properties => {
  const { description } = readMark(live.description);
  const fields = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const managesAll = Object.keys(prior.fields).length === 0;
  // The mark makes the description ours even where the program gives none.
  const isDescribed = typeof fields.description === "string" && fields.description !== "";
  const managed =
    isDescribed && ownMark(definition, prior, settings)
      ? { description: "", ...prior.fields }
      : prior.fields;
  return {
    ...prior,
    fields: managesAll
      ? typedFields(definition.fields, fields)
      : managedFields(definition.fields, fields, managed),
    ...(prior.extra ? { extra: managedExtra(live, prior.extra) } : {}),
  };
};

/** The outputs kept in the state: what the program manages, and what the service told besides. */
export const outputsOf = (
  definition: Definition,
  properties: Properties,
  told: WireObject,
): JsonObject => ({
  ...join({ ...properties, fields: sealFields(definition.fields, properties.fields) }),
  ...objectOf(
    outputNames.map((name) => [name, typeof told[name] === "string" ? told[name] : undefined]),
  ),
});

/** What tells an object apart for a person. */
export const nameOnWire = (definition: Definition, wire: WireObject): unknown => {
  const name = naturalKey(definition);
  const field = definition.fields[name];
  return field ? wire[wireName(name, field)] : undefined;
};
