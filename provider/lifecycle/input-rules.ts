import { extraViolations } from "../definition/extra.js";
import { type ReferenceIn, valuesIn, withArticle } from "../definition/fields.js";
import { changeFieldSecrets, fieldsWithSecrets } from "../definition/secrets.js";
import { fieldViolations, type Violation } from "../definition/violations.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import {
  environmentSecretsIn,
  missingText,
  seenSecrets,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import type { ResourceIdentity } from "./decisions.js";
import type { Properties } from "./properties.js";
import type { Resource, RunEnvironment } from "./run.js";

/** Whether the settings of a resource are present, and why they cannot be used. */
interface CheckedSettings {
  readonly areThere: boolean;
  readonly reasons: readonly string[];
}

/**
 * Checks the settings for a resource that is going to change. Rejects invalid ones, but only warns
 * about missing ones, because they may be present by the time of the update.
 */
export const checkedSettings = (
  run: Pick<RunEnvironment, "settings" | "notify">,
  profile: string | undefined,
): CheckedSettings => {
  if (profile === unknownValue) return { reasons: [], areThere: false };
  try {
    run.settings?.(profile);
    return { reasons: [], areThere: true };
  } catch (error) {
    if (!isConversationError(error)) throw error;
    if (error.code !== "SETTINGS_MISSING") return { reasons: [error.message], areThere: false };
    run.notify?.(
      `${error.message}\nThe preview continues without them; pulumi up will fail.`,
      "warning",
    );
    return { reasons: [], areThere: false };
  }
};

/** What the rules for the inputs of a resource need besides the resource. */
interface CheckedAgainst {
  /** The inputs as they were given. */
  readonly news: JsonObject;
  /** The inputs in the state; undefined for a resource that does not exist yet. */
  readonly old: Properties | undefined;
  /** Every reference in its fields. */
  readonly references: readonly ReferenceIn[];
  /** Another resource of the program with the same name, which must be unique. */
  readonly namesake: ResourceIdentity | undefined;
  /** Whether to report secrets of the environment that are not set. */
  readonly reports: boolean;
}

/**
 * Returns every rule that a resource's inputs break, each as a sentence that names the property.
 *
 * @param resource with its inputs in their normal form
 */
export const inputViolations = (
  resource: Resource,
  { news, old, references, namesake, reports }: CheckedAgainst,
): readonly string[] => {
  const { definition, run, properties } = resource;
  const options = [
    ...optionViolations(resource, news),
    ...moveViolations(old, properties),
    ...nameViolations(resource, namesake?.label),
  ];
  const misplaced = misplacedSecrets(resource);
  const seen = checkedSecrets(resource, reports);
  // The id of another resource of the program reveals its kind before the service does.
  const others = references.flatMap(({ path, to, id }) => {
    const holder = typeof id === "string" ? run.decisions.holders.get(id) : undefined;
    return unless(
      !holder || holder.kind === to.kind,
      path,
      `must be the ID of ${withArticle(to.noun)}; ${isMarked(properties, path) ? "the given one" : id} is ${holder?.label} in this program`,
    );
  });
  const hidden = new Set(misplaced.map(({ path }) => path));
  // No rule quotes a misplaced secret, whatever else is wrong with it.
  const known = fieldsWithSecrets(definition.fields, properties.markedSecrets);
  const fields = fieldViolations({ ...definition, fields: known }, seen).filter(
    ({ path }) => !hidden.has(path),
  );
  return [...fields, ...options, ...others, ...misplaced].map(({ path, rule }) =>
    path ? `${path} ${rule}` : `${definition.kind} ${rule}`,
  );
};

/** Whether the program marks the value at a path as secret, so that messages must not show it. */
export const isMarked = ({ markedSecrets = [] }: Properties, path: string): boolean =>
  markedSecrets.some(
    (marked) =>
      marked === "" ||
      path === marked ||
      (/^[.[]/.test(path.slice(marked.length)) && path.startsWith(marked)),
  );

/** Whether a value is set and known before the update. */
export const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

const unless = (holds: boolean, path: string, rule: string): Violation[] =>
  holds ? [] : [{ path, rule }];

const isProfile = (profile: unknown): boolean =>
  typeof profile === "string" && /^[A-Za-z][\w-]{0,63}$/.test(profile);

/** The options that every resource takes besides the fields of its kind. */
const optionViolations = (
  { definition }: Resource,
  { adopt, eraseHidden, extra, profile }: JsonObject,
): readonly Violation[] => {
  const isFlag = (value: unknown) => !isKnown(value) || typeof value === "boolean";
  const isAdoptable = isFlag(adopt) || isId(adopt);
  const isNamed = !isKnown(profile) || isProfile(profile);
  return [
    ...unless(isAdoptable, "adopt", "must be true or the ID of the object to adopt"),
    ...unless(isFlag(eraseHidden), "eraseHidden", "must be true or false"),
    ...unless(!isKnown(extra) || isObject(extra), "extra", "must be an object"),
    ...(isObject(extra) ? extraViolations(definition, extra) : []),
    ...unless(
      isNamed,
      "profile",
      'must be up to 64 letters, digits, "_", and "-", starting with a letter',
    ),
  ];
};

/** An object stays in the account in which it was created. */
const moveViolations = (old: Properties | undefined, { profile }: Properties): Violation[] => {
  const isThere = old !== undefined && Object.keys(old.fields).length > 0;
  const stays = !isThere || old.profile === profile || profile === unknownValue;
  const move = `from ${old?.profile ?? "the default"} to ${profile ?? "the default"}`;
  return unless(
    stays,
    "profile",
    `cannot change ${move}: the object belongs to the previous account. Give the resource a new logical name, or run with --replace`,
  );
};

/** No two objects of a kind may share a name, so no two resources of a program may. */
const nameViolations = (
  { identity, nameKey, name, properties }: Resource,
  other: string | undefined,
): Violation[] =>
  unless(
    other === undefined,
    nameKey,
    `must be unique: ${other} also has ${isMarked(properties, nameKey) ? "the same" : JSON.stringify(name)}. Change the ${nameKey} of ${identity?.label} or ${other}`,
  );

/**
 * The fields with the secrets that this process can see, so that they are checked, too. Only in
 * secret fields: for any other field, the message about a broken rule may show its value.
 * A preview continues without variables that are not set.
 */
const checkedSecrets = (resource: Resource, reports: boolean): JsonObject => {
  const { run, definition, name, properties } = resource;
  const seen = seenSecrets(run);
  for (const secret of reports ? environmentSecretsIn(properties) : []) {
    if (seen(secret)) continue;
    run.notify?.(
      `${definition.kind} ${JSON.stringify(name)}: ${missingText(secret)}. The preview continues without it; pulumi up will fail.`,
      "warning",
    );
  }
  return changeFieldSecrets(definition.fields, properties.fields, (secret) =>
    withEnvironmentSecrets(secret, seen),
  );
};

/** Only secrets can come from the environment, because everything else is shown and compared. */
const misplacedSecrets = ({ definition, properties }: Resource): readonly Violation[] =>
  valuesIn(definition.fields, properties.fields).flatMap(({ field, path, value }) =>
    field.secret || typeof value !== "string" || environmentSecretsIn(value).length === 0
      ? []
      : [
          {
            path,
            rule: "is not a secret, but fromEnv is only for secrets. Read the variable in the program",
          },
        ],
  );
