import { managedFields } from "../definition/changes.js";
import { secretTexts, withoutPlaceholders } from "../definition/fields.js";
import { sameFieldsMeaning } from "../definition/meaning.js";
import { bodyOf, fieldsFromWire, isMissing, writtenOver } from "../definition/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { filledText, isObject, type JsonObject, withoutUndefined } from "../kernel/json.js";
import { missingText, seenSecrets, withEnvironmentSecrets } from "../kernel/pulumi.js";
import { isUnclear } from "../service/collections.js";
import type { WireObject } from "../service/lists.js";
import { settingLabel } from "../service/settings.js";
import { newSerial, readMark, readWholeObject, seeObject } from "./ownership.js";
import { describeObject, type Found } from "./refusals.js";
import {
  type Declared,
  hasRoom,
  markFor,
  markText,
  type ObjectRecord,
  type Resource,
} from "./resource.js";

/** The intended content of a resource's object in the service. */
interface DesiredObject {
  /** In a program's terms, with the mark at the end of the description. */
  readonly fields: JsonObject;
  /**
   * Whether the object carries the mark: marks may be off, or a long description may leave no room.
   */
  readonly isMarked: boolean;
  /** The serial of the object, whether or not it carries it. */
  readonly serial: string;
}

/** What else is known about the object. */
interface ObjectSoFar {
  readonly serial: string;
  /** Its description; text written by a person is kept if the program gives none. */
  readonly description?: unknown;
}

/**
 * Returns the desired object: the fields and, if marks are enabled and there is room, the owner
 * mark. Omits the secrets that an import did not read: nobody knows them.
 */
export const desiredObject = (
  declared: Declared,
  { serial, description: former }: ObjectSoFar,
): DesiredObject => {
  const { definition, mark, name, properties } = declared;
  const fields = withoutPlaceholders(definition.fields, properties.fields);
  const given = filledText(fields.description) ?? readMark(former).description;
  const isMarked = hasRoom(declared, given);
  const suffix = mark && isMarked ? markText(markFor(mark, serial, name)) : undefined;
  const description = given && suffix ? `${given} ${suffix}` : (suffix ?? given);
  return { fields: { ...fields, description }, isMarked, serial };
};

/** Returns the service's JSON of an object. */
export const desiredBody = (
  { definition, settings }: Pick<Declared, "definition" | "settings">,
  fields: JsonObject,
): JsonObject => bodyOf(definition, fields, settings);

/**
 * Whether an object in the service has these values. Ignores values that the service does not show.
 */
export const holdsFields = (
  { definition: { fields }, settings }: Declared,
  wire: WireObject,
  wanted: JsonObject,
): boolean => {
  const live = managedFields(fields, fieldsFromWire(fields, wire, settings), wanted);
  return sameFieldsMeaning(fields, live, wanted);
};

/**
 * Returns a resource as the service receives it, with the secrets from the environment filled in.
 *
 * @throws ConversationError `SETTINGS_MISSING`
 */
export const asWritten = <R extends Resource>(resource: R): R => {
  if (resource.environmentSecrets.length === 0) return resource;
  const seen = seenSecrets(resource.run);
  const { properties } = resource;
  const fields = withEnvironmentSecrets(properties.fields, (secret) => {
    const found = seen(secret);
    if (found) return found;
    throw new ConversationError(
      "SETTINGS_MISSING",
      `${missingText(secret)}. Nothing was changed. Set ${secret.name} where Pulumi runs, then try again.`,
    );
  });
  return { ...resource, properties: { ...properties, fields } };
};

/**
 * Returns a resource as it was last written. If the program no longer declares a version of a
 * secret, the value of that version is unknown, so its placeholder remains.
 */
const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  if (before.environmentSecrets.length === 0) return before;
  const seen = seenSecrets(now.run);
  const { properties } = before;
  const declared = new Set(now.environmentSecrets.map(({ text }) => text));
  const fields = withEnvironmentSecrets(properties.fields, (secret) =>
    declared.has(secret.text) ? seen(secret) : undefined,
  );
  return { ...before, properties: { ...properties, fields } };
};

export interface PutPlan {
  readonly live: Found;
  readonly body: JsonObject;
  /** The same in a program's terms. */
  readonly fields: JsonObject;
  readonly serial: string;
  readonly isMarked: boolean;
  /** What a program wrote last, in its terms; empty if it was never written. */
  readonly prior: JsonObject;
  /** Undeclared members that the PUT keeps. */
  readonly undeclared: readonly string[];
  /** Undeclared members that the service hides and that the PUT would erase. */
  readonly hidden: readonly string[];
}

