import type { Definition } from "../definition/define.js";
import { namingOf } from "../definition/fields.js";
import type { JsonObject } from "../kernel/json.js";
import { ownerParts } from "../kernel/owner.js";
import { unknownValue } from "../kernel/stand-ins.js";
import { type Mark, markOf, roomBeside } from "./ownership/mark.js";
import type { AccountSession, ResourceIdentity, Run } from "./run.js";
import { type Properties, propertiesIn } from "./state.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** A resource as the program or the state has it: resolved once per call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which people know objects of the kind, and its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The same field in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
  /** How the run identifies the resource; undefined for state so old that it names no owner. */
  readonly identity: ResourceIdentity | undefined;
  /** The mark of its objects, if marks are on. */
  readonly ownMark: Mark | undefined;
  /** The number of characters that the description field has left beside the mark. */
  readonly room: number;
}

/** Resolves the engine's values, once for all steps of a call. */
export const resourceIn = (context: Context, values: JsonObject): Resource => {
  const owned = ownerIn(context, values.owner);
  const { key: nameKey, wire: nameOnWire, ...naming } = namingOf(context.definition);
  const properties = propertiesIn(values);
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run identifies a resource by its part of its mark, whether or not marks are written. In the
 * first preview of a stack the owner is not known yet; the URN then distinguishes resources.
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

/** A resource with its account. */
export interface Declared extends Resource, AccountSession {
  /** The mark of its objects; undefined if marks are off. */
  readonly mark: Mark | undefined;
  /**
   * Whether an object created now would carry the mark: a long description leaves no room for it.
   */
  readonly isMarked: boolean;
}

/**
 * The resource in the account that its settings name.
 *
 * @param session for that account, if there is one
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
