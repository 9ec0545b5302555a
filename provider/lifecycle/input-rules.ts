import type { Definition } from "../definition/define.js";
import { naturalKey, referencesIn, withArticle } from "../definition/references.js";
import { type Violation, violations } from "../definition/schema.js";
import { extraViolations } from "../definition/wire/extra.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { unknownValue } from "../kernel/unknown.js";
import { type Context, isUniqueIn, remembered } from "./declared.js";
import type { Properties } from "./properties.js";

/** Whether a value is given, and known before the update. */
export const isKnown = (value: unknown): boolean => value !== undefined && value !== unknownValue;

const adoptViolations = (adopt: unknown): Violation[] =>
  !isKnown(adopt) || typeof adopt === "boolean" || isId(adopt)
    ? []
    : [{ path: "adopt", rule: "must be true or the id of the object to take over" }];

const eraseViolations = (eraseHidden: unknown): Violation[] =>
  !isKnown(eraseHidden) || typeof eraseHidden === "boolean"
    ? []
    : [{ path: "eraseHidden", rule: "must be true or false" }];

const extraRules = (definition: Definition, extra: unknown): readonly Violation[] => {
  if (!isKnown(extra)) return [];
  return isObject(extra)
    ? extraViolations(definition, extra)
    : [{ path: "extra", rule: "must be an object" }];
};

const profileViolations = (profile: unknown): Violation[] =>
  !isKnown(profile) || (typeof profile === "string" && /^[A-Za-z][\w-]{0,63}$/.test(profile))
    ? []
    : [{ path: "profile", rule: "must be a name of letters, digits, _ and -" }];

const movedViolations = (old: Properties | undefined, next: Properties): Violation[] =>
  old &&
  Object.keys(old.fields).length > 0 &&
  old.profile !== next.profile &&
  next.profile !== unknownValue
    ? [
        {
          path: "profile",
          rule: `cannot change from ${old.profile ?? "the default"} to ${next.profile ?? "the default"}: the object lives in the other account. Give the resource a new logical name, or run with --replace`,
        },
      ]
    : [];

/** No two objects of a kind may have one name, so no two resources of a program. */
const nameViolations = (context: Context, properties: Properties): Violation[] => {
  const { definition, run } = context;
  const key = naturalKey(definition);
  const name = properties.fields[key];
  const resource = remembered(context, properties);
  if (!resource || !isUniqueIn(definition) || typeof name !== "string" || name === unknownValue)
    return [];
  const other = run.decisions.take(
    `${definition.kind} ${properties.profile ?? ""} ${name}`,
    resource,
  );
  return other
    ? [
        {
          path: key,
          rule: `must be unique: ${other.label} of this program has ${JSON.stringify(name)}, too. Give ${resource.label} or ${other.label} another ${key}`,
        },
      ]
    : [];
};

/** An id of another resource of the program tells its kind before the service does. */
const referenceViolations = ({ definition, run }: Context, properties: Properties): Violation[] =>
  referencesIn(definition.fields, properties.fields).flatMap(({ path, to, id }) => {
    const holder = typeof id === "string" ? run.decisions.holderOf(id) : undefined;
    return holder && holder.kind !== to.kind
      ? [
          {
            path,
            rule: `must be the id of ${withArticle(to.noun)}; ${id} is ${holder.label} of this program`,
          },
        ]
      : [];
  });

const told = ({ definition }: Context, { path, rule }: Violation): string =>
  path ? `${path} ${rule}` : `${definition.kind} ${rule}`;

/**
 * Every rule that the inputs of a resource break, each as a sentence that names the property.
 *
 * @param properties the inputs in their normal form
 * @param old the inputs in the state; undefined for a resource that is not there yet
 */
export const inputViolations = (
  context: Context,
  news: JsonObject,
  properties: Properties,
  old: Properties | undefined,
): readonly string[] =>
  [
    ...violations(context.definition, properties.fields),
    ...adoptViolations(news.adopt),
    ...eraseViolations(news.eraseHidden),
    ...extraRules(context.definition, news.extra),
    ...profileViolations(news.profile),
    ...movedViolations(old, properties),
    ...nameViolations(context, properties),
    ...referenceViolations(context, properties),
  ].map((violation) => told(context, violation));
