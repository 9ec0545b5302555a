import { isDeepStrictEqual } from "node:util";
import { sameFields } from "../definition/meaning/same.js";
import { normaliseFields } from "../definition/normalise.js";
import { automaticKey } from "../definition/references.js";
import { typedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import { isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import { unknownValue } from "../kernel/unknown.js";
import { adoptee } from "./adoption/adopt.js";
import { adoptionText } from "./adoption/adoption-text.js";
import { knownObjects } from "./adoption/known-objects.js";
import type { ResourceIdentity } from "./decisions.js";
import { connected, type Resource } from "./declared.js";
import { inputViolations, isKnown } from "./input-rules.js";
import { seenObject } from "./ownership/seen-object.js";
import { assertNothingErased, planPut } from "./put-in-place.js";
import { tellMissingSecrets } from "./state/environment-secrets.js";
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
  const resource = normalised(given, isNamed ? undefined : old);
  const { definition, properties } = resource;
  const namesake = declare(resource);
  const isChanged =
    !old || !isDeepStrictEqual(stateInputs(definition, old), stateInputs(definition, properties));
  if (old && isChanged) noteChange(resource, old);
  const settings = isChanged ? checkedSettings(resource) : { reasons: [], areThere: false };
  if (isChanged) tellMissingSecrets(resource);
  const broken = inputViolations(resource, news, old, namesake);
  const reasons = [...broken, ...settings.reasons];
  const adopts = !old && isKnown(properties.adopt) && reasons.length === 0 && settings.areThere;
  const adoption = adopts ? await adopted(resource, isNamed) : {};
  return {
    inputs: stateInputs(definition, (adoption.resource ?? resource).properties),
    failures: [...reasons, ...(adoption.reason ? [adoption.reason] : [])].map((reason) => ({
      property: "",
      reason,
    })),
  };
};

/**
 * The inputs in their normal form.
 *
 * @param old the inputs in the state, where the name was made: it stays, also where another release
 *   would make another one
 */
const normalised = (resource: Resource, old: Properties | undefined): Resource => {
  const { definition, properties } = resource;
  const key = automaticKey(definition) ?? "";
  const kept = old?.fields[key];
  const made = typeof kept === "string" ? { [key]: kept } : {};
  return withFields(resource, normaliseFields(definition, { ...properties.fields, ...made }));
};

/** The outputs of an imported object may not tell a change: they lack the secrets that nobody read. */
const noteChange = ({ definition, run, identity, properties }: Resource, old: Properties): void => {
  const before = normaliseFields(definition, old.fields);
  if (identity && !sameFields(definition.fields, before, properties.fields))
    run.decisions.changed.add(identity.key);
};

const withFields = <R extends Resource>(resource: R, fields: JsonObject): R => ({
  ...resource,
  name: fields[resource.nameKey],
  properties: { ...resource.properties, fields },
});

/** Bad settings are refused where there is something to do; missing ones may be there when it is done. */
const checkedSettings = ({ run, properties: { profile } }: Resource) => {
  if (profile === unknownValue) return { reasons: [], areThere: false };
  try {
    assertNode();
    run.settings?.(profile);
    return { reasons: [], areThere: true };
  } catch (error) {
    if (!isConversationError(error)) throw error;
    if (error.code !== "SETTINGS_MISSING") return { reasons: [error.message], areThere: false };
    run.tell?.(`${error.message} A preview goes on without them; pulumi up will not.`, "warning");
    return { reasons: [], areThere: false };
  }
};

/** Tells the run that the program has the resource. @returns another one of the same unique name */
const declare = (resource: Resource): ResourceIdentity | undefined => {
  const { definition, run, identity, isUnique, name, properties } = resource;
  const isClaimed = isUnique && typeof name === "string" && name !== unknownValue;
  const claim = `${definition.kind} ${properties.profile ?? ""} ${name}`;
  return identity && run.decisions.declare(identity, isClaimed ? claim : undefined);
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
    const kept = keepsName ? withFields(declared, { ...properties.fields, name }) : declared;
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
