import type { Definition } from "../definition/define.js";
import { namingOf } from "../definition/references.js";
import type { JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import { ownerParts } from "../stacks/owner.js";
import { type Mark, markOf, roomBeside } from "./ownership/mark.js";
import type { ResourceIdentity } from "./run/decisions.js";
import type { Run } from "./run.js";
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
 * preview of a stack the owner is not known yet; there the URN tells resources apart.
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
