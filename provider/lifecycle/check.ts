import { isDeepStrictEqual } from "node:util";
import { normaliseFields } from "../definition/normalise.js";
import { typedFields } from "../definition/wire/managed.js";
import { fieldsFromWire } from "../definition/wire/wire.js";
import { isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import { unknownValue } from "../kernel/unknown.js";
import { adoptee } from "./adoption/adopt.js";
import { adoptionText } from "./adoption/adoption-text.js";
import { knownObjects } from "./adoption/known-objects.js";
import { type Context, type Declared, declaredIn, isOwn } from "./declared.js";
import { inputViolations, isKnown } from "./input-rules.js";
import { stateInputs } from "./outputs.js";
import { type Properties, split } from "./properties.js";
import { assertNothingErased, planPut } from "./put-in-place.js";

export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** A name once made stays, also where another release would make another one. */
const withKeptName = (fields: JsonObject, old: Properties | undefined, isMade: boolean) =>
  isMade && typeof old?.fields.name === "string" ? { ...fields, name: old.fields.name } : fields;

/** Whether the name was made and not given: a transform may have put another in its place. */
const isAutomatic = ({ autoName, name }: JsonObject): boolean =>
  autoName !== undefined && autoName === name;

/** Bad settings are refused where there is something to do; missing ones may be there when it is done. */
const settingFailures = ({ run }: Context, { profile }: Properties): readonly string[] => {
  if (profile === unknownValue) return [];
  try {
    assertNode();
    run.settings?.(profile);
    return [];
  } catch (error) {
    if (!isConversationError(error)) throw error;
    if (error.code !== "SETTINGS_MISSING") return [error.message];
    run.tell?.(`${error.message} A preview goes on without them; pulumi up will not.`, "warning");
    return [];
  }
};

/** Whether the settings are there and can be used. */
const hasSettings = ({ run }: Context, { profile }: Properties): boolean => {
  try {
    run.settings?.(profile);
    return profile !== unknownValue;
  } catch {
    return false;
  }
};

/**
 * Looks at the object that is to be taken over and tells what will change. The one check that makes
 * calls, and only while the resource is not in the state; it never writes.
 *
 * @param isNamed whether the program gives the name; otherwise the object keeps its own
 * @returns the resource as it will be; why not, where it cannot be
 */
const adopted = async (
  context: Context,
  bag: JsonObject,
  isNamed: boolean,
): Promise<{ readonly fields?: JsonObject; readonly reason?: string }> => {
  try {
    const declared = await declaredIn(context, bag);
    const { definition, properties, settings } = declared;
    if (declared.name === unknownValue && properties.adopt === true) return {};
    const found = await adoptee(declared, await knownObjects(declared));
    const { name } = typedFields(
      definition.fields,
      fieldsFromWire(definition.fields, found, settings),
    );
    const kept = isNamed || name === undefined ? declared : renamed(declared, name);
    // Under forced replacement the object is the resource's own already.
    if (!isOwn(declared, found)) {
      const plan = planPut(kept, found);
      assertNothingErased(kept, plan);
      context.run.tell?.(adoptionText(kept, plan), "info");
    }
    return { fields: kept.properties.fields };
  } catch (error) {
    if (isConversationError(error)) return { reason: error.message };
    throw error;
  }
};

const renamed = (declared: Declared, name: unknown): Declared => ({
  ...declared,
  name,
  properties: { ...declared.properties, fields: { ...declared.properties.fields, name } },
});

/**
 * Inputs in their normal form, and every rule they break. Makes no call but for `adopt`. A failure
 * names its path in the reason and leaves `property` empty, because the engine would print the
 * property's value, secrets included.
 */
export const check = async (
  context: Context,
  olds: JsonObject,
  news: JsonObject,
): Promise<CheckedInputs> => {
  const { definition } = context;
  const given = split(news);
  const old = Object.keys(olds).length > 0 ? split(olds) : undefined;
  const fields = normaliseFields(definition, withKeptName(given.fields, old, isAutomatic(news)));
  const properties = { ...given, fields };
  const isChanged =
    !old || !isDeepStrictEqual(stateInputs(definition, old), stateInputs(definition, properties));
  const broken = inputViolations(context, news, properties, old);
  const reasons = [...broken, ...(isChanged ? settingFailures(context, properties) : [])];
  const adopts = !old && isKnown(given.adopt) && reasons.length === 0;
  const adoption =
    adopts && hasSettings(context, properties)
      ? await adopted(context, { ...news, ...fields }, !isAutomatic(news))
      : {};
  return {
    inputs: stateInputs(definition, { ...properties, fields: adoption.fields ?? fields }),
    failures: [...reasons, ...(adoption.reason ? [adoption.reason] : [])].map((reason) => ({
      property: "",
      reason,
    })),
  };
};
