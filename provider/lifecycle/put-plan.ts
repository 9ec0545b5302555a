import { mergeFields } from "../definition/wire/merge.js";
import type { JsonObject } from "../kernel/json.js";
import type { Declared, Found } from "./declared.js";
import { desiredBody } from "./desired-body.js";
import { seenObject } from "./ownership/seen-object.js";
import { asWritten, lastWritten } from "./state/environment-secrets.js";

/** What a PUT is going to do to an object. */
export interface PutPlan {
  readonly live: Found;
  readonly body: JsonObject;
  readonly serial: string;
  readonly isMarked: boolean;
  /** Members that the program does not name and that stay. */
  readonly undeclared: readonly string[];
  /** Members that the program does not name, that the service hides and that the PUT would erase. */
  readonly hidden: readonly string[];
  /** Members that the program names no more and that stay, as this tenant's PUT keeps what it leaves out. */
  readonly staying: readonly string[];
}

/**
 * What the object is to become. What the program does not declare is kept, the description of a
 * person too.
 *
 * @param before the resource as the program had it when the object was last written; undefined where
 *   it never was
 */
export const planPut = (declared: Declared, live: Found, before?: Declared): PutPlan => {
  const { definition, settings } = declared;
  const { id: _, created: __, modified, ...rest } = live;
  // Where the program wrote the description last time, nothing of it is a person's.
  const isPrograms = before?.properties.fields.description !== undefined;
  const description = isPrograms ? undefined : live.description;
  const soFar = { serial: serialOf(before ?? declared, live), description };
  const last = before && lastWritten(before, declared);
  const desired = desiredBody(asWritten(declared), soFar);
  const { serial, isMarked } = desired;
  const prior = last ? desiredBody(last, { serial }).body : {};
  const {
    body: merged,
    undeclared,
    hidden,
  } = mergeFields({
    fields: definition.fields,
    rule: definition.rule,
    live: rest,
    desired: desired.body,
    prior,
    keeps: settings.put === "keep",
  });
  // A service may refuse to write over a change that came after this one (public reference).
  const body = modified === undefined ? merged : { ...merged, modified };
  const isStaying = (wire: string): boolean =>
    live[wire] !== undefined && live[wire] !== null && !Object.hasOwn(body, wire);
  const staying = settings.put === "keep" ? Object.keys(prior).filter(isStaying) : [];
  return { live, body, serial, isMarked, undeclared, hidden, staying };
};

/** The serial by which the state, or else the object itself, is known. */
const serialOf = (declared: Declared, live: Found): string | undefined => {
  const { serial } = declared.properties.record;
  if (serial) return serial;
  const { isOwn, mark } = seenObject(declared, live.id, live);
  return isOwn ? mark?.serial : undefined;
};
