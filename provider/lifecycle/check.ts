import { isDeepStrictEqual } from "node:util";
import { changesOf, changeText } from "../definition/changes.js";
import {
  addedMembers,
  changeFieldSecrets,
  normaliseFields,
  valuesIn,
} from "../definition/fields.js";
import { sameFields } from "../definition/meaning.js";
import { fieldViolations, type Violation } from "../definition/violations.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { filledTexts, type JsonObject } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import {
  environmentSecretsIn,
  holdsUndisclosed,
  missingText,
  seenSecrets,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/pulumi.js";
import { inertOutput } from "../kernel/text.js";
import { assertDistinctProfiles } from "../service/settings.js";
import { previewAdoption } from "./adoption.js";
import { engineCall } from "./engine-call.js";
import {
  assignObject,
  type KindInRun,
  labelOf,
  type Properties,
  propertiesIn,
  type Resource,
  shownName,
  stateValues,
} from "./resource.js";
import type { Run } from "./run.js";

/** Normalized inputs and the rules that they break. */
export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** What the engine calls to check the inputs of a resource. */
export const onCheck =
  (of: KindInRun) =>
  (olds: JsonObject, inputs: JsonObject): Promise<CheckedInputs> =>
    engineCall({ of, doing: "checking", inputs, olds }, (resource, before) =>
      check(resource, before, olds, inputs),
    );

/**
 * Returns the normalized inputs and every rule that they break. Makes no calls except for `adopt`.
 * A failure states its path in `reason` and leaves `property` empty, because the engine would print
 * the property's value, including secrets.
 */
const check = async (
  given: Resource,
  before: Resource,
  olds: JsonObject,
  news: JsonObject,
): Promise<CheckedInputs> => {
  const { definition, run, identity, nameKey } = given;
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
  const { logicalName: _, ...properties } = { ...given.properties, fields };
  const resource = { ...given, name: fields[nameKey], properties };
  const isChanged = !isDeepStrictEqual(old, properties);
  // The outputs of an imported object may not show a change: they lack the secrets that nobody has
  // read.
  if (old && isChanged && identity) {
    const isSame = sameFields(definition.fields, before.properties.fields, fields);
    if (!isSame) run.decisions.changed.add(identity.key);
  }
  const settings = isChanged && checkSettings(run, properties.profile);
  if (isChanged) warnOfMissingSecrets(resource);
  const reasons = [
    ...addedMembers.filter((name) => (news[name] ?? null) !== null).map(setByService),
    ...(filledTexts(news.unknownPaths) ?? []).map(hasNoValue),
    ...findNamesake(resource),
    ...findViolations(resource, news, old),
    ...(settings ? settings.reasons : []),
  ];
  const mayAdopt = reasons.length === 0 && settings && settings.areThere;
  const adopts = !old && isKnown(properties.adopt) && mayAdopt;
  const adoption = adopts ? await previewAdoption(resource, isNamed) : {};
  const failures = [...reasons, ...(adoption.reason ? [adoption.reason] : [])];
  const { name } = resource;
  const isPlain = typeof name !== "string" || name === unknownValue || /^[\w -]*$/.test(name);
  // An object of the service may have any name.
  const isNewName = old?.fields[nameKey] !== name;
  if (isNewName && failures.length === 0 && given.isAutomatic && isNamed && !isPlain)
    run.notify?.(
      `${nameKey} has characters other than letters, digits, "-", "_", and spaces. The service may refuse it (400-414): its vendor does not say which values may have only these.`,
      "warning",
    );
  return {
    inputs: stateValues(adoption.resource ?? resource),
    failures: failures.map((reason) => ({ property: "", reason: inertOutput(reason, false) })),
  };
};

/**
 * Records that the program declares this resource. No two objects of a kind may share a unique name,
 * so no two resources of a program may.
 */
const findNamesake = (resource: Resource): string[] => {
  const { run, identity, isUnique, nameKey, name, properties } = resource;
  const { kind } = resource.definition;
  if (!identity) return [];
  run.decisions.declared.set(identity.key, identity);
  if (!isUnique || typeof name !== "string" || name === unknownValue) return [];
  const { claims } = run.decisions;
  const what = `${kind} ${properties.profile ?? ""} ${name}`;
  const other = claims.get(what) ?? identity;
  claims.set(what, other);
  if (other.place === identity.place) return [];
  const has = shownName(resource, name) ?? "the same";
  return [
    `${nameKey} must be unique: ${labelOf(other)} also has ${has}. Change the ${nameKey} of ${labelOf(identity)} or ${labelOf(other)}`,
  ];
};

export interface DiffResult {
  readonly changes?: boolean;
}

/** What the engine calls to compare the state with the inputs of a resource. */
export const onDiff =
  (of: KindInRun) =>
  (id: string, olds: JsonObject, inputs: JsonObject): Promise<DiffResult> =>
    engineCall({ of, doing: "comparing", id, inputs, olds }, async (resource, before) =>
      diff(resource, before, id, olds),
    );

/**
 * Compares state and program for the engine. If they differ, the result is usually empty, so that
 * the engine compares the inputs itself and shows every property. Never requests a replacement.
 *
 * For state in an older format or with secrets that an import did not read, the result states only
 * that something changed.
 */
