import { sameFieldsMeaning } from "../definition/meaning/same.js";
import { managedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import type { JsonObject } from "../kernel/json.js";
import type { WireObject } from "../service/objects/collections.js";
import type { Mark } from "./ownership/mark.js";
import { type Resource, resourceIn } from "./resource.js";
import type { AccountSession } from "./run.js";

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
