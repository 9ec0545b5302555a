import { isDeepStrictEqual } from "node:util";
import { sameFields } from "../definition/meaning.js";
import { normaliseFields } from "../definition/normalise.js";
import type { JsonObject } from "../kernel/json.js";
import { holdsUndisclosed } from "../kernel/stand-ins.js";
import type { Resource } from "./resource.js";
import { propertiesIn } from "./state.js";

export interface DiffResult {
  readonly changes?: boolean;
}

/**
 * What the engine gets to know of a difference between state and program: nothing if inputs differ,
 * as it then compares them itself and shows every property. Nothing is ever replaced.
 *
 * State of an older shape cannot be compared by the engine's means; it is updated once.
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
  // Its inputs are not those of the last refresh, so that the engine cannot find what differs.
  return isImported ? { changes: true } : {};
};
