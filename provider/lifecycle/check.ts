import { isDeepStrictEqual } from "node:util";
import { extraViolations } from "../definition/extra.js";
import { referencesIn, withArticle } from "../definition/fields.js";
import { sameFields } from "../definition/meaning.js";
import { fieldViolations, normaliseFields, type Violation } from "../definition/violations.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import { isId, isServiceId } from "../kernel/object-id.js";
import { holdsUndisclosed, unknownValue } from "../kernel/stand-ins.js";
import { inertOutput, quoted } from "../kernel/text.js";
import { adopted } from "./adoption.js";
import {
  checkedSecrets,
  misplacedSecrets,
  type Properties,
  propertiesIn,
  type Resource,
  stateInputs,
} from "./resource.js";
import type { ResourceIdentity, RunEnvironment } from "./run.js";

/** Inputs in their normal form, and the reasons why they are refused. */
export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/**
 * Returns the inputs in their normal form and every rule they break. Makes no call except for
 * `adopt`. A failure names its path in the reason and leaves `property` empty, because the engine
 * would print the property's value, secrets included.
 */
export const check = async (
  given: Resource,
  olds: JsonObject,
  news: JsonObject,
): Promise<CheckedInputs> => {
  const old = Object.keys(olds).length > 0 ? propertiesIn(olds) : undefined;
  // A transform may have replaced the automatic name.
  const isNamed = news.autoName === undefined || news.autoName !== news.name;
  const resource = normalised(given, old, isNamed);
  const { definition, properties, run, identity, isUnique, name } = resource;
  const isClaimed = isUnique && typeof name === "string" && name !== unknownValue;
  const claim = isClaimed ? `${definition.kind} ${properties.profile ?? ""} ${name}` : undefined;
  const namesake = identity && run.decisions.declare(identity, claim);
  const isChanged =
    !old || !isDeepStrictEqual(stateInputs(definition, old), stateInputs(definition, properties));
  if (old && isChanged) noteChange(resource, old);
  const settings = isChanged && checkedSettings(run, properties.profile);
  const seen = checkedSecrets(resource, isChanged);
  const broken = inputViolations(resource, seen, news, old, namesake);
  const reasons = [...broken, ...(settings ? settings.reasons : [])];
  const mayAdopt = reasons.length === 0 && settings && settings.areThere;
  const adopts = !old && isKnown(properties.adopt) && mayAdopt;
  const adoption = adopts ? await adopted(resource, isNamed) : {};
  const failures = [...reasons, ...(adoption.reason ? [adoption.reason] : [])];
  if (isChanged && failures.length === 0)
    for (const doubt of doubtfulReferences(resource)) run.notify?.(doubt, "warning");
  if (!old && failures.length === 0) {
    run.foresee?.(resource, properties.adopt === undefined ? "create" : "adopt");
  }
  return {
    inputs: stateInputs(definition, (adoption.resource ?? resource).properties),
    failures: failures.map((reason) => ({ property: "", reason: inertOutput(reason, false) })),
  };
};

/**
 * The inputs in their normal form. An automatic name stays, even if another release would generate
 * a different one. Defaults apply only to objects that this program creates: an adopted object
 * keeps what it had.
 */
const normalised = (
  resource: Resource,
  old: Properties | undefined,
  isNamed: boolean,
): Resource => {
  const { definition, properties, nameKey, isAutomatic } = resource;
  const kept = isAutomatic && !isNamed ? old?.fields[nameKey] : undefined;
  const made = typeof kept === "string" ? { [nameKey]: kept } : {};
  const fields = normaliseFields(definition, { ...properties.fields, ...made }, (name) =>
    old ? old.fields[name] !== undefined : properties.adopt === undefined,
  );
  return { ...resource, name: fields[nameKey], properties: { ...properties, fields } };
};

/**
 * The outputs of an imported object may not show a change: they lack the secrets that nobody has
 * read.
 */
const noteChange = ({ definition, run, identity, properties }: Resource, old: Properties): void => {
  const before = normaliseFields(definition, old.fields, () => false);
  if (identity && !sameFields(definition.fields, before, properties.fields))
    run.decisions.changed.add(identity.key);
};

/** Whether the settings of a resource are present, and why they cannot be used. */
interface CheckedSettings {
  readonly areThere: boolean;
  readonly reasons: readonly string[];
}

/**
 * Bad settings are refused if there is something to do; missing ones may be present by the time it
 * is done.
 */
const checkedSettings = (
  run: Pick<RunEnvironment, "settings" | "notify">,
  profile: string | undefined,
): CheckedSettings => {
  if (profile === unknownValue) return { reasons: [], areThere: false };
  try {
    assertNode();
    run.settings?.(profile);
    return { reasons: [], areThere: true };
  } catch (error) {
    if (!isConversationError(error)) throw error;
    if (error.code !== "SETTINGS_MISSING") return { reasons: [error.message], areThere: false };
    run.notify?.(`${error.message} A preview goes on without them; pulumi up will not.`, "warning");
    return { reasons: [], areThere: false };
  }
};

