import {
  filledText,
  filledTexts,
  isObject,
  type JsonObject,
  objectOf,
  withoutUndefined,
} from "../kernel/json.js";
import { environmentSecretPaths, unknownValue } from "../kernel/stand-ins.js";

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
  /**
   * Additional members of the service's JSON or, in a preview, the engine's placeholder for unknown
   * values.
   */
  readonly extra?: JsonObject | typeof unknownValue;
  /**
   * Paths to secret values in `extra`: values that the program marks as secret, and values that
   * contain a secret from the environment.
   */
  readonly extraSecrets?: readonly string[];
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
  const { owner, adopt, extra, extraSecrets, markedSecrets, profile, eraseHidden, ...others } =
    values;
  const { serial, created, modified, undeclared, ...more } = others;
  const { __provider, id, autoName, imported, logicalName, ...fields } = more;
  const record = withoutUndefined({
    serial: filledText(serial),
    created: filledText(created),
    modified: filledText(modified),
    undeclared: filledTexts(undeclared),
  });
  const known = isObject(extra) || extra === unknownValue ? extra : undefined;
  // A program cannot know what an output in its `extra` will contain, so secrets from the
  // environment are found here.
  const secretPaths = new Set([
    ...(filledTexts(extraSecrets) ?? []),
    ...environmentSecretPaths(extra),
  ]);
  return withoutUndefined({
    fields: objectOf(Object.entries(fields)),
    owner: filledText(owner),
    logicalName: filledText(logicalName),
    adopt: adopt === true ? adopt : filledText(adopt),
    extra: known,
    extraSecrets: filledTexts([...secretPaths].sort()),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};
