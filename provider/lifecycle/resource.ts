import type { Definition } from "../definition/define.js";
import { type ChangeSecret, changeFieldSecrets } from "../definition/fields.js";
import type { Naming } from "../definition/kinds.js";
import {
  filledText,
  filledTexts,
  type JsonObject,
  objectOf,
  withoutUndefined,
} from "../kernel/json.js";
import { ownerParts, readableName } from "../kernel/owner.js";
import { secretSignature, unknownValue } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import { type Mark, markOf, objectTime, roomBeside } from "./ownership/mark.js";
import type { AccountSession, ResourceIdentity, Run } from "./run.js";

// A resource: the engine's values, split into their parts; resolved, for the steps of a call; and
// joined again, for the state.

/** A resource's values: the fields of its kind, and the options that every resource has. */
export interface Properties {
  readonly fields: JsonObject;
  /** The object's owner: `<project>/<stack>/<random>/<logical name>`. */
  readonly owner?: string;
  /**
   * The resource's logical name, after the types of its parents, as at the end of `owner`. Only the
   * check of a dynamic resource receives it, because the owner may be unknown then.
   */
  readonly logicalName?: string;
  /**
   * The existing object to adopt: `true` for the object with the resource's name, or the object's
   * ID.
   */
  readonly adopt?: true | string;
  /** Paths to field values that the program marks as secret although their definition does not. */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings profile. */
  readonly profile?: string;
  /**
   * Whether an update may erase members that the service hides and the program does not declare.
   */
  readonly eraseHidden?: true;
  /** What is known about the object besides its declared values; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state stores about an object besides the program's declaration. */
export interface ObjectRecord {
  /** Part of the object's mark that distinguishes the object from its copies. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written but that the program does not declare. */
  readonly undeclared?: readonly string[];
}

/**
 * Splits the engine's values into their parts. Omits `id`, the engine's `__provider`, and
 * `autoName` and `imported`, which only the check uses.
 */
export const propertiesIn = (values: JsonObject): Properties => {
  const { owner, adopt, markedSecrets, profile, eraseHidden, ...others } = values;
  const { serial, created, modified, undeclared, ...more } = others;
  const { __provider, id, autoName, imported, logicalName, ...fields } = more;
  const record = withoutUndefined({
    serial: filledText(serial),
    created: filledText(created),
    modified: filledText(modified),
    undeclared: filledTexts(undeclared),
  });
  return withoutUndefined({
    fields: objectOf(Object.entries(fields)),
    owner: filledText(owner),
    logicalName: filledText(logicalName),
    adopt: adopt === true ? adopt : filledText(adopt),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};

/** The context of one kind in one run, shared by all resources of the kind. */
export interface Context {
  readonly definition: Definition;
  readonly naming: Naming;
  readonly run: Run;
}

/** A resource in the program or the state, resolved once per call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which people identify objects of the kind; `name` is its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The name of the field `nameKey` in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
  /**
   * How the run identifies the resource; undefined for old state that does not specify an owner.
   */
  readonly identity: ResourceIdentity | undefined;
  /** The mark of the resource's objects, whether or not marks are enabled. */
  readonly ownMark: Mark | undefined;
  /**
   * Number of characters that fit into the description field next to the mark; negative if none.
   */
  readonly room: number;
}

/** Resolves the engine's values to a resource, which all steps of a call use. */
export const resourceIn = (context: Context, properties: Properties): Resource => {
  const owned = ownerIn(context, properties);
  const { key: nameKey, wire: nameOnWire, ...naming } = context.naming;
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run identifies a resource by its part of its mark, whether or not marks are written. In the
 * first preview of a stack the owner is not known yet; the logical name then distinguishes
 * resources.
 */
const ownerIn = (
  { definition: { kind, fields } }: Context,
  { owner, logicalName }: Properties,
): Pick<Resource, "identity" | "ownMark" | "room"> => {
  if (owner === undefined) return { identity: undefined, ownMark: undefined, room: -1 };
  const isKnown = owner !== unknownValue;
  const place = isKnown ? ownerParts(owner).name : logicalName;
  const { description: field } = fields;
  const ownMark = markOf(kind, owner);
  const room = field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  if (place === undefined) return { identity: undefined, ownMark, room };
  const key = isKnown ? ownMark.resource : `${kind} ${place}`;
  const label = `${kind} ${readableName(place)}`;
  return { identity: { key, place, label, kind }, ownMark, room };
};

/** A resource with its account. */
export interface Declared extends Resource, AccountSession {
  /** The mark of the resource's objects; undefined if marks are disabled. */
  readonly mark: Mark | undefined;
  /**
   * Whether an object created now would carry the mark. A long description may leave no room for
   * it.
   */
  readonly isMarked: boolean;
}

/**
 * Returns the resource together with the account that its settings specify.
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

/** Returns the resource as it was when its object was last written, but in its current account. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> => {
  const last = propertiesIn({ ...olds, profile: declared.properties.profile });
  return connected(resourceIn(declared, last), declared);
};

/** Returns a resource's inputs as one object; secrets stay unchanged. */
export const joinInputs = (properties: Properties): JsonObject => {
  const { fields, record: _, logicalName: __, ...options } = properties;
  return objectOf([...Object.entries(fields), ...Object.entries(options)]);
};

/**
 * Returns the inputs for the state. Every secret is in the engine's own form, so that the state
 * encrypts it even if a program forgot `pulumi.secret`.
 */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(changeSecrets(definition, properties, wrap));

/**
 * Returns the outputs for the state: what the program manages, and what else is known about the
 * object. `adopt` and `eraseHidden` concern a single write and are not stored.
 */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  const { record } = kept;
  return objectOf([...Object.entries(stateInputs(definition, kept)), ...Object.entries(record)]);
};

const wrap = (value: unknown): JsonObject => ({ ...secretSignature, value });

/** Returns the properties with every secret in their fields replaced. */
export const changeSecrets = (
  { fields }: Definition,
  properties: Properties,
  change: ChangeSecret,
): Properties => ({
  ...properties,
  fields: changeFieldSecrets(fields, properties.fields, change),
});

/**
 * Returns the properties without secrets. A masked value cannot be compared with the intended one,
 * so after a failed write the state must not claim that the value was written.
 */
export const dropSecrets = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, () => undefined);

/** Returns what is known about a newly created object, from the response or from a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** Returns what is known about an object, with the current times from the service. */
export const liveRecord = (live: WireObject, record: ObjectRecord): ObjectRecord => {
  const created = sameTime(live.created, record.created);
  const modified = sameTime(live.modified, record.modified);
  return { ...record, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};

/**
 * A time of the service. Right after a creation or an update it comes from the answer's `Date`,
 * which is slightly later and has no fractions of a second: that counts as the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** Maximum time between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;

const latestMs = 1_000;
