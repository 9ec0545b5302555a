import { wireName } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { humanText, type Member } from "./by-hand.js";
import type { LiveObject } from "./console.js";
import type { HeldEntry } from "./verdict.js";

/** An object of a person, which only an adoption may change. */
export interface Own {
  readonly before: string;
  /** What it was copied from, where it looks just like it. */
  readonly counterpartOf?: string;
}

/** A member that a person set on an object. */
export interface SetMember {
  readonly id: string;
  readonly member: Member;
}

/** What objects of a kind are called by on the wire. */
export const nameMember = ({ definition }: LiveObject): string => {
  const key = naturalKey(definition);
  const field = definition.fields[key];
  return field ? wireName(key, field) : key;
};

/** An object as it must stay. */
export const textOf = (object: Json): string => JSON.stringify(object);

/** How long after the original a copy is made, in milliseconds. */
export const laterMs = { "at once": 0, soon: 2_000, "much later": 7 * 3_600_000 } as const;

/** What a person's object keeps after an adoption, as far as the program does not declare it. */
export const membersLeftOn = (
  id: string,
  before: string,
  held: readonly HeldEntry[],
): readonly SetMember[] => {
  if (JSON.parse(before).description !== humanText) return [];
  const isSilent = ({ ids, described }: HeldEntry): boolean =>
    [...ids.values()].includes(id) && !described?.has(id);
  const text = {
    path: ["description"],
    value: humanText,
    isDescription: "before the mark",
  } as const;
  return held.some(isSilent) ? [{ id, member: text }] : [];
};
