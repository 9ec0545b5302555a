import { managedFields } from "../definition/changes.js";
import type { Definition } from "../definition/define.js";
import { sameFieldsMeaning } from "../definition/meaning.js";
import { bodyOf, fieldsFromWire, mergeFields } from "../definition/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { type JsonObject, objectOf } from "../kernel/json.js";
import {
  environmentSecretsIn,
  missingText,
  seenSecrets,
  undisclosed,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import { isUnclear } from "../service/collections.js";
import type { WireObject } from "../service/lists.js";
import { type Settings, settingLabel } from "../service/settings.js";
import { hasRoom, markFor, markText, newSerial, readMark } from "./ownership/mark.js";
import { describeObject, type Found } from "./refusals.js";
import {
  changeSecrets,
  type Declared,
  type ObjectRecord,
  type Properties,
  type Resource,
} from "./resource.js";
import { readWholeObject, seeObject } from "./seen.js";

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
  /** Left out: a new serial. */
  readonly serial?: string | undefined;
  /** Its description; text written by a person is kept if the program gives none. */
  readonly description?: unknown;
}

/**
 * Returns the desired object: the fields and, if marks are enabled and there is room, the owner
 * mark.
 */
export const desiredObject = (declared: Declared, object: ObjectSoFar): DesiredObject => {
  const { definition, service, mark, name } = declared;
  const { fields } = dropUndisclosed(definition, declared.properties);
  const { description: human } = readMark(object.description);
  const given = fields.description;
  const written = typeof given === "string" && given !== "" ? given : human;
  const isMarked = mark !== undefined && hasRoom(declared, written);
  const serial = object.serial ?? newSerial(service.now());
  const suffix = isMarked ? markText(markFor(mark, serial, name)) : undefined;
  const description = written && suffix ? `${written} ${suffix}` : (suffix ?? written);
  return { fields: { ...fields, description }, isMarked, serial };
};

/** The kind of an object, and what its tenant's JSON depends on. */
export interface Target {
  readonly definition: Definition;
  readonly settings: Pick<Settings, "platformName" | "put">;
}

/** Returns the service's JSON of an object. */
export const desiredBody = (
  { definition, settings }: Target,
  { fields }: Pick<DesiredObject, "fields">,
): JsonObject => bodyOf(definition, fields, settings);

/**
 * Without the secrets that an import did not read: nobody knows them, so nothing can be said about
 * them.
 */
const dropUndisclosed = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, (secret) => (secret === undisclosed ? undefined : secret));

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
  const seen = seenSecrets(resource.run);
  const properties = withEnvironmentSecrets(resource.properties, (secret) => {
    const found = seen(secret);
    if (found) return found;
    throw new ConversationError(
      "SETTINGS_MISSING",
      `${missingText(secret)}. Nothing was changed. Set ${secret.name} where Pulumi runs, then try again.`,
    );
  });
  return { ...resource, properties };
};

/**
 * Returns a resource as it was last written. If the program no longer declares a version of a
 * secret, the value of that version is unknown, so its placeholder remains.
 */
const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  const seen = seenSecrets(now.run);
  const declared = new Set(environmentSecretsIn(now.properties).map(({ text }) => text));
  const properties = withEnvironmentSecrets(before.properties, (secret) =>
    declared.has(secret.text) ? seen(secret) : undefined,
  );
  return { ...before, properties };
};

/** The planned effect of a PUT on an object. */
export interface PutPlan {
  readonly live: Found;
  readonly body: JsonObject;
  /** The same in a program's terms. */
  readonly fields: JsonObject;
  readonly serial: string;
  readonly isMarked: boolean;
  /** Undeclared members that the PUT keeps. */
  readonly undeclared: readonly string[];
  /** Undeclared members that the service hides and that the PUT would erase. */
  readonly hidden: readonly string[];
  /**
   * Members that the program no longer declares but that remain because this tenant's PUT keeps
   * omitted members.
   */
  readonly staying: readonly string[];
}

/** What the program wants of an object, and what it wanted last time, in its own terms. */
interface Wanted {
  readonly desired: Pick<Properties, "fields">;
  readonly prior: JsonObject;
}

/**
 * Returns the body of a PUT that gives a live object the desired content, and what the PUT does to
 * everything else.
 */
