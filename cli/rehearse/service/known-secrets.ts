import type { Field, Fields, ListField, MapField } from "../../../provider/definition/define.js";
import { isMissing, looksMasked } from "../../../provider/definition/merge.js";
import { entriesByKey, itemsOf, partnersOf } from "../../../provider/definition/pairs.js";
import { holdsSecret } from "../../../provider/definition/walk.js";
import { fieldsByWireName, membersOf } from "../../../provider/definition/wire.js";
import { isObject, type JsonObject, memberOf, objectOf } from "../../../provider/kernel/json.js";

/** Stands for a secret that nobody here knows where the service leaves it out: an object must have one. */
const unknownSecret = "not-known";

/** What a service does with the secrets of the objects that it gives back. */
export interface SecretsSeen {
  masked: number;
  omitted: number;
  echoed: number;
}

/** A secret as the copy is to have it: what the state knows, where the service hides it. */
const secretOf = (live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (isMissing(live)) {
    if (known === undefined) return undefined;
    seen.omitted += 1;
    return known;
  }
  const isHidden = typeof live === "string" && looksMasked(live) && live !== known;
  seen[isHidden ? "masked" : "echoed"] += 1;
  return isHidden ? (known ?? live) : live;
};

const inList = (field: ListField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  const items = itemsOf(field, live);
  const partners = partnersOf(field, items, itemsOf(field, known));
  const revealed = items.map((item, place) => revealedValue(field.of, item, partners[place], seen));
  if (Array.isArray(live)) return revealed;
  return field.envelope && isObject(live) ? { ...live, [field.envelope]: revealed } : live;
};

const inMap = (field: MapField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (!Array.isArray(live)) return live;
  const { key, value } = membersOf(field);
  const entries = entriesByKey(field, known);
  return live.map((entry: unknown) =>
    isObject(entry)
      ? {
          ...entry,
          [value]:
            revealedValue(field.of, entry[value], entries.get(String(entry[key]))?.[value], seen) ??
            unknownSecret,
        }
      : entry,
  );
};

const revealedValue = (field: Field, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (field.secret)
    return secretOf(live, known, seen) ?? (field.required ? unknownSecret : undefined);
  if (!holdsSecret(field) || isMissing(live)) return live;
  switch (field.type) {
    case "object":
      return isObject(live)
        ? membersWithSecrets(field.fields, live, isObject(known) ? known : {}, seen)
        : live;
    case "list":
      return inList(field, live, known, seen);
    case "map":
      return inMap(field, live, known, seen);
    default:
      return live;
  }
};

/**
 * An object as the service keeps it, as far as that can be known: what it hides comes from the state.
 *
 * @param known the object as the state knows it, in the service's JSON; empty where no state does
 * @param seen counts what the service does with secrets
 */
export const membersWithSecrets = (
  fields: Fields,
  live: JsonObject,
  known: JsonObject,
  seen: SecretsSeen,
): JsonObject => {
  const secretFields = [...fieldsByWireName(fields)].flatMap(([name, [, field]]) =>
    holdsSecret(field) ? [[name, field] as const] : [],
  );
  const revealed = secretFields.map(
    ([name, field]) =>
      [name, revealedValue(field, memberOf(live, name), memberOf(known, name), seen)] as const,
  );
  return objectOf([...Object.entries(live), ...revealed]);
};
