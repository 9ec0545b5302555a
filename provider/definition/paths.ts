import { isObject, memberOf } from "../kernel/json.js";
import { holdsUnknown } from "../kernel/unknown.js";
import { type Field, identityOf, type ListField } from "./define.js";

/** The path of a member of an object or a map, as a program would write it. */
export const memberPath = (path: string, name: string): string => {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
};

/** The neutral word where a vendor's own stands, such as `platform_bot`. */
const neutralWord = (field: Field | undefined, value: string): string => {
  const words = field?.type === "text" ? (field.values ?? []) : [];
  const isVendors = (word: string) =>
    word.startsWith("platform_") && value.endsWith(word.slice("platform".length));
  return words.includes(value) ? value : (words.find(isVendors) ?? value);
};

const identityText = (field: ListField, item: unknown): string | undefined => {
  const { of } = field;
  const values = identityOf(field).map((name) => {
    const value = isObject(item) ? memberOf(item, name) : undefined;
    const member = of.type === "object" ? of.fields[name] : undefined;
    const isShown = typeof value === "string" || typeof value === "number";
    return isShown && !holdsUnknown(value) ? neutralWord(member, String(value)) : undefined;
  });
  return values.length > 0 && !values.includes(undefined) ? values.join(", ") : undefined;
};

/**
 * The path of an item of a list, by its identity where the list has one that is known: `roles[custom_bot]`.
 *
 * @param item In a program's terms.
 */
export const itemPath = (path: string, field: ListField, item: unknown, place: number): string =>
  `${path}[${identityText(field, item) ?? place}]`;
