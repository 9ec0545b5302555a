import type { Definition } from "../definition/define.js";
import { type ChangeSecret, changeFieldSecrets } from "../definition/secrets.js";
import { isObject, type JsonObject, objectOf } from "../kernel/json.js";
import { secretSignature, unknownValue } from "../kernel/stand-ins.js";
import type { WireObject } from "../service/lists.js";
import { objectTime } from "./ownership/mark.js";
import type { ObjectRecord, Properties } from "./properties.js";

/** Returns a resource's inputs as one object; secrets stay unchanged. */
export const joinInputs = (properties: Properties): JsonObject => {
  const { fields, record: _, logicalName: __, ...options } = properties;
  return objectOf([...Object.entries(fields), ...Object.entries(options)]);
};

/**
 * Returns the inputs for the state. Every secret is in the engine's own form, including those that
 * the program marked in `extra`, so that the state encrypts it even if a program forgot
 * `pulumi.secret`.
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
