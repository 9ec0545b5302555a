import { typedFields } from "../definition/changes.js";
import { mergeFields } from "../definition/merge.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { type JsonObject, objectOf } from "../kernel/json.js";
import { isUnclear } from "../service/collections.js";
import type { WireObject } from "../service/lists.js";
import { settingLabel } from "../service/settings.js";
import {
  asWritten,
  desiredBody,
  desiredObject,
  holdsFields,
  lastWritten,
  type Target,
} from "./body.js";
import type { ObjectRecord, Properties } from "./properties.js";
import type { Declared } from "./run.js";
import { describe, type Found, seenObject, wholeObject } from "./seen.js";

/** The planned effect of a PUT on an object. */
export interface PutPlan {
  readonly live: Found;
  readonly body: JsonObject;
  /** The same in a program's terms, without `extra`. */
  readonly fields: JsonObject;
  readonly serial: string;
  readonly isMarked: boolean;
  /** Undeclared members that the PUT keeps. */
  readonly undeclared: readonly string[];
  /** Undeclared members that the service hides and that the PUT would erase. */
  readonly hidden: readonly string[];
  /**
   * Members that the program no longer declares but that remain because this tenant's PUT keeps
   * omitted members.
   */
  readonly staying: readonly string[];
}

/** What the program wants of an object, and what it wanted last time, in its own terms. */
interface Wanted {
  readonly desired: Pick<Properties, "fields" | "extra">;
  readonly prior: JsonObject;
}

/**
 * Returns the body of a PUT that gives a live object the desired content, and what the PUT does to
 * everything else.
 */
export const writtenOver = (
  { definition, settings }: Target,
  wire: WireObject,
  { desired, prior }: Wanted,
) => {
  const { fields, rule } = definition;
  const { modified } = wire;
  const live = typedFields(fields, fieldsFromWire(fields, wire, settings));
  const sides = { live, desired: desired.fields, prior };
  const { merged, ...rest } = mergeFields({
    ...{ fields, rule, ...sides },
    keeps: settings.put === "keep",
  });
  const body = desiredBody({ definition, settings }, { ...desired, fields: merged });
  // A service may refuse to overwrite a later change than this one (public reference).
  const fresh = typeof modified === "string" ? { ...body, modified } : body;
  return { body: fresh, fields: merged, ...rest };
};

/**
 * Plans the new content of an object. Keeps members that the program has never declared, including
 * a description that a person wrote, unless no field defines them.
 *
 * @param before the resource as the program had it when the object was last written; undefined if
 * it was never written
 */
export const planPut = (declared: Declared, live: Found, before?: Declared): PutPlan => {
  const { settings } = declared;
  // If the program wrote the last description, no part of it is a person's.
  const isPrograms = before?.properties.fields.description !== undefined;
  const description = isPrograms ? undefined : live.description;
  const soFar = { serial: serialOf(before ?? declared, live), description };
  const last = before && lastWritten(before, declared);
  const desired = desiredObject(asWritten(declared), soFar);
  const { serial, isMarked } = desired;
  const prior = last && desiredObject(last, { serial });
  const written = writtenOver(declared, live, { desired, prior: prior?.fields ?? {} });
  const { body } = written;
  const isStaying = (wire: string): boolean =>
    live[wire] !== undefined && live[wire] !== null && !Object.hasOwn(body, wire);
  const staying =
    prior && settings.put === "keep"
      ? Object.keys(desiredBody(declared, prior)).filter(isStaying)
      : [];
  return { ...written, live, serial, isMarked, staying };
};

/** The serial by which the state, or otherwise the object itself, identifies it. */
const serialOf = (declared: Declared, live: Found): string | undefined => {
  const { serial } = declared.properties.record;
  if (serial) return serial;
  const { isOwn, mark } = seenObject(declared, live.id, live);
  return isOwn ? mark?.serial : undefined;
};

/**
 * Refuses a PUT that would erase hidden members, unless the program declares them or allows erasing
 * them.
 */
export const assertNothingErased = (
  { definition, properties, settings }: Declared,
  plan: PutPlan,
): void => {
  const { hidden, live } = plan;
  if (hidden.length === 0 || properties.eraseHidden) return;
  const [one] = hidden;
  const [members, them, they] =
    hidden.length === 1 ? ["a member", "it", "it"] : ["members", "them", "they"];
  throw new ConversationError(
    "HIDDEN_MEMBER",
    `the ${describe(definition, live)} has ${members} that the program does not declare ` +
      `and that the service does not show: ${hidden.join(", ")}. A PUT would erase ${them}. Nothing was changed. ` +
      `Declare ${hidden.length === 1 ? `${one} with its value` : "them with their values"}, or set eraseHidden: true if ${they} may be erased` +
      // Then they are in a part of the object that the program declares.
      (settings.put === "keep"
        ? "."
        : `, or set ${settingLabel("put", settings.profile)} to "keep" if this tenant's PUT keeps omitted members.`),
  );
};

/** Writes the object in one PUT and returns what is known about it afterward. */
export const putInPlace = async (declared: Declared, plan: PutPlan): Promise<ObjectRecord> => {
  const { definition, run, settings } = declared;
  const { live, serial, isMarked, undeclared, staying } = plan;
  assertNothingErased(declared, plan);
  const modified = await replaced(declared, plan);
  if (staying.length > 0) {
    run.notify?.(
      `the ${describe(definition, live)} still has ${staying.join(", ")}, which the program no longer declares: ` +
        `this tenant's PUT keeps omitted members, according to ${settingLabel("put", settings.profile)}. Remove ${staying.length === 1 ? "it" : "them"} by hand in the service.`,
      "warning",
    );
  }
  return objectOf([
    ["serial", isMarked ? serial : undefined],
    ["created", typeof live.created === "string" ? live.created : undefined],
    ["modified", modified],
    ["undeclared", undeclared.length > 0 ? undeclared : undefined],
  ]) as ObjectRecord;
};

/**
 * Sends the PUT and returns when the object was changed. If the answer did not come from the
 * service, the content of the object shows whether it was written.
 */
const replaced = async (
  declared: Declared,
  { live, body, fields }: PutPlan,
): Promise<string | undefined> => {
  const { definition, service } = declared;
  try {
    return (await service.replace(definition, live.id, body)).modified;
  } catch (error) {
    if (!isUnclear(error)) throw error;
    const now = await wholeObject(declared, live.id);
    if (!now || !holdsFields(declared, now, fields)) throw error;
    return typeof now.modified === "string" ? now.modified : undefined;
  }
};
