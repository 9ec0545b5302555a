import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { itemPath, memberPath } from "../../provider/definition/fields.js";
import { pairs, plainText, sameMeaning } from "../../provider/definition/meaning.js";
import { isMissing } from "../../provider/definition/merge.js";
import { looksMasked } from "../../provider/definition/secrets.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { asText, isObject, type JsonObject, listAt, memberOf } from "../../provider/kernel/json.js";
import { environmentSecretsIn, holdsUndisclosed } from "../../provider/kernel/stand-ins.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";

/** A secret of a resource: what the state has, and what the service shows in its place. */
export interface SecretPlace {
  readonly field: Field;
  /** As a program would write it, such as `basicAuth.password`. */
  readonly path: string;
  readonly prior: unknown;
  readonly live: unknown;
}

const inEntries = (of: Field, path: string, prior: JsonObject, live: unknown): SecretPlace[] => {
  const there = isObject(live) ? Object.entries(live) : [];
  return Object.entries(prior).flatMap(([key, value]) => {
    const found = there.find(([name]) => plainText(name) === plainText(key));
    return inField(of, memberPath(path, key), value, found?.[1]);
  });
};

const inField = (field: Field, path: string, prior: unknown, live: unknown): SecretPlace[] => {
  if (isMissing(prior)) return [];
  if (field.secret) return [{ field, path, prior, live }];
  if (field.type === "object" && isObject(prior))
    return inFields(field.fields, prior, isObject(live) ? live : {}, path);
  if (field.type === "map" && isObject(prior)) return inEntries(field.of, path, prior, live);
  if (field.type !== "list" || !Array.isArray(prior)) return [];
  const items = listAt(live);
  const places = pairs(field, prior, items);
  return prior.flatMap((item: unknown, at) => {
    const place = places[at];
    // An item that is gone is a change of its list, not of its secrets.
    if (place === undefined) return [];
    return inField(field.of, itemPath(path, field, item, at), item, items[place]);
  });
};

const inFields = (fields: Fields, prior: JsonObject, live: JsonObject, path = ""): SecretPlace[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    inField(field, memberPath(path, name), memberOf(prior, name), memberOf(live, name)),
  );

/**
 * Every secret that a state gives an object.
 *
 * @param prior the values of the state, in plain text
 */
export const secretPlaces = (
  { fields }: Definition,
  prior: JsonObject,
  wire: WireObject,
  settings: Settings,
): readonly SecretPlace[] => inFields(fields, prior, fieldsFromWire(fields, wire, settings));

/** What is known about the secrets of a whole account, as a service treats them alike. */
interface SecretEvidence {
  /** It has shown one in plain text. */
  readonly echoes: boolean;
  /** Texts that it shows in place of more than one secret. */
  readonly masks: ReadonlySet<string>;
  /** Fields of which it has shown something, if only a mask. */
  readonly shown: ReadonlySet<Field>;
}

const isSame = ({ field: { secret: _, ...open }, live, prior }: SecretPlace): boolean =>
  sameMeaning(open, live, prior);

const isShown = ({ live }: SecretPlace): boolean => !isMissing(live) && !looksMasked(asText(live));

/** Whether the state has something else in its place: the name of an environment variable, or what an import did not read. */
const isElsewhere = ({ prior }: SecretPlace): boolean =>
  environmentSecretsIn(prior).length > 0 || holdsUndisclosed(prior);

/** What the secrets of an account reveal about how the service treats them. */
export const secretEvidence = (all: readonly SecretPlace[]): SecretEvidence => {
  const places = all.filter((place) => !isElsewhere(place));
  const others = places.filter((place) => isShown(place) && !isSame(place));
  const texts = others.map(({ live }) => asText(live));
  return {
    echoes: places.some((place) => isShown(place) && isSame(place)),
    masks: new Set(texts.filter((text, at) => texts.indexOf(text) !== at)),
    shown: new Set(places.flatMap(({ field, live }) => (isMissing(live) ? [] : [field]))),
  };
};

/** A hash or a cipher, as some services show it in place of a secret. */
const looksHashed = (text: string): boolean =>
  /^(\$\w+\$|(sha|md5|hmac|v\d+:))/i.test(text) || /^[A-Za-z0-9+/_-]{24,}={0,2}$/.test(text);

/**
 * The standing of a secret: as the state has it, changed by somebody, or hidden and therefore
 * unknown.
 *
 * @param isTouched whether somebody changed the object after it was written
 */
export const secretStanding = (
  place: SecretPlace,
  { echoes, masks, shown }: SecretEvidence,
  isTouched: boolean,
): "same" | "changed" | "hidden" => {
  // The service may already have left it out during the import.
  if (holdsUndisclosed(place.prior)) return "hidden";
  const isGone = isMissing(place.live) && (shown.has(place.field) || (echoes && isTouched));
  if (isGone) return "changed";
  if (!isShown(place) || isElsewhere(place)) return "hidden";
  if (isSame(place)) return "same";
  if (echoes) return "changed";
  const text = asText(place.live);
  return masks.has(text) || looksHashed(text) ? "hidden" : "changed";
};