export const writtenOver = (
  { definition, settings }: Target,
  wire: WireObject,
  { desired, prior }: Wanted,
) => {
  const { fields, rule } = definition;
  const { modified } = wire;
  const live = fieldsFromWire(fields, wire, settings);
  const sides = { live, desired: desired.fields, prior };
  const { merged, ...rest } = mergeFields({
    ...{ fields, rule, ...sides },
    keeps: settings.put === "keep",
  });
  const body = desiredBody({ definition, settings }, { ...desired, fields: merged });
  // A service may refuse to overwrite a later change than this one (public reference).
  const fresh = typeof modified === "string" ? { ...body, modified } : body;
  return { body: fresh, fields: merged, ...rest };
};

/**
 * Plans the new content of an object. Keeps members that the program has never declared, including
 * a description that a person wrote, unless no field defines them.
 *
 * @param before the resource as the program had it when the object was last written; undefined if
 * it was never written
 */
export const planPut = (declared: Declared, live: Found, before?: Declared): PutPlan => {
  const { settings } = declared;
  // If the program wrote the last description, no part of it is a person's.
  const isPrograms = before?.properties.fields.description !== undefined;
  const description = isPrograms ? undefined : live.description;
  const soFar = { serial: findSerial(before ?? declared, live), description };
  const last = before && lastWritten(before, declared);
  const desired = desiredObject(asWritten(declared), soFar);
  const { serial, isMarked } = desired;
  const prior = last && desiredObject(last, { serial });
  const written = writtenOver(declared, live, { desired, prior: prior?.fields ?? {} });
  const { body } = written;
  const isStaying = (wire: string): boolean =>
    live[wire] !== undefined && live[wire] !== null && !Object.hasOwn(body, wire);
  const staying =
    prior && settings.put === "keep"
      ? Object.keys(desiredBody(declared, prior)).filter(isStaying)
      : [];
  return { ...written, live, serial, isMarked, staying };
};

/** The serial by which the state, or otherwise the object itself, identifies it. */
const findSerial = (declared: Declared, live: Found): string | undefined => {
  const { serial } = declared.properties.record;
  if (serial) return serial;
  const { isOwn, mark } = seeObject(declared, live.id, live);
  return isOwn ? mark?.serial : undefined;
};

/**
 * Refuses a PUT that would erase hidden members, unless the program declares them or allows erasing
 * them.
 */
export const assertNothingErased = (
  { definition, properties, settings }: Declared,
  plan: PutPlan,
): void => {
  const { hidden, live } = plan;
  if (hidden.length === 0 || properties.eraseHidden) return;
  const [one] = hidden;
  const [members, them, they] =
    hidden.length === 1 ? ["a member", "it", "it"] : ["members", "them", "they"];
  throw new ConversationError(
    "HIDDEN_MEMBER",
    `the ${describeObject(definition, live)} has ${members} that the program does not declare ` +
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
  const { definition, run, settings } = declared;
  const { live, serial, isMarked, undeclared, staying } = plan;
  assertNothingErased(declared, plan);
  const modified = await sendPut(declared, plan);
  if (staying.length > 0) {
    run.notify?.(
      `the ${describeObject(definition, live)} still has ${staying.join(", ")}, which the program no longer declares: ` +
        `this tenant's PUT keeps omitted members, according to ${settingLabel("put", settings.profile)}. Remove ${staying.length === 1 ? "it" : "them"} by hand in the service.`,
      "warning",
    );
  }
  return objectOf([
    ["serial", isMarked ? serial : undefined],
    ["created", typeof live.created === "string" ? live.created : undefined],
    ["modified", modified],
    ["undeclared", undeclared.length > 0 ? undeclared : undefined],
  ]) as ObjectRecord;
};

/**
 * Sends the PUT and returns when the object was changed. If the answer did not come from the
 * service, the content of the object shows whether it was written.
 */
const sendPut = async (
  declared: Declared,
  { live, body, fields }: PutPlan,
): Promise<string | undefined> => {
  const { definition, service } = declared;
  try {
    return (await service.replace(definition, live.id, body)).modified;
  } catch (error) {
    if (!isUnclear(error)) throw error;
    const now = await readWholeObject(declared, live.id);
    if (!now || !holdsFields(declared, now, fields)) throw error;
    return typeof now.modified === "string" ? now.modified : undefined;
  }
};
