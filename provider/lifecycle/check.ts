import type { Definition } from "../definition/define.js";
import { extraViolations } from "../definition/extra.js";
import type { JsonObject } from "../definition/json.js";
import { normaliseFields } from "../definition/normalise.js";
import { isId } from "../definition/object-id.js";
import { type Violation, violations } from "../definition/schema.js";
import { unknownValue } from "../definition/unknown.js";
import { join, type Properties, split } from "./properties.js";
import { sealFields } from "./secrets.js";

export interface CheckResult {
  readonly inputs: JsonObject;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

const adoptViolations = (adopt: unknown): Violation[] => {
  const fine =
    adopt === undefined || typeof adopt === "boolean" || adopt === unknownValue || isId(adopt);
  return fine ? [] : [{ path: "adopt", rule: "must be true or the id of the object to take over" }];
};

const profileViolations = (profile: unknown): Violation[] => {
  if (profile === undefined || profile === unknownValue) return [];
  if (typeof profile !== "string" || !/^[A-Za-z][\w-]{0,63}$/.test(profile)) {
    return [{ path: "profile", rule: "must be a name of letters, digits, _ and -" }];
  }
  return [];
};

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

/**
 * Inputs in their normal form, and every rule they break. Pure: no call, no settings. A failure
 * names its path in the reason and leaves `property` empty, because the engine would print the
 * property's value, secrets included.
 */
export const check = (definition: Definition, olds: JsonObject, news: JsonObject): CheckResult => {
  const { adopt, extra, profile } = news;
  const given = split(news);
  const old = Object.keys(olds).length > 0 ? split(olds) : undefined;
  const kept = news.autoName !== undefined && old?.fields.name ? { name: old.fields.name } : {};
  const properties = {
    ...given,
    fields: normaliseFields(definition, { ...given.fields, ...kept }),
  };
  const broken = [
    ...violations(definition, properties.fields),
    ...adoptViolations(adopt),
    ...extraViolations(definition, extra),
    ...profileViolations(profile),
    ...movedViolations(old, properties),
  ];
  return {
    inputs: join({ ...properties, fields: sealFields(definition.fields, properties.fields) }, true),
    failures: broken.map(({ path, rule }) => ({
      property: "",
      reason: path ? `${path} ${rule}` : `${definition.kind} ${rule}`,
    })),
  };
};
