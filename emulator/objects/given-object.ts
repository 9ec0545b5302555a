import type { Definition } from "../../provider/definition/define.js";
import { naturalKey } from "../../provider/definition/references.js";
import { wireName } from "../../provider/definition/wire/wire.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { hideFields } from "./hide-secrets.js";
import { type NameOf, ownForms } from "./own-forms.js";
import type { StoredObject } from "./store.js";
import type { World } from "./world.js";

const namesIn =
  ({ store }: World): NameOf =>
  (to, id) => {
    const name = naturalKey(to);
    const field = to.fields[name];
    const target = typeof id === "string" ? store.get(to.collection, id) : undefined;
    return field && target?.[wireName(name, field)];
  };

/** A stored object as the service gives it back: in its own forms, and secrets hidden, by switch. */
export const givenObject = (
  world: World,
  definition: Definition,
  object: StoredObject,
): JsonObject => {
  const { forms, secrets } = world.switches;
  const formed = forms === "own" ? ownForms(definition, object, namesIn(world)) : object;
  return hideFields(definition.fields, formed, secrets);
};
