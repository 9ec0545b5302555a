import { isDeepStrictEqual } from "node:util";
import { sameFields } from "../definition/meaning/same.js";
import { normaliseFields } from "../definition/normalise.js";
import { typedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import { isConversationError } from "../kernel/errors.js";
import { inertOutput } from "../kernel/inert-text.js";
import type { JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import { adoptee } from "./adoption/adopt.js";
import { adoptionText } from "./adoption/adoption-text.js";
import { knownObjects } from "./adoption/known-objects.js";
import { connected, type Declared } from "./declared.js";
import { doubtfulReferences, inputViolations, isKnown } from "./input-rules.js";
import { seenObject } from "./ownership/seen-object.js";
import { assertNothingErased } from "./put-in-place.js";
import { planPut } from "./put-plan.js";
import type { Resource } from "./resource.js";
import { checkedSettings } from "./run/settings-check.js";
import { checkedSecrets } from "./state/environment-secrets.js";
import { type Properties, propertiesIn } from "./state/properties.js";
import { stateInputs } from "./state/state-values.js";

/** Inputs in their normal form, and why they cannot be taken. */
export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/**
 * Inputs in their normal form, and every rule they break. Makes no call but for `adopt`. A failure
 * names its path in the reason and leaves `property` empty, because the engine would print the
 * property's value, secrets included.
 */
export const check = async (
  given: Resource,
  olds: JsonObject,
  news: JsonObject,
): Promise<CheckedInputs> => {
  const old = Object.keys(olds).length > 0 ? propertiesIn(olds) : undefined;
  // A transform may have put another name in the place of the one that was made.
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
    for (const doubt of doubtfulReferences(resource)) run.tell?.(doubt, "warning");
  if (!old && failures.length === 0) {
    run.foresee?.(resource, properties.adopt === undefined ? "create" : "adopt");
  }
  return {
    inputs: stateInputs(definition, (adoption.resource ?? resource).properties),
    failures: failures.map((reason) => ({ property: "", reason: inertOutput(reason, false) })),
  };
};

/**
 * The inputs in their normal form. A name that was made stays, also where another release would make
 * another one. Defaults are for objects that this program makes: what was taken over keeps what it had.
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

/** The outputs of an imported object may not tell a change: they lack the secrets that nobody read. */
const noteChange = ({ definition, run, identity, properties }: Resource, old: Properties): void => {
  const before = normaliseFields(definition, old.fields, () => false);
  if (identity && !sameFields(definition.fields, before, properties.fields))
    run.decisions.changed.add(identity.key);
};

/**
 * Looks at the object that is to be taken over and tells what will change. The one check that makes
 * calls, and only while the resource is not in the state; it never writes.
 *
 * @param isNamed whether the program gives the name; otherwise the object keeps its own
 * @returns the resource as it will be; why not, where it cannot be
 */
const adopted = async (
  resource: Resource,
  isNamed: boolean,
): Promise<{ readonly resource?: Resource; readonly reason?: string }> => {
  try {
    const declared = await connected(resource);
    const { definition, properties, settings, run } = declared;
    if (declared.name === unknownValue && properties.adopt === true) return {};
    const found = await adoptee(declared, await knownObjects(declared));
    const live = fieldsFromWire(definition.fields, found, settings);
    const { name } = typedFields(definition.fields, live);
    const keepsName = !isNamed && name !== undefined;
    const kept = keepsName ? named(declared, name) : declared;
    // Under forced replacement the object is the resource's own already.
    if (!seenObject(declared, found.id, found).isOwn) {
      const plan = planPut(kept, found);
      assertNothingErased(kept, plan);
      run.tell?.(adoptionText(kept, plan), "info");
    }
    return { resource: kept };
  } catch (error) {
    if (isConversationError(error)) return { reason: error.message };
    throw error;
  }
};

/** The resource under a name that it was not given. */
const named = (declared: Declared, name: unknown): Declared => {
  const { properties, nameKey } = declared;
  const fields: JsonObject = { ...properties.fields, name };
  return { ...declared, name: fields[nameKey], properties: { ...properties, fields } };
};
