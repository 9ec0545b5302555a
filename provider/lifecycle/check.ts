import { isDeepStrictEqual } from "node:util";
import { changesOf, changeText } from "../definition/changes.js";
import {
  changeFieldSecrets,
  fieldsWithSecrets,
  normaliseFields,
  type ReferenceIn,
  referencesIn,
  valuesIn,
} from "../definition/fields.js";
import { withArticle } from "../definition/kinds.js";
import { sameFields } from "../definition/meaning.js";
import { fieldViolations, type Violation } from "../definition/violations.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { isId, isServiceId } from "../kernel/object-id.js";
import {
  environmentSecretsIn,
  holdsUndisclosed,
  missingText,
  seenSecrets,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import { inertOutput, quoted } from "../kernel/text.js";
import { previewAdoption } from "./adoption.js";
import { type Properties, propertiesIn, type Resource, stateInputs } from "./resource.js";
import type { ResourceIdentity, RunEnvironment } from "./run.js";

/** Normalized inputs and the rules that they break. */
export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** Whether a name has no characters but those that the service is sure to take. */
const isPlain = (name: unknown): boolean =>
  typeof name !== "string" || name === unknownValue || /^[\w -]*$/.test(name);

/**
 * Returns the normalized inputs and every rule that they break. Makes no calls except for `adopt`.
 * A failure states its path in `reason` and leaves `property` empty, because the engine would print
 * the property's value, including secrets.
 */
export const check = async (
  given: Resource,
  olds: JsonObject,
  news: JsonObject,
): Promise<CheckedInputs> => {
  const { definition, run, identity, isUnique, nameKey } = given;
  const old = Object.keys(olds).length > 0 ? propertiesIn(olds) : undefined;
  // A transform may have replaced the automatic name.
  const isNamed = news.autoName === undefined || news.autoName !== news.name;
  // An automatic name stays, even if another release would generate a different one.
  const keptName = given.isAutomatic && !isNamed ? old?.fields[nameKey] : undefined;
  const named = typeof keptName === "string" ? { [nameKey]: keptName } : {};
  // Defaults apply only to objects that this program creates: an adopted object keeps what it had.
  const fields = normaliseFields(definition, { ...given.properties.fields, ...named }, (field) =>
    old ? old.fields[field] !== undefined : given.properties.adopt === undefined,
  );
  const references = referencesIn(definition.fields, fields);
  const properties = { ...given.properties, fields };
  const inputs = stateInputs(definition, properties);
  const name = fields[nameKey];
  const resource = { ...given, name, properties };
  const isClaimed = isUnique && typeof name === "string" && name !== unknownValue;
  const claim = isClaimed ? `${definition.kind} ${properties.profile ?? ""} ${name}` : undefined;
  const namesake = identity && run.decisions.declare(identity, claim);
  const isChanged = !old || !isDeepStrictEqual(stateInputs(definition, old), inputs);
  // The outputs of an imported object may not show a change: they lack the secrets that nobody has
  // read.
  if (old && isChanged && identity) {
    const before = normaliseFields(definition, old.fields, () => false);
    if (!sameFields(definition.fields, before, fields)) run.decisions.changed.add(identity.key);
  }
  const settings = isChanged && checkSettings(run, properties.profile);
  const against = { news, old, references, namesake, reports: isChanged };
  const broken = findViolations(resource, against);
  const reasons = [...broken, ...(settings ? settings.reasons : [])];
  const mayAdopt = reasons.length === 0 && settings && settings.areThere;
  const adopts = !old && isKnown(properties.adopt) && mayAdopt;
  const adoption = adopts ? await previewAdoption(resource, isNamed) : {};
  const failures = [...reasons, ...(adoption.reason ? [adoption.reason] : [])];
  // The service's own ids are UUIDs: anything else is unlikely to be an id, such as a name. A tenant
  // may contain objects with other ids, and no check asks the service, so this is only a warning.
  for (const { path, to, id } of isChanged && failures.length === 0 ? references : [])
    if (isId(id) && !isServiceId(id))
      run.notify?.(
        `${path} uses ${isMarked(properties, path) ? "a secret" : quoted(id)} as the ID of ${withArticle(to.noun)}, but the service's IDs are 36-character UUIDs. If it is a name, pass the resource itself or its ID; otherwise, the service will refuse it.`,
        "warning",
      );
  if (isChanged && failures.length === 0 && given.isAutomatic && isNamed && !isPlain(name))
    run.notify?.(
      `${nameKey} has characters other than letters, digits, "-", "_", and spaces. The service may refuse it (400-414): its vendor does not say which values may have only these.`,
      "warning",
    );
  return {
    inputs: adoption.resource ? stateInputs(definition, adoption.resource.properties) : inputs,
    failures: failures.map((reason) => ({ property: "", reason: inertOutput(reason, false) })),
  };
};

/**
 * Returns a resource as it may be written: in its normal form, by the rules of its check. A policy
 * that remediates changes inputs after that.
 *
 * @throws ConversationError `INPUT_INVALID` with every rule that they break
 */
export const assertStillAllowed = (
  given: Resource,
  news: JsonObject,
  olds?: JsonObject,
): Resource => {
  const { definition, nameKey } = given;
  const fields = normaliseFields(definition, given.properties.fields, () => false);
  const resource = { ...given, name: fields[nameKey], properties: { ...given.properties, fields } };
  const old = olds && propertiesIn(olds);
  const references = referencesIn(definition.fields, fields);
  const against = { news, old, references, namesake: undefined, reports: false };
  const reasons = findViolations(resource, against);
  if (reasons.length === 0) return resource;
  throw new ConversationError(
    "INPUT_INVALID",
    `${reasons.join("; ")}. A policy may have changed these inputs after their check. Nothing was sent.`,
  );
};

export interface DiffResult {
  readonly changes?: boolean;
}

/**
 * Compares state and program for the engine. If they differ, the result is usually empty, so that
 * the engine compares the inputs itself and shows every property. Never requests a replacement.
 *
 * For state in an older format or with secrets that an import did not read, the result states only
 * that something changed.
 */
export const diff = (resource: Resource, id: string, olds: JsonObject): DiffResult => {
  const { definition, run, identity, properties: next } = resource;
  const old = propertiesIn(olds);
  const { serial, undeclared } = old.record;
  if (identity) run.decisions.assign(identity, { id, serial });
  const isImported = holdsUndisclosed(old.fields);
  const isSaid = identity !== undefined && run.decisions.changed.has(identity.key);
  const before = normaliseFields(definition, old.fields, () => false);
  const same =
    olds.__provider !== undefined &&
    !(isImported && isSaid) &&
    sameFields(definition.fields, before, next.fields) &&
    old.owner === next.owner &&
    old.profile === next.profile;
  if (same) return { changes: false };
  if (olds.__provider === undefined) return { changes: true };
  if (undeclared) {
    run.notify?.(
      `unchanged, because not declared in the program: ${undeclared.join(", ")}`,
      "info",
    );
  }
  if (!isImported || isSaid) return {};
  // Its inputs are not those of the last refresh, so the engine cannot find or show the difference.
  const known = fieldsWithSecrets(definition.fields, next.markedSecrets);
  const found = changesOf(known, before, next.fields).map(changeText);
  if (found.length > 0) run.notify?.(`writes ${found.join(", ")}`, "info");
  return { changes: true };
};

/** Whether the settings of a resource are present, and why they cannot be used. */
interface CheckedSettings {
  readonly areThere: boolean;
  readonly reasons: readonly string[];
}

/**
 * Checks the settings for a resource that is going to change. Rejects invalid ones, but only warns
 * about missing ones, because they may be present by the time of the update.
 */
const checkSettings = (
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
const findViolations = (
  resource: Resource,
  { news, old, references, namesake, reports }: CheckedAgainst,
): readonly string[] => {
  const { definition, run, properties } = resource;
  const options = [
    ...optionViolations(news),
    ...moveViolations(old, properties),
    ...nameViolations(resource, namesake?.label),
  ];
  const misplaced = findMisplacedSecrets(resource);
  const seen = fillSecrets(resource, reports);
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
const isMarked = ({ markedSecrets = [] }: Properties, path: string): boolean =>
  markedSecrets.some(
    (marked) =>
      marked === "" ||
      path === marked ||
      (/^[.[]/.test(path.slice(marked.length)) && path.startsWith(marked)),
  );

/** Whether a value is set and known before the update. */
const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

const unless = (holds: boolean, path: string, rule: string): Violation[] =>
  holds ? [] : [{ path, rule }];

const isProfile = (profile: unknown): boolean =>
  typeof profile === "string" && /^[A-Za-z][\w-]{0,63}$/.test(profile);

/** The options that every resource takes besides the fields of its kind. */
const optionViolations = ({ adopt, eraseHidden, profile }: JsonObject): readonly Violation[] => {
  const isFlag = (value: unknown) => !isKnown(value) || typeof value === "boolean";
  const isAdoptable = isFlag(adopt) || isId(adopt);
  const isNamed = !isKnown(profile) || isProfile(profile);
  return [
    ...unless(isAdoptable, "adopt", "must be true or the ID of the object to adopt"),
    ...unless(isFlag(eraseHidden), "eraseHidden", "must be true or false"),
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
const fillSecrets = (resource: Resource, reports: boolean): JsonObject => {
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
const findMisplacedSecrets = ({ definition, properties }: Resource): readonly Violation[] =>
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
