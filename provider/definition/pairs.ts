import type { Field, ListField } from "./field.js";
import { isObject } from "./json.js";

/** What tells the items of a list apart: the key, else a reference inside them, else nothing. */
const keyOf = (field: ListField): string | undefined => {
  if (field.key) return field.key;
  if (field.of.type !== "object") return undefined;
  const references = Object.entries(field.of.fields).filter(([, { type }]) => type === "reference");
  return references.at(-1)?.[0];
};

const memberAt = (item: unknown, name: string): string =>
  JSON.stringify(isObject(item) ? item[name] : undefined) ?? "";

/**
 * For each item the item of another list that stands for the same thing: by key where the list has
 * one, else by place.
 *
 * @param nameOf How a member is called in these lists: the program's name, or the wire's.
 */
export const pairs = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
  nameOf: (name: string, field: Field) => string = (name) => name,
): readonly (readonly [item: unknown, other: unknown])[] => {
  const key = keyOf(field);
  if (!key || field.of.type !== "object") return items.map((item, place) => [item, others[place]]);
  const member = field.of.fields[key];
  const name = member ? nameOf(key, member) : key;
  const left = [...others];
  return items.map((item) => {
    const place = left.findIndex((other) => memberAt(other, name) === memberAt(item, name));
    return [item, place < 0 ? undefined : left.splice(place, 1)[0]];
  });
};
