import type { Definition, Fields } from "../definition/define.js";
import { type ChangeSecret, changeFieldSecrets } from "../definition/fields.js";
import {
  filledText,
  filledTexts,
  isObject,
  type JsonObject,
  objectOf,
  withoutUndefined,
} from "../kernel/json.js";
import { environmentSecretPaths, secretSignature, unknownValue } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import { objectTime } from "./ownership/mark.js";

/** A resource's values: the fields of its kind, and the options that every resource takes. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: the owner of the object. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /**
   * Further members of the service's JSON; in a preview, the engine's text for values not known
   * yet.
   */
  readonly extra?: JsonObject | typeof unknownValue;
  /**
   * Paths into `extra` whose values are secret: those that the program marks, and those that
   * contain a secret from the environment.
   */
  readonly extraSecrets?: readonly string[];
  /**
   * Paths into the fields whose values the program marks as secret although their definition does
   * not.
   */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase members that the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learned about the object when it was created or written; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state keeps about an object besides the program's declaration. */
export interface ObjectRecord {
  /** Distinguishes the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not declare. */
  readonly undeclared?: readonly string[];
}

/**
 * Splits the engine's values into their parts. Values added by the engine or the service are
 * omitted, and so is `autoName`, which only the check uses.
 */
export const propertiesIn = (values: JsonObject): Properties => {
  const { owner, adopt, extra, extraSecrets, markedSecrets, profile, eraseHidden, ...others } =
    values;
  const { serial, created, modified, undeclared, __provider, id, autoName, ...fields } = others;
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
    adopt: adopt === true ? adopt : filledText(adopt),
    extra: known,
    extraSecrets: filledTexts([...secretPaths].sort()),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};

/** The inputs of a resource in one object, secrets in clear text. */
export const joinInputs = ({ fields, record: _, ...options }: Properties): JsonObject =>
  objectOf([...Object.entries(fields), ...Object.entries(options)]);

/**
 * The inputs as the state keeps them. Every secret has the engine's own form, including those that
 * the program marked in `extra`, so that the state encrypts it even if a program forgot
 * `pulumi.secret`.
 */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(changeSecrets(definition, properties, wrap));

/**
 * The outputs as the state keeps them: what the program manages, and what else is known about the
 * object. `adopt` and `eraseHidden` concern a single write and are not kept.
 */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  const { record } = kept;
  return objectOf([...Object.entries(stateInputs(definition, kept)), ...Object.entries(record)]);
};

const wrap = (value: unknown): JsonObject => ({ ...secretSignature, value });

/** Field values with every secret in the engine's own form. */
export const wrapFieldSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, wrap);

export const changeSecrets = (
  { fields }: Definition,
  { extra, ...properties }: Properties,
  change: ChangeSecret,
): Properties => {
  const { extraSecrets = [] } = properties;
  const changed = isObject(extra) ? changePaths(extra, extraSecrets, change) : extra;
  return {
    ...properties,
    fields: changeFieldSecrets(fields, properties.fields, change),
    ...(isObject(changed) || changed === unknownValue ? { extra: changed } : {}),
  };
};

/** @param paths such as `apiKey` or `auth.token`; the empty path is all of it */
const changePaths = (extra: JsonObject, paths: readonly string[], change: ChangeSecret): unknown =>
  paths.includes("")
    ? change(extra)
    : objectOf(
        Object.entries(extra).map(([name, value]) => {
          const below = paths.flatMap((path) =>
            path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [],
          );
          if (paths.includes(name)) return [name, change(value)];
          return [
            name,
            isObject(value) && below.length > 0 ? changePaths(value, below, change) : value,
          ];
        }),
      );

/**
 * The properties without any secret. A masked value cannot be compared with the intended one, so
 * after a failed write the state must not claim that the value was written.
 */
export const dropSecrets = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, () => undefined);

/** What is known about a newly created object, from the answer or from a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** What is known about an object, with the times that the service gives now. */
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
