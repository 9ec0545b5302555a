import type { Definition, Field } from "../../provider/definition/define.js";
import { looksMasked } from "../../provider/definition/fields.js";
import { sameMeaning } from "../../provider/definition/meaning.js";
import {
  type AlignedPart,
  alignMembers,
  alignParts,
  fieldsFromWire,
  isMissing,
} from "../../provider/definition/wire.js";
import { asText, type JsonObject } from "../../provider/kernel/json.js";
import { environmentSecretsIn, holdsUndisclosed } from "../../provider/kernel/stand-ins.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/settings.js";

/** A secret of a resource: what the state has, and what the service shows in its place. */
export interface SecretPlace {
  readonly field: Field;
  /** As a program would write it, such as `basicAuth.password`. */
  readonly path: string;
  readonly prior: unknown;
  readonly live: unknown;
}

const secretsIn = (parts: readonly AlignedPart[]): readonly SecretPlace[] =>
  parts.flatMap(({ field, path, values: [prior, live] }) => {
    if (isMissing(prior)) return [];
    if (field.secret) return [{ field, path, prior, live }];
    const inner = alignParts(field, [prior, live], path) ?? [];
    // An item that is gone is a change of its list, not of its secrets.
    const isGone = ({ values: [, there] }: AlignedPart) => there === undefined;
    return secretsIn(field.type === "list" ? inner.filter((part) => !isGone(part)) : inner);
  });

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
): readonly SecretPlace[] =>
  secretsIn(alignMembers(fields, [prior, fieldsFromWire(fields, wire, settings)], ""));

/** What is known about the secrets of a whole account, as a service treats them alike. */
interface SecretEvidence {
  /** It has shown one in plain text. */
  readonly echoes: boolean;
  /** Texts that it shows in place of more than one secret: masks of its own. */
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
  return echoes || !masks.has(asText(place.live)) ? "changed" : "hidden";
};
