import type { Definition, Field, Fields } from "../../definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../kernel/json.js";
import { undisclosed } from "../../kernel/undisclosed.js";
import { unknownValue } from "../../kernel/unknown.js";
import type { Properties } from "./properties.js";

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
