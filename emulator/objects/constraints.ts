import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { Switches } from "../control/switches.js";
import { HttpError } from "../http/response.js";
import { invalidAttribute } from "../http/validation-errors.js";
import type { Store } from "./store.js";
import { storedReferences } from "./stored-references.js";

/** What the rules between objects look at. */
interface Stored {
  readonly store: Store;
  readonly switches: Switches;
}

/**
 * No two objects of a kind share a unique name.
 *
 * @param own id of the object itself, if it is there already
 */
export const assertUnique = (
  { store, switches }: Stored,
  { collection }: Definition,
  object: JsonObject,
  own: string | undefined,
): void => {
  const taken = store.takenMember(collection, object, own);
  if (taken === undefined) return;
  const rule = "must be unique; it is taken";
  const status = switches.duplicateStatus;
  throw new HttpError(status, `${status}-152`, `${taken} ${rule}.`, [{ key: taken, value: rule }]);
};

/** What an object refers to is there. */
export const assertReferences = (
  { store, switches }: Stored,
  definition: Definition,
  object: JsonObject,
): void => {
  if (switches.unknownReference === "accept") return;
  for (const { to, id, path } of storedReferences(definition, object))
    if (!store.get(to.collection, id))
      throw invalidAttribute(path, `there is no ${to.noun} with this id`);
};

/** By the letter of the rule: any object of the holding kinds holds every object of this one. */
const isHeld = (store: Store, target: Definition): boolean =>
  (target.heldByAny?.kinds ?? []).some((kind) => store.count(kind.collection) > 0);

/** Whether an object is referred to by one of a kind for which the specification has a rule. */
const isReferredToByRule = (store: Store, target: Definition, id: string): boolean =>
  resources
    .filter(({ holds = "spec" }) => holds === "spec")
    .some((definition) =>
      store
        .all(definition.collection)
        .some((object) =>
          storedReferences(definition, object).some(
            (reference) => reference.to.kind === target.kind && reference.id === id,
          ),
        ),
    );

const isInUse = ({ store, switches }: Stored, target: Definition, id: string): boolean => {
  if (target.heldByAny !== undefined && switches.channelRule === "any-client-application")
    return isHeld(store, target);
  if (!store.isReferredTo(target, id)) return false;
  return switches.deletionRule === "every-reference" || isReferredToByRule(store, target, id);
};

/**
 * The deletion rules of the specification's §2, and the references of orchestrations (assumed).
 *
 * @throws HttpError that names nobody, as the service's does
 */
export const assertNotInUse = (stored: Stored, target: Definition, id: string) => {
  const { switches } = stored;
  if (!isInUse(stored, target, id)) return;
  const status = switches.inUseStatus;
  throw new HttpError(
    status,
    `${status}-113`,
    `The ${target.noun} is in use and cannot be deleted.`,
  );
};
