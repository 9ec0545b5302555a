import type { Definition } from "../../provider/definition/define.js";
import { referencesTo } from "../../provider/definition/references.js";
import { resources } from "../../provider/resources/index.js";
import { Refusal } from "../http/refusal.js";
import { storedReferences } from "./stored-references.js";
import type { World } from "./world.js";

/** Kinds that can refer to each kind, from the references of all definitions. */
const users = new Map(
  resources.map(
    (target) =>
      [target, [...new Set(referencesTo(target, resources).map(({ from }) => from))]] as const,
  ),
);

const isReferredTo = (world: World, target: Definition, id: string): boolean =>
  (users.get(target) ?? []).some((user) =>
    world.store
      .all(user.collection)
      .some((object) =>
        storedReferences(user, object).some(
          (reference) => reference.to === target && reference.id === id,
        ),
      ),
  );

/** By the letter of the rule: any object of the holding kinds holds every object of this one. */
const isHeld = (world: World, target: Definition): boolean =>
  (target.heldByAny?.kinds ?? []).some((kind) => world.store.all(kind.collection).length > 0);

/**
 * The deletion rules of the specification's §2, and the references of orchestrations (assumed).
 *
 * @throws Refusal that names nobody, as the service's does
 */
export const assertNotInUse = (world: World, target: Definition, id: string): void => {
  const byLetter =
    target.heldByAny !== undefined && world.switches.channelRule === "any-client-application";
  if (!(byLetter ? isHeld(world, target) : isReferredTo(world, target, id))) return;
  const status = world.switches.inUseStatus;
  throw new Refusal(status, `${status}-113`, `The ${target.noun} is in use and cannot be deleted.`);
};
