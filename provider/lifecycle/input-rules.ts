import { withArticle } from "../definition/references.js";
import { fieldViolations, type Violation } from "../definition/violations.js";
import { referencesIn } from "../definition/walk.js";
import { extraViolations } from "../definition/wire/extra.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId, isServiceId } from "../kernel/object-id.js";
import { quoted } from "../kernel/quoted.js";
import { unknownValue } from "../kernel/unknown.js";
import type { Resource } from "./resource.js";
import type { ResourceIdentity } from "./run/decisions.js";
import { misplacedSecrets } from "./state/environment-secrets.js";
import type { Properties } from "./state/properties.js";

/**
 * Every rule that the inputs of a resource break, each as a sentence that names the property.
 *
 * @param resource with its inputs in their normal form
 * @param seen its fields with the secrets of the environment
 * @param news the inputs as they were given
 * @param old the inputs in the state; undefined for a resource that is not there yet
 * @param namesake another resource of the program that has the name, which is unique
 */
export const inputViolations = (
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
  // Whatever else is wrong with a misplaced secret, no rule quotes it.
  const fields = fieldViolations(definition, seen).filter(({ path }) => !hidden.has(path));
  return [...fields, ...others, ...misplaced].map(({ path, rule }) =>
    path ? `${path} ${rule}` : `${definition.kind} ${rule}`,
  );
};

/** Whether a value is given, and known before the update. */
export const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

const unless = (holds: boolean, path: string, rule: string): Violation[] =>
  holds ? [] : [{ path, rule }];

const isProfile = (profile: unknown): boolean =>
  typeof profile === "string" && /^[A-Za-z][\w-]{0,63}$/.test(profile);

/** What every resource takes besides the fields of its kind. */
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

/** An object stays in the account where it was made. */
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

/** No two objects of a kind may have one name, so no two resources of a program. */
const nameViolations = (
  { identity, nameKey, name }: Resource,
  other: string | undefined,
): Violation[] =>
  unless(
    other === undefined,
    nameKey,
    `must be unique: ${other} of this program has ${JSON.stringify(name)}, too. Give ${identity?.label} or ${other} another ${nameKey}`,
  );

/** An id of another resource of the program tells its kind before the service does. */
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
 * References that can hardly be ids, such as a name in the place of one: the service's own are UUIDs. A
 * tenant may come with objects under other ids, and no check asks the service, so this is no refusal.
 */
export const doubtfulReferences = ({ definition, properties }: Resource): readonly string[] =>
  referencesIn(definition.fields, properties.fields).flatMap(({ path, to, id }) =>
    isId(id) && !isServiceId(id)
      ? [
          `${path} gives ${quoted(id)} as the id of ${withArticle(to.noun)}, and the service's ids are UUIDs of 36 characters. If it is a name, give the resource itself or its id: else the service refuses it.`,
        ]
      : [],
  );