const diff = (resource: Resource, before: Resource, id: string, olds: JsonObject): DiffResult => {
  const { definition, run, identity, properties: next } = resource;
  const { properties: old } = before;
  const { serial, undeclared } = old.record;
  // A refresh compares, too, with the inputs of the state, and writes nothing. The program that may
  // follow it in this process replaces, renames, or removes what it has read.
  const isUpdate = identity !== undefined && run.decisions.declared.has(identity.key);
  if (isUpdate) assignObject(resource, { id, serial });
  const isImported = holdsUndisclosed(old.fields);
  const isSaid = identity !== undefined && run.decisions.changed.has(identity.key);
  const same =
    olds.__provider !== undefined &&
    !(isImported && isSaid) &&
    sameFields(definition.fields, old.fields, next.fields) &&
    old.owner === next.owner &&
    old.profile === next.profile;
  if (same) return { changes: false };
  if (olds.__provider === undefined) return { changes: true };
  const notify = isUpdate ? run.notify : undefined;
  if (undeclared)
    notify?.(`unchanged, because not declared in the program: ${undeclared.join(", ")}`, "info");
  if (!isImported || isSaid) return {};
  // Its inputs are not those of the last refresh, so the engine cannot find or show the difference.
  const found = changesOf(resource.known, old.fields, next.fields).map(changeText);
  if (found.length > 0) notify?.(`writes ${found.join(", ")}`, "info");
  return { changes: true };
};

/**
 * Checks whether the settings for a resource that is going to change are there, and why they cannot
 * be used. Rejects invalid ones, but only warns about missing ones, because they may be present by
 * the time of the update.
 */
const checkSettings = (run: Run, profile: string | undefined) => {
  if (profile === unknownValue) return { reasons: [], areThere: false };
  const { profiles } = run.decisions;
  try {
    if (!profiles.has(profile)) assertDistinctProfiles(profile, profiles);
    profiles.add(profile);
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

/**
 * Returns every rule that a resource's inputs break, each as a sentence that names the property.
 *
 * @param resource with its inputs in their normal form
 * @param news the inputs as they were given
 * @param old the inputs in the state; undefined for a resource that does not exist yet
 */
export const findViolations = (
  resource: Resource,
  news: JsonObject,
  old?: Properties,
): readonly string[] => {
  const { definition, run, properties, known } = resource;
  const { kind, rule } = definition;
  const options = [...optionViolations(news), ...moveViolations(old, properties)];
  const values = seenValues(resource);
  // The ID of another resource of the program reveals its kind before the service does.
  const holderOf = (id: string) => {
    const holder = run.decisions.holders.get(id);
    return holder && { kind: holder.kind, label: labelOf(holder) };
  };
  const misplaced = findMisplacedSecrets(resource);
  // No other rule says something about a misplaced secret.
  const fields = fieldViolations({ kind, rule, fields: known }, values, holderOf).filter(
    ({ path }) => misplaced.every((each) => each.path !== path),
  );
  return [...fields, ...options, ...misplaced].map(
    ({ path, rule: broken }) => `${path || kind} ${broken}`,
  );
};

/** The fields with the secrets that this process can see, so that they are checked, too. */
const seenValues = ({
  definition,
  run,
  properties: { fields },
  environmentSecrets,
}: Resource): JsonObject => {
  if (environmentSecrets.length === 0) return fields;
  const seen = seenSecrets(run);
  return changeFieldSecrets(definition.fields, fields, (secret) =>
    withEnvironmentSecrets(secret, seen),
  );
};

/**
 * Only secrets can come from the environment, because everything else is compared with what the
 * service shows, even if the program marks it as secret.
 */
const findMisplacedSecrets = ({
  definition,
  properties,
  environmentSecrets,
}: Resource): readonly Violation[] => {
  if (environmentSecrets.length === 0) return [];
  return valuesIn(definition.fields, properties.fields)
    .filter(({ field, value }) => !field.secret && typeof value === "string")
    .filter(({ value }) => environmentSecretsIn(value).length > 0)
    .map(({ path }) => ({
      path,
      rule: "is not a secret, but fromEnv is only for secrets. Read the variable in the program",
    }));
};

/** Returns the error for inputs that break rules although their check found nothing. */
export const brokenSinceCheck = (reasons: readonly string[]): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `${reasons.join("; ")}. A policy may have changed these inputs after their check. Nothing was sent.`,
  );

/** Whether a value is set and known before the update. */
const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

const unless = (holds: boolean, path: string, rule: string): Violation[] =>
  holds ? [] : [{ path, rule }];

const isProfile = (profile: unknown): boolean =>
  typeof profile === "string" && /^[A-Za-z][\w-]{0,63}$/.test(profile);

const setByService = (name: string): string =>
  `${name} is set by the service. To take over an existing object, set adopt to its ID`;

const hasNoValue = (path: string): string =>
  `${path} has no value: it comes from a resource that "up --target" skipped, here or in another stack. Run up without --target there first`;

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
  const stays = old === undefined || old.profile === profile || profile === unknownValue;
  const move = `from ${old?.profile ?? "the default"} to ${profile ?? "the default"}`;
  return unless(
    stays,
    "profile",
    `cannot change ${move}: the object belongs to the previous account. Give the resource a new logical name, or run with --replace`,
  );
};

/** A preview continues without variables that are not set. */
const warnOfMissingSecrets = (resource: Resource): void => {
  const { run, definition, name, environmentSecrets } = resource;
  for (const secret of environmentSecrets.filter((each) => !seenSecrets(run)(each))) {
    const about = [definition.kind, shownName(resource, name) ?? ""].join(" ").trim();
    run.notify?.(
      `${about}: ${missingText(secret)}. The preview continues without it; pulumi up will fail.`,
      "warning",
    );
  }
};
