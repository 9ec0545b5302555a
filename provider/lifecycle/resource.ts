import { managedFields } from "../definition/changes.js";
import type { Definition } from "../definition/define.js";
import { sameFieldsMeaning } from "../definition/meaning.js";
import { namingOf } from "../definition/references.js";
import { fieldsFromWire } from "../definition/wire.js";
import type { JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/stand-ins.js";
import { ownerParts } from "../pulumi-cli/owner.js";
import type { WireObject } from "../service/collections.js";
import { type Mark, markOf, roomBeside } from "./ownership/mark.js";
import type { AccountSession, ResourceIdentity, Run } from "./run.js";
import { type Properties, propertiesIn } from "./state.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** A resource as the program or the state has it: resolved once for each call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which a person knows objects of the kind, and its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The same field in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is made from the logical name where a program leaves it out. */
  readonly isAutomatic: boolean;
  /** How the run knows the resource; undefined for state so old that it names no owner. */
  readonly identity: ResourceIdentity | undefined;
  /** What its objects are marked with, where marks are on. */
  readonly ownMark: Mark | undefined;
  /** How many characters the field of the description has beside the mark. */
  readonly room: number;
}

/** Resolves what the engine hands over, once for all steps of a call. */
export const resourceIn = (context: Context, values: JsonObject): Resource => {
  const owned = ownerIn(context, values.owner);
  const { key: nameKey, wire: nameOnWire, ...naming } = namingOf(context.definition);
  const properties = propertiesIn(values);
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run knows a resource by its part of its mark, whether or not marks are written. In the first
 * preview of a stack the owner is not known yet; there the URN distinguishes resources.
 */
const ownerIn = (
  { definition: { kind, fields }, run }: Context,
  owner: unknown,
): Pick<Resource, "identity" | "ownMark" | "room"> => {
  if (typeof owner !== "string" || owner === "")
    return { identity: undefined, ownMark: undefined, room: -1 };
  const urn = owner === unknownValue ? run.urn?.() : undefined;
  const name = urn ? urn.split("::").at(-1) : ownerParts(owner).name;
  const { description: field } = fields;
  const ownMark = markOf(kind, owner);
  const room = field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  const key = owner === unknownValue ? urn : ownMark.resource;
  const label = `${kind} ${JSON.stringify(name)}`;
  return { identity: key === undefined ? key : { key, label, kind }, ownMark, room };
};

/** A resource with the account that it is in. */
export interface Declared extends Resource, AccountSession {
  /** What its objects are marked with; undefined where marks are off. */
  readonly mark: Mark | undefined;
  /** Whether an object made now would carry the mark: a long description leaves no room for it. */
  readonly isMarked: boolean;
}

/** An object at the service, with its id. */
export type Found = WireObject & { readonly id: string };

/**
 * The resource in the account that its settings name.
 *
 * @param session with that account, where there is one
 */
export const connected = async (
  resource: Resource,
  session?: AccountSession,
): Promise<Declared> => {
  const { definition, ownMark, room, properties, run } = resource;
  const { settings, service } = session ?? (await run.session(properties.profile));
  const { description: field } = definition.fields;
  const { description } = properties.fields;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const mark = isOn ? ownMark : undefined;
  const beside = typeof description === "string" && description ? description.length + 1 : 0;
  return { ...resource, settings, service, mark, isMarked: mark !== undefined && beside <= room };
};

/** The resource as it was when its object was last written, in the account where it is now. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> =>
  connected(resourceIn(declared, { ...olds, profile: declared.properties.profile }), declared);

/** Whether an object of the service holds these values, as far as the service shows it. */
export const holdsFields = (
  { definition: { fields }, settings }: Declared,
  wire: WireObject,
  wanted: JsonObject,
): boolean => {
  const live = managedFields(fields, fieldsFromWire(fields, wire, settings), wanted);
  return sameFieldsMeaning(fields, live, wanted);
};

/**
 * The object itself, to be written over: a list may show less of it, and may have been asked for long
 * ago. Undefined where it is gone.
 */
export const wholeObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<Found | undefined> => {
  const wire = await service.read(definition, id);
  return wire && { ...wire, id };
};