/**
 * Every rule that the inputs of a resource break, each as a sentence that names the property.
 *
 * @param resource with its inputs in their normal form
 * @param seen its fields with the secrets of the environment
 * @param news the inputs as they were given
 * @param old the inputs in the state; undefined for a resource that does not exist yet
 * @param namesake another resource of the program with the same name, which must be unique
 */
const inputViolations = (
  resource: Resource,
  seen: JsonObject,
  news: JsonObject,
  old: Properties | undefined,
  namesake: ResourceIdentity | undefined,
): readonly string[] => {
  const { definition, properties } = resource;
  const others = [
    ...optionViolations(resource, news),
    ...moveViolations(old, properties),
    ...nameViolations(resource, namesake?.label),
    ...referenceViolations(resource),
  ];
  const misplaced = misplacedSecrets(resource);
  const hidden = new Set(misplaced.map(({ path }) => path));
  // No rule quotes a misplaced secret, whatever else is wrong with it.
  const fields = fieldViolations(definition, seen).filter(({ path }) => !hidden.has(path));
  return [...fields, ...others, ...misplaced].map(({ path, rule }) =>
    path ? `${path} ${rule}` : `${definition.kind} ${rule}`,
  );
};

/** Whether a value is given and known before the update. */
const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

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
    ...unless(isAdoptable, "adopt", "must be true or the id of the object to take over"),
    ...unless(isFlag(eraseHidden), "eraseHidden", "must be true or false"),
    ...unless(!isKnown(extra) || isObject(extra), "extra", "must be an object"),
    ...(isObject(extra) ? extraViolations(definition, extra) : []),
    ...unless(isNamed, "profile", "must be a name of letters, digits, _ and -"),
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
    `cannot change ${move}: the object lives in the other account. Give the resource a new logical name, or run with --replace`,
  );
};

/** No two objects of a kind may share a name, so no two resources of a program may. */
const nameViolations = (
  { identity, nameKey, name }: Resource,
  other: string | undefined,
): Violation[] =>
  unless(
    other === undefined,
    nameKey,
    `must be unique: ${other} of this program has ${JSON.stringify(name)}, too. Give ${identity?.label} or ${other} another ${nameKey}`,
  );

/** The id of another resource of the program reveals its kind before the service does. */
const referenceViolations = ({ definition, run, properties }: Resource): Violation[] =>
  referencesIn(definition.fields, properties.fields).flatMap(({ path, to, id }) => {
    const holder = typeof id === "string" ? run.decisions.holders.get(id) : undefined;
    return unless(
      !holder || holder.kind === to.kind,
      path,
      `must be the id of ${withArticle(to.noun)}; ${id} is ${holder?.label} of this program`,
    );
  });

/**
 * References that are unlikely to be ids, such as a name instead of an id: the service's own ids
 * are UUIDs. A tenant may contain objects with other ids, and no check asks the service, so this is
 * only a warning.
 */
const doubtfulReferences = ({ definition, properties }: Resource): readonly string[] =>
  referencesIn(definition.fields, properties.fields).flatMap(({ path, to, id }) =>
    isId(id) && !isServiceId(id)
      ? [
          `${path} gives ${quoted(id)} as the id of ${withArticle(to.noun)}, and the service's ids are UUIDs of 36 characters. If it is a name, give the resource itself or its id: else the service refuses it.`,
        ]
      : [],
  );

export interface DiffResult {
  readonly changes?: boolean;
}

/**
 * The difference between state and program that is reported to the engine: nothing if the inputs
 * differ, because the engine then compares them itself and shows every property. Nothing is ever
 * replaced.
 *
 * The engine cannot compare state of an older shape; such state is updated once.
 */
export const diff = (resource: Resource, id: string, olds: JsonObject): DiffResult => {
  const { definition, run, identity, properties: next } = resource;
  const old = propertiesIn(olds);
  const { serial, undeclared } = old.record;
  if (identity) run.decisions.assign(identity, { id, serial });
  const isImported = holdsUndisclosed(old.fields);
  const isSaid = identity !== undefined && run.decisions.changed.has(identity.key);
  const same =
    olds.__provider !== undefined &&
    !(isImported && isSaid) &&
    sameFields(
      definition.fields,
      normaliseFields(definition, old.fields, () => false),
      next.fields,
    ) &&
    isDeepStrictEqual(old.extra, next.extra) &&
    isDeepStrictEqual(old.extraSecrets, next.extraSecrets) &&
    old.owner === next.owner &&
    old.profile === next.profile;
  if (same) return { changes: false };
  run.foresee?.(resource, "update");
  if (olds.__provider === undefined) return { changes: true };
  if (undeclared) {
    run.notify?.(`stays, as the program does not declare it: ${undeclared.join(", ")}`, "info");
  }
  // Its inputs are not those of the last refresh, so the engine cannot find the difference.
  return isImported ? { changes: true } : {};
};
