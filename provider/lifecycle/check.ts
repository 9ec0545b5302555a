import { isDeepStrictEqual } from "node:util";
import { changesOf, changeText } from "../definition/changes.js";
import { normaliseFields, referencesIn, withArticle } from "../definition/fields.js";
import { sameFields } from "../definition/meaning.js";
import { fieldsWithSecrets } from "../definition/secrets.js";
import { ConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId, isServiceId } from "../kernel/object-id.js";
import { holdsUndisclosed, unknownValue } from "../kernel/stand-ins.js";
import { inertOutput, quoted } from "../kernel/text.js";
import { adopted } from "./adoption.js";
import { checkedSettings, inputViolations, isKnown, isMarked } from "./input-rules.js";
import { propertiesIn } from "./properties.js";
import type { Resource } from "./run.js";
import { stateInputs } from "./state.js";

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
  const settings = isChanged && checkedSettings(run, properties.profile);
  const against = { news, old, references, namesake, reports: isChanged };
  const broken = inputViolations(resource, against);
  const reasons = [...broken, ...(settings ? settings.reasons : [])];
  const mayAdopt = reasons.length === 0 && settings && settings.areThere;
  const adopts = !old && isKnown(properties.adopt) && mayAdopt;
  const adoption = adopts ? await adopted(resource, isNamed) : {};
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
  const extras = isObject(properties.extra) ? Object.keys(properties.extra) : [];
  if (isChanged && failures.length === 0 && extras.length > 0)
    run.notify?.(
      `extra has ${extras.join(", ")}. The service is documented to refuse members that it does not know (400-420): set extra only if your tenant takes them.`,
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
export const stillAllowed = (given: Resource, news: JsonObject, olds?: JsonObject): Resource => {
  const { definition, nameKey } = given;
  const fields = normaliseFields(definition, given.properties.fields, () => false);
  const resource = { ...given, name: fields[nameKey], properties: { ...given.properties, fields } };
  const old = olds && propertiesIn(olds);
  const references = referencesIn(definition.fields, fields);
  const against = { news, old, references, namesake: undefined, reports: false };
  const reasons = inputViolations(resource, against);
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
    isDeepStrictEqual(old.extra, next.extra) &&
    isDeepStrictEqual(old.extraSecrets, next.extraSecrets) &&
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