/**
 * Plans the new content of an object. Keeps members that the program has never declared, including
 * a description that a person wrote, unless no field defines them.
 *
 * @param before the resource as the program had it when the object was last written; undefined if
 * it was never written
 */
export const planPut = (declared: Declared, live: Found, before?: Declared): PutPlan => {
  const { definition, settings } = declared;
  // If the program wrote the last description, no part of it is a person's.
  const isPrograms = before?.properties.fields.description !== undefined;
  const description = isPrograms ? undefined : live.description;
  const serial = findSerial(before ?? declared, live);
  const [now, former] = [asWritten(declared), before && lastWritten(before, declared)];
  const last = former && desiredObject(former, { serial });
  const { fields, isMarked } = desiredObject(now, { serial, description });
  const prior = last?.fields ?? {};
  const written = writtenOver(definition, settings, { live, desired: fields, prior });
  return { ...written, live, serial, isMarked, prior };
};

/** The serial by which the state, or otherwise the object itself, identifies it; else a new one. */
const findSerial = (declared: Declared, live: Found): string => {
  const { serial } = declared.properties.record;
  if (serial) return serial;
  const { isOriginal, mark } = seeObject(declared, live.id, live);
  return (isOriginal && mark?.serial) || newSerial(declared.service);
};

/**
 * Refuses a PUT that would erase hidden members, unless the program declares them or allows erasing
 * them.
 */
export const assertNothingErased = (declared: Declared, { hidden, live }: PutPlan): void => {
  const { properties, settings } = declared;
  if (hidden.length === 0 || properties.eraseHidden) return;
  const [one] = hidden;
  const [members, them, they] =
    hidden.length === 1 ? ["a member", "it", "it"] : ["members", "them", "they"];
  throw new ConversationError(
    "HIDDEN_MEMBER",
    `the ${describeObject(declared, live)} has ${members} that the program does not declare ` +
      `and that the service does not show: ${hidden.join(", ")}. A PUT would erase ${them}. Nothing was changed. ` +
      `Declare ${hidden.length === 1 ? `${one} with its value` : "them with their values"}, or set eraseHidden: true if ${they} may be erased` +
      // Then they are in a part of the object that the program declares.
      (settings.put === "keep"
        ? "."
        : `, or set ${settingLabel("put", settings.profile)} to "keep" if this tenant's PUT keeps omitted members.`),
  );
};

/** Writes the object in one PUT and returns what is known about it afterward. */
export const putInPlace = async (declared: Declared, plan: PutPlan): Promise<ObjectRecord> => {
  const { live, serial, isMarked, undeclared } = plan;
  assertNothingErased(declared, plan);
  return withoutUndefined({
    serial: isMarked ? serial : undefined,
    created: filledText(live.created),
    modified: await sendPut(declared, plan),
    undeclared: undeclared.length > 0 ? undeclared : undefined,
  });
};

/**
 * Sends the PUT and returns when the object was changed. If the answer did not come from the
 * service, the object shows whether it was written.
 */
const sendPut = async (declared: Declared, plan: PutPlan): Promise<string | undefined> => {
  const { definition, service } = declared;
  const { live, body } = plan;
  try {
    return (await service.replace(definition, live.id, body)).modified;
  } catch (error) {
    if (!isUnclear(error)) throw error;
    const now = await readWholeObject(declared, live.id);
    if (!now || !isWritten(declared, plan, now)) throw error;
    return filledText(now.modified);
  }
};

/**
 * Whether an object shows what a PUT wrote, and nothing that it removed. Of a secret, only the time
 * of the change shows it.
 */
const isWritten = (declared: Declared, plan: PutPlan, now: Found): boolean => {
  const { definition, settings } = declared;
  const { live, fields, prior } = plan;
  if (!holdsFields(declared, now, fields)) return false;
  const known = new Set(secretTexts(definition.fields, prior));
  const changesSecrets = secretTexts(definition.fields, fields).some((text) => !known.has(text));
  if (changesSecrets && now.modified === live.modified) return false;
  const shown = fieldsFromWire(definition.fields, now, settings);
  return settings.put === "keep" || !hasMore(shown, fields);
};

/** Whether a value has members that another one lacks. Items of lists are not compared. */
const hasMore = (value: unknown, other: unknown): boolean => {
  if (!isObject(value))
    return Array.isArray(value)
      ? value.length > 0 && !other
      : !isMissing(value) && isMissing(other);
  const others = isObject(other) ? other : {};
  return Object.entries(value).some(([name, member]) => hasMore(member, others[name]));
};
