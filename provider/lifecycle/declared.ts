import type { Definition } from "../definition/define.js";
import { sameMeaning } from "../definition/meaning/same.js";
import { naturalKey } from "../definition/references.js";
import { mergeDeep } from "../definition/wire/extra.js";
import { bodyOf, wireName } from "../definition/wire/wire.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import type { Collections, WireObject } from "../service/objects/collections.js";
import type { Settings } from "../service/settings/settings.js";
import type { Remembered } from "./decisions.js";
import {
  isCopy,
  isSameResource,
  type Mark,
  markFor,
  markOf,
  readMark,
  withMark,
} from "./ownership/mark.js";
import { type Properties, split } from "./properties.js";
import type { Run } from "./run.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** A resource as the program or the state has it, with all that the steps of one call need of it. */
export interface Declared extends Context {
  readonly properties: Properties;
  readonly settings: Settings;
  readonly service: Collections;
  /** Value of the member that tells objects of the kind apart for a person. */
  readonly name: unknown;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Undefined for state so old that it names no owner. */
  readonly resource: Remembered | undefined;
  /** What objects of the resource are marked with; undefined where marks are off. */
  readonly mark: Mark | undefined;
}

/** An object at the service, with its id. */
export type Found = WireObject & { readonly id: string };

/**
 * How this run remembers a resource: as its mark does, whether or not marks are written. In the first
 * preview of a stack the owner is not known yet; there the URN tells resources apart.
 */
export const remembered = (
  { definition: { kind }, run }: Context,
  { owner }: Properties,
): Remembered | undefined => {
  if (!owner) return undefined;
  if (owner === unknownValue) {
    const key = run.about?.();
    const label = `${kind} ${JSON.stringify(key?.split("::").at(-1))}`;
    return key === undefined ? undefined : { key, label, kind };
  }
  const name = owner.split("/").slice(3).join("/");
  return { key: markOf(kind, owner).resource, label: `${kind} ${JSON.stringify(name)}`, kind };
};

const markIn = (
  { kind, fields }: Definition,
  { owner }: Properties,
  settings: Settings,
): Mark | undefined =>
  owner && settings.ownershipMark === "description" && fields.description?.type === "text"
    ? markOf(kind, owner)
    : undefined;

/** Whether no two objects of a kind can have the same name. */
export const isUniqueIn = (definition: Definition): boolean => {
  const field = definition.fields[naturalKey(definition)];
  return field?.type === "text" && field.unique === true;
};

/** Resolves a bag of the engine once for all steps of a call. Connects to nothing yet. */
export const declaredIn = async (context: Context, bag: JsonObject): Promise<Declared> => {
  const { definition, run } = context;
  const properties = split(bag);
  const { settings, service } = await run.session(properties.profile);
  return {
    ...context,
    properties,
    settings,
    service,
    name: properties.fields[naturalKey(definition)],
    isUnique: isUniqueIn(definition),
    resource: remembered(context, properties),
    mark: markIn(definition, properties, settings),
  };
};

/** The resource as it was when its object was last written, in the account where it is now. */
export const declaredBefore = async (declared: Declared, olds: JsonObject): Promise<Declared> => {
  const { service, settings, properties } = declared;
  const before = await declaredIn(declared, { ...olds, profile: properties.profile });
  return { ...before, service, settings };
};

/** What the service is to hold of a resource. */
export interface Desired {
  readonly body: JsonObject;
  /** Whether the body carries the mark: a long description leaves no room for it. */
  readonly isMarked: boolean;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A description with the mark; without it where marks are off, or where there is no room for it. */
const marked = (
  { definition, mark, name }: Declared,
  serial: string,
  written: string | undefined,
): string | undefined => {
  const { description: field } = definition.fields;
  const max = field?.type === "text" ? (field.max ?? Number.POSITIVE_INFINITY) : 0;
  return mark ? withMark(written, markFor(mark, serial, name), max) : written;
};

/** Any serial: all are of one length. */
const anySerial = "00000000000";

/** Whether the object of a resource would carry its mark beside a description. */
export const hasRoom = (declared: Declared, description: string | undefined): boolean =>
  marked(declared, anySerial, description) !== description;

/**
 * The fields, the owner mark and the members of `extra`.
 *
 * @param serial of the object
 * @param human what a person wrote as the description, kept where the program gives none
 */
export const desiredBody = (declared: Declared, serial: string, human?: string): Desired => {
  const { definition, properties, settings } = declared;
  const written = textOf(properties.fields.description) ?? human;
  const description = marked(declared, serial, written);
  const body = bodyOf(definition, { ...properties.fields, description }, settings);
  const { extra } = properties;
  return {
    body: isObject(extra) ? mergeDeep(body, extra) : body,
    isMarked: description !== written,
  };
};

/** The mark that an object at the service carries. */
export const markOn = (wire: WireObject): Mark | undefined => readMark(wire.description).mark;

/**
 * The mark of an object; none where what looks like one is the end of what the program itself says.
 */
export const markBeside = (
  { definition, properties }: Declared,
  wire: WireObject,
): Mark | undefined => {
  const { description: field } = definition.fields;
  const { description } = properties.fields;
  const isText =
    field && description !== undefined && sameMeaning(field, wire.description, description);
  return isText ? undefined : markOn(wire);
};

/** What tells an object apart for a person. */
export const nameOnWire = (definition: Definition, wire: WireObject): unknown => {
  const name = naturalKey(definition);
  const field = definition.fields[name];
  return field ? wire[wireName(name, field)] : undefined;
};

/** Whether an object has the name of the resource, in whichever form the service gives it back. */
export const isNamed = ({ definition, name }: Declared, wire: WireObject): boolean => {
  const field = definition.fields[naturalKey(definition)];
  return field !== undefined && sameMeaning(field, nameOnWire(definition, wire), name);
};

/** The mark of an object that we made ourselves; undefined on objects of others and on copies of ours. */
export const ownMarkOn = (definition: Definition, wire: WireObject): Mark | undefined => {
  const mark = markOn(wire);
  return mark && !isCopy(mark, nameOnWire(definition, wire), wire.created) ? mark : undefined;
};

/** Whether an object carries the mark of this very resource and is no copy, as far as it tells itself. */
export const isOwn = ({ definition, mark }: Declared, wire: WireObject): boolean => {
  const there = ownMarkOn(definition, wire);
  return mark !== undefined && there !== undefined && isSameResource(mark, there);
};

/** Name and id of an object for messages, cut where a service sends something absurd. */
export const describe = (definition: Definition, { id, ...wire }: Found): string => {
  const name = nameOnWire(definition, wire);
  const shown =
    typeof name === "string" ? `${JSON.stringify([...name].slice(0, 80).join(""))} ` : "";
  return `${definition.noun} ${shown}(id ${String(id).slice(0, 80)})`;
};
