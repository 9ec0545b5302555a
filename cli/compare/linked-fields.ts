import type { Field, Fields } from "../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { ComparedSide } from "./compared-account.js";

interface Pair {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

/** What stands for a reference: the same text on both sides where it leads to the same object. */
type Link = (kind: string, id: unknown) => unknown;

const linkedValue = (field: Field, value: unknown, link: Link): unknown => {
  if (value === undefined || value === null) return undefined;
  if (field.type === "reference") return link(field.to.kind, value);
  if (field.type === "object" && isObject(value)) return linked(field.fields, value, link);
  if (field.type === "list" && Array.isArray(value))
    return value.map((item) => linkedValue(field.of, item, link));
  if (field.type === "map" && isObject(value))
    return objectOf(
      Object.entries(value).map(([key, of]) => [key, linkedValue(field.of, of, link)]),
    );
  return value;
};

const linked = (fields: Fields, values: JsonObject, link: Link): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [name, linkedValue(field, values[name], link)]),
  );

const linkFor =
  (side: "a" | "b", pairs: readonly Pair[]): Link =>
  (kind, id) => {
    const pair = pairs.find(
      (each) => each[side].definition.kind === kind && each[side].id === String(id),
    );
    return pair ? `${kind} ${pair.a.name}` : `${kind} ${id}`;
  };

/** The fields of both sides of a pair, with names in the place of ids of what is on both sides. */
export const linkedFields = (
  a: ComparedSide,
  b: ComparedSide,
  pairs: readonly Pair[],
): readonly [JsonObject, JsonObject] => [
  linked(a.definition.fields, a.fields, linkFor("a", pairs)),
  linked(b.definition.fields, b.fields, linkFor("b", pairs)),
];
