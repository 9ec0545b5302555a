import { managedFields } from "../definition/changes.js";
import type { Definition } from "../definition/define.js";
import { mergeDeep } from "../definition/extra.js";
import { sameFieldsMeaning } from "../definition/meaning.js";
import { bodyOf, fieldsFromWire } from "../definition/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import {
  environmentSecretsIn,
  missingText,
  seenSecrets,
  undisclosed,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import type { Settings } from "../service/setting-table.js";
import { hasRoom, markFor, markText, newSerial, readMark } from "./ownership/mark.js";
import type { Properties } from "./properties.js";
import type { Declared, Resource, RunEnvironment } from "./run.js";
import { changeSecrets } from "./state.js";

/** The intended content of a resource's object in the service. */
interface DesiredObject extends Pick<Properties, "extra"> {
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
 * Returns the desired object: the fields, the members in `extra` and, if marks are enabled and there
 * is room, the owner mark.
 */
export const desiredObject = (declared: Declared, object: ObjectSoFar): DesiredObject => {
  const { definition, service, mark, name } = declared;
  const { fields, extra } = dropUndisclosed(definition, declared.properties);
  const { description: human } = readMark(object.description);
  const given = fields.description;
  const written = typeof given === "string" && given !== "" ? given : human;
  const isMarked = mark !== undefined && hasRoom(declared, written);
  const serial = object.serial ?? newSerial(service.now());
  const suffix = isMarked ? markText(markFor(mark, serial, name)) : undefined;
  const description = written && suffix ? `${written} ${suffix}` : (suffix ?? written);
  return { fields: { ...fields, description }, ...(extra ? { extra } : {}), isMarked, serial };
};

/** The kind of an object, and what its tenant's JSON depends on. */
export interface Target {
  readonly definition: Definition;
  readonly settings: Pick<Settings, "platformName" | "put">;
}

/** Returns the service's JSON of an object. The members in `extra` are sent as declared. */
export const desiredBody = (
  { definition, settings }: Target,
  { fields, extra }: Pick<DesiredObject, "fields" | "extra">,
): JsonObject => {
  const body = bodyOf(definition, fields, settings);
  return isObject(extra) ? mergeDeep(body, extra) : body;
};

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
export const asWritten = <R extends Resource>(resource: R): R => ({
  ...resource,
  properties: writtenSecrets(resource.properties, resource.run),
});

/**
 * Returns values as the service receives them, with the secrets from the environment filled in.
 *
 * @throws ConversationError `SETTINGS_MISSING` if a variable is not set
 */
const writtenSecrets = <T>(value: T, run: Pick<RunEnvironment, "environment">): T => {
  const seen = seenSecrets(run);
  return withEnvironmentSecrets(value, (secret) => {
    const found = seen(secret);
    if (found) return found;
    throw new ConversationError(
      "SETTINGS_MISSING",
      `${missingText(secret)}. Nothing was changed. Set ${secret.name} where Pulumi runs, then try again.`,
    );
  });
};

/**
 * Returns a resource as it was last written. If the program no longer declares a version of a
 * secret, the value of that version is unknown, so its placeholder remains.
 */
export const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  const seen = seenSecrets(now.run);
  const declared = new Set(environmentSecretsIn(now.properties).map(({ text }) => text));
  const properties = withEnvironmentSecrets(before.properties, (secret) =>
    declared.has(secret.text) ? seen(secret) : undefined,
  );
  return { ...before, properties };
};
