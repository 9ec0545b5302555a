import type { Definition, Field, Fields } from "../definition/define.js";
import {
  filledText,
  filledTexts,
  isObject,
  type JsonObject,
  objectOf,
  present,
} from "../kernel/json.js";
import { environmentSecretPaths, undisclosed, unknownValue } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/collections.js";
import { objectTime } from "./ownership/mark.js";

/** A resource's values: the fields of its kind, and what every resource takes besides. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: whose the object is. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /** Further members of the service's JSON; the engine's text for what is not known yet, in a preview. */
  readonly extra?: JsonObject | typeof unknownValue;
  /** Paths into `extra` whose values are secret: what the program marks, and what holds a secret of the environment. */
  readonly extraSecrets?: readonly string[];
  /** Paths into the fields whose values the program marks as secret, though their definition does not. */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase what the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learnt of the object when it was made or written; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state keeps of an object besides what the program says. */
export interface ObjectRecord {
  /** Distinguishes the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not name. */
  readonly undeclared?: readonly string[];
}

/** A program cannot see what an output of its `extra` will hold, so what takes the environment's place is looked for here. */
const secretPaths = (extra: unknown, marked: unknown): readonly string[] | undefined => {
  const paths = new Set([...(filledTexts(marked) ?? []), ...environmentSecretPaths(extra)]);
  return filledTexts([...paths].sort());
};

/**
 * The values that the engine hands over, in their parts; what the engine or the service put in besides
 * is left out, and so is `autoName`, which is for the check alone.
 */
export const propertiesIn = (values: JsonObject): Properties => {
  const { owner, adopt, extra, extraSecrets, markedSecrets, profile, eraseHidden, ...others } =
    values;
  const { serial, created, modified, undeclared, __provider, id, autoName, ...fields } = others;
  const record = present<ObjectRecord>({
    serial: filledText(serial),
    created: filledText(created),
    modified: filledText(modified),
    undeclared: filledTexts(undeclared),
  });
  return present<Properties>({
    fields: objectOf(Object.entries(fields)),
    owner: filledText(owner),
    adopt: adopt === true ? adopt : filledText(adopt),
    extra: isObject(extra) ? extra : extra === unknownValue ? unknownValue : undefined,
    extraSecrets: secretPaths(extra, extraSecrets),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};

/** The engine's own form of a secret value; public as `pulumi.runtime.specialSigKey` and `specialSecretSig`. */
const signature = "4dabf18193072939515e22adb298388d";

const secretKind = "1b47061264138c4ac30d75fd1eb44270";

const wrap = (value: unknown): JsonObject => ({ [signature]: secretKind, value });

/** What becomes of a secret; one that becomes nothing is left out. */
type Change = (secret: unknown) => unknown;

// As changeInside does, and apart from it on purpose: every value of every call goes through here.
const changeValue = (field: Field, value: unknown, change: Change): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return change(value);
  if (field.type === "object" && isObject(value))
    return changeFieldSecrets(field.fields, value, change);
  if (field.type === "list" && Array.isArray(value))
    return value.map((item) => changeValue(field.of, item, change));
  if (field.type === "map" && isObject(value)) {
    return objectOf(
      Object.entries(value).map(([key, of]) => [key, changeValue(field.of, of, change)]),
    );
  }
  return value;
};

/** Field values with something else in the place of every secret. */
export const changeFieldSecrets = (
  fields: Fields,
  values: JsonObject,
  change: Change,
): JsonObject =>
  objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, field ? changeValue(field, value, change) : value];
    }),
  );

/** @param paths such as `apiKey` or `auth.token`; the empty path is all of it */
const changePaths = (extra: JsonObject, paths: readonly string[], change: Change): unknown =>
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

const changeSecrets = (
  { fields }: Definition,
  { extra, ...properties }: Properties,
  change: Change,
): Properties => {
  const { extraSecrets = [] } = properties;
  const changed = isObject(extra) ? changePaths(extra, extraSecrets, change) : extra;
  return {
    ...properties,
    fields: changeFieldSecrets(fields, properties.fields, change),
    ...(isObject(changed) || changed === unknownValue ? { extra: changed } : {}),
  };
};

/** Field values with every secret in the engine's own form. */
export const wrapFieldSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, wrap);

/**
 * Without any secret. What a service masks cannot be compared with what it was meant to become, so
 * after a write that failed the state must not claim that it became so.
 */
export const dropSecrets = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, () => undefined);

/** Without the secrets that an import did not read: nobody knows them, so nothing can be said of them. */
export const dropUndisclosed = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, (secret) => (secret === undisclosed ? undefined : secret));

/** The inputs of a resource in one object, secrets in clear. */
export const joinInputs = ({ fields, record: _, ...options }: Properties): JsonObject =>
  objectOf([...Object.entries(fields), ...Object.entries(options)]);

/**
 * The inputs as the state keeps them. Every secret is in the engine's own form, those in `extra` that
 * the program gave as such included, so that the state holds it encrypted even where a program forgot
 * `pulumi.secret`.
 */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(changeSecrets(definition, properties, wrap));

/**
 * The outputs as the state keeps them: what the program manages, and what is known of the object
 * besides. `adopt` and `eraseHidden` are about one write and are not kept.
 */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  const { record } = kept;
  return objectOf([...Object.entries(stateInputs(definition, kept)), ...Object.entries(record)]);
};

/** What is known of an object that was just made, by the answer or by a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** Between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;

const latestMs = 1_000;

/**
 * A time of the service. Right after a creation or an update it is taken from the answer's `Date`,
 * which is a little later and has no fractions of a second: that is the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** What is known of an object, with its times as the service gives them now. */
export const liveRecord = (live: WireObject, record: ObjectRecord): ObjectRecord => {
  const created = sameTime(live.created, record.created);
  const modified = sameTime(live.modified, record.modified);
  return { ...record, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};
