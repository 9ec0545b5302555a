import type { Field, Fields } from "../../provider/definition/define.js";

const known = new WeakMap<Fields, ReadonlyMap<string, Field>>();

/** Fields by their names in the service's JSON; built once, as every call needs them. */
export const fieldsByWire = (fields: Fields): ReadonlyMap<string, Field> => {
  const before = known.get(fields);
  if (before) return before;
  const byWire = new Map(
    Object.entries(fields).map(([name, field]) => [field.wire ?? name, field] as const),
  );
  known.set(fields, byWire);
  return byWire;
};
