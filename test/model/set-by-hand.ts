import { naturalKey } from "../../provider/definition/references.js";
import { wireName } from "../../provider/definition/wire.js";
import type { Member } from "./by-hand.js";
import type { LiveObject } from "./console.js";

type Json = Record<string, unknown>;

/** An object of a person, which only an adoption may change. */
export interface Own {
  readonly before: string;
  /** What it was copied from, where it looks just like it. */
  readonly twinOf?: string;
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

/** Whether a value is a JSON object. */
export const isPlain = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object as it must stay. */
export const textOf = (object: Json): string => JSON.stringify(object);

/** How long after the original a copy is made, in milliseconds. */
export const laterMs = { "at once": 0, soon: 2_000, "much later": 7 * 3_600_000 } as const;
