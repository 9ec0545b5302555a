import type { Definition } from "../definition/define.js";
import { naturalKey } from "../definition/references.js";
import type { JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import type { WireObject } from "../service/objects/collections.js";
import { ownerParts } from "../stacks/owner.js";
import type { ResourceIdentity } from "./decisions.js";
import { type Mark, markOf, roomBeside } from "./ownership/mark.js";
import type { AccountSession, Run } from "./run.js";
import { type Properties, propertiesIn } from "./state/properties.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** A resource as the program or the state has it: resolved once for each call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field that tells objects of the kind apart for a person, and its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** How the run knows the resource; undefined for state so old that it names no owner. */
  readonly identity: ResourceIdentity | undefined;
  /** What its objects are marked with, where marks are on. */
  readonly ownMark: Mark | undefined;
  /** How many characters the field of the description has beside the mark. */
  readonly room: number;
}

/** A resource with the account that it is in. */
export interface Declared extends Resource, AccountSession {
  /** What its objects are marked with; undefined where marks are off. */
  readonly mark: Mark | undefined;
  /** Whether an object made now would carry the mark: a long description leaves no room for it. */
  readonly isMarked: boolean;
}

/** An object at the service, with its id. */
export type Found = WireObject & { readonly id: string };

/** Whether no two objects of a kind can have the same name. */
export const isUniqueIn = (definition: Definition): boolean => {
  const field = definition.fields[naturalKey(definition)];
  return field?.type === "text" && field.unique === true;
};

/** Resolves what the engine hands over, once for all steps of a call. */
export const resourceIn = (context: Context, values: JsonObject): Resource => {
  const { definition } = context;
  const properties = propertiesIn(values);
  const nameKey = naturalKey(definition);
  return {
    ...context,
    properties,
    nameKey,
    name: properties.fields[nameKey],
    isUnique: isUniqueIn(definition),
    ...ownerIn(context, properties.owner),
  };
};

/**
 * The run knows a resource by its part of its mark, whether or not marks are written. In the first
 * preview of a stack the owner is not known yet; there the URN tells resources apart.
 */
const ownerIn = (
  { definition: { kind, fields }, run }: Context,
  owner: string | undefined,
): Pick<Resource, "identity" | "ownMark" | "room"> => {
  if (owner === undefined) return { identity: undefined, ownMark: undefined, room: -1 };
  const urn = owner === unknownValue ? run.urn?.() : undefined;
  const name = urn ? urn.split("::").at(-1) : ownerParts(owner).name;
  const { description: field } = fields;
  const ownMark = markOf(kind, owner);
  const room = field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  const key = owner === unknownValue ? urn : ownMark.resource;
  const label = `${kind} ${JSON.stringify(name)}`;
  return { identity: key === undefined ? key : { key, label, kind }, ownMark, room };
};

/** The resource in the account that its settings name. */
export const connected = async (resource: Resource): Promise<Declared> =>
  inAccount(resource, await resource.run.session(resource.properties.profile));

const inAccount = (resource: Resource, { settings, service }: AccountSession): Declared => {
  const { definition, ownMark, properties } = resource;
  const { description: field } = definition.fields;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const declared = { ...resource, settings, service, mark: isOn ? ownMark : undefined };
  const { description } = properties.fields;
  return {
    ...declared,
    isMarked: hasRoom(declared, typeof description === "string" ? description : undefined),
  };
};

/** Whether a description leaves room for the mark, where there is one. */
export const hasRoom = (
  { mark, room }: Pick<Declared, "mark" | "room">,
  description: string | undefined,
): boolean => mark !== undefined && (description ? description.length + 1 : 0) <= room;

/** The resource as it was when its object was last written, in the account where it is now. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Declared =>
  inAccount(resourceIn(declared, { ...olds, profile: declared.properties.profile }), declared);
