import { isObject } from "../../kernel/json.js";
import type { Field, Fields, ListField, MapField } from "../define.js";
import { sameContent } from "../meaning/text-forms.js";
import { entriesByKey, itemsOf, memberSides, partnersOf, type Sides } from "./pairs.js";
import { membersOf, wireName } from "./wire.js";

/** How the service treats secrets, as far as one object shows it by those whose value is known. */
export interface Evidence {
  /** It shows them as they are. */
  readonly echoes: boolean;
  /** It leaves them out. */
  readonly omits: boolean;
  /** What it shows in place of all of them. */
  readonly mask?: string;
}

const inObject = (fields: Fields, sides: Sides): Sides[] =>
  isObject(sides.live)
    ? Object.entries(fields).flatMap(([name, field]) =>
        declaredSecrets(field, memberSides(sides, wireName(name, field))),
      )
    : [];

const inList = (field: ListField, { live, desired, prior }: Sides): Sides[] => {
  const known = itemsOf(field, prior);
  const there = partnersOf(field, known, itemsOf(field, live));
  const wanted = partnersOf(field, known, itemsOf(field, desired));
  return known.flatMap((item, place) =>
    there[place] === undefined
      ? []
      : declaredSecrets(field.of, { live: there[place], desired: wanted[place], prior: item }),
  );
};

const inMap = (field: MapField, { live, desired, prior }: Sides): Sides[] => {
  const [there, wanted] = [entriesByKey(field, live), entriesByKey(field, desired)];
  const { value } = membersOf(field);
  return [...entriesByKey(field, prior)].flatMap(([key, entry]) => {
    const sides = { live: there.get(key), desired: wanted.get(key), prior: entry };
    return sides.live ? declaredSecrets(field.of, memberSides(sides, value)) : [];
  });
};

/** Every secret that the program gave before and that still has its place in the live object. */
const declaredSecrets = (field: Field, sides: Sides): Sides[] => {
  if (sides.prior === undefined || sides.prior === null) return [];
  if (field.secret) return [sides];
  switch (field.type) {
    case "object":
      return inObject(field.fields, sides);
    case "list":
      return inList(field, sides);
    case "map":
      return inMap(field, sides);
    default:
      return [];
  }
};

/** A value that is not there, in any form of it. */
export const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === "";

const isKnown = ({ live, desired, prior }: Sides): boolean =>
  sameContent(live, prior) || sameContent(live, desired);

/** What the live object tells of the service's way with secrets. */
export const evidenceOf = (fields: Fields, sides: Sides): Evidence => {
  const secrets = inObject(fields, sides).filter(({ prior }) => !isMissing(prior));
  const shown = secrets.filter(({ live }) => !isMissing(live));
  const others = new Set(shown.filter((secret) => !isKnown(secret)).map(({ live }) => live));
  const [mask] = others.size === 1 ? others : [];
  return {
    echoes: shown.some(
      (secret) => isKnown(secret) && !(typeof secret.live === "string" && looksMasked(secret.live)),
    ),
    omits: shown.length < secrets.length,
    ...(typeof mask === "string" ? { mask } : {}),
  };
};
const words =
  /^\W*((value )?(is )?(hidden|secret|redacted|masked|filtered|protected|private|encrypted|obfuscated|sensitive|confidential|suppressed|removed|omitted|not (shown|displayed|disclosed|available))( value)?|string)\W*$/i;
/** Whether a text can be what a service shows in place of a secret. */
export const looksMasked = (text: string): boolean =>
  /[*•●]{3}/.test(text) ||
  /^\s*[*•●.#-][*•●.#\s-]*$/.test(text) ||
  (/^[*•●xX.#\s-]+$/.test(text) && /x.*x.*x/i.test(text)) ||
  words.test(text);
/**
 * Whether a text of which nobody knows that it is a secret surely is a mask: a row of asterisks or
 * dots, with a few characters of the value at most.
 */
export const isSurelyMask = (text: string): boolean =>
  /^[^\s*•●]{0,4}[*•●]{3,}[^\s*•●]{0,4}$/.test(text);
