import { objectOf } from "../../kernel/json.js";
import type { Fields, MemberRule } from "../define.js";
import type { Visible } from "./visible-part.js";

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
