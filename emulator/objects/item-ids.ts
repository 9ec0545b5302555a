import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";

/** Such as `item-1`: told apart from an id that a caller gave. */
const pattern = /^item-\d+$/;

/** Items that are objects with an id that the service made up, unless they have one. */
export const withItemIds = (items: readonly unknown[]): readonly unknown[] =>
  items.map((item, place) => (isObject(item) ? { id: `item-${place + 1}`, ...item } : item));

/** An item without the id that the service made up. */
export const withoutItemId = (item: unknown): unknown =>
  isObject(item) && typeof item.id === "string" && pattern.test(item.id)
    ? without(item, "id")
    : item;

/** The object without a member. */
export const without = (values: JsonObject, name: string): JsonObject =>
  objectOf(Object.entries(values).filter(([each]) => each !== name));
