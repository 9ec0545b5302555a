import { isObject, memberOf, objectOf } from "../../kernel/json.js";
import type { Fields, MemberRule } from "../field.js";
import type { Visible } from "./visible-part.js";
import { wireName } from "./wire.js";

export interface Shape {
  readonly fields: Fields;
  readonly rule?: MemberRule | undefined;
}

export interface Merged extends Visible {
  readonly undeclared: readonly string[];
}

export type Named = readonly (readonly [name: string, part: Merged])[];

export const merged = (
  value: unknown,
  hidden: readonly string[] = [],
  undeclared: readonly string[] = [],
): Merged => ({ value, hidden, undeclared });

export const listed = (parts: readonly Merged[], value: unknown): Merged =>
  merged(
    value,
    parts.flatMap(({ hidden }) => hidden),
    parts.flatMap(({ undeclared }) => undeclared),
  );

export const together = (parts: Named): Merged =>
  listed(
    parts.map(([, part]) => part),
    objectOf(parts.map(([name, { value }]) => [name, value])),
  );

export const unknownShape: Shape = { fields: {} };

/** Members that cannot stand beside the one that the program chose. */
export const displaced = ({ fields, rule }: Shape, desired: unknown): ReadonlySet<string> => {
  if (!rule || !("exactlyOne" in rule) || !isObject(desired)) return new Set();
  const onWire = (name: string): string => {
    const field = fields[name];
    return field ? wireName(name, field) : name;
  };
  const members = Object.values(rule.exactlyOne);
  const word = memberOf(desired, onWire(rule.discriminator));
  const named = typeof word === "string" ? memberOf(rule.exactlyOne, word) : undefined;
  const chosen = named ?? members.find((name) => Object.hasOwn(desired, onWire(name)));
  return new Set(chosen === undefined ? [] : members.filter((name) => name !== chosen).map(onWire));
};
