import { naturalKey } from "../../definition/references.js";
import { ConversationError } from "../../kernel/errors.js";
import { assertId } from "../../kernel/object-id.js";
import { type Declared, describe, type Found, isNamed, isOwn, ownMarkOn } from "../declared.js";
import type { ObjectHolders } from "../run.js";
import { ownedElsewhere } from "./existing.js";
import { findAll, type KnownObjects, wholeObject } from "./known-objects.js";

const byId = async (declared: Declared, id: string): Promise<Found> => {
  const found = await wholeObject(declared, id);
  if (found) return found;
  throw new ConversationError(
    "NOT_FOUND",
    `there is no ${declared.definition.noun} with the id ${id} to adopt. Nothing was changed. Correct the id, or leave adopt out to make a new one.`,
  );
};

const idByName = (declared: Declared, { objects, refusal }: KnownObjects): string => {
  const { definition, name } = declared;
  if (refusal) throw refusal;
  const [found, ...others] = findAll(objects, (wire) => isNamed(declared, wire));
  const called = `${naturalKey(definition)} ${JSON.stringify(name)}`;
  if (!found) {
    throw new ConversationError(
      "NOT_FOUND",
      `there is no ${definition.noun} with the ${called} to adopt. Nothing was changed. Correct the ${naturalKey(definition)}, name the object by its id (adopt: "<id>"), or leave adopt out to make a new one.`,
    );
  }
  assertId(found.id, definition.noun);
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id }) => id).join(", ");
  throw new ConversationError(
    "AMBIGUOUS",
    `${others.length + 1} objects of the kind ${definition.noun} have the ${called}: ${ids}. Nothing was changed. Say which one to adopt by its id: adopt: "${found.id}".`,
  );
};

/** Refuses an object that stands for another resource, of this program or of a state. */
const assertAdoptable = (
  declared: Declared,
  found: Found,
  states: ObjectHolders | undefined,
): void => {
  const { definition, resource, run, properties } = declared;
  const other =
    (resource && run.decisions.take(`adopt ${definition.kind} ${found.id}`, resource)) ??
    run.decisions.holderOf(found.id);
  if (other && other.key !== resource?.key) {
    throw new ConversationError(
      "OWNED_ELSEWHERE",
      `the ${describe(definition, found)} stands for another resource of this program: ${other.label}. Nothing was changed. One object can be adopted by one resource only: remove adopt from one of them.`,
    );
  }
  const holders = states?.holdersOf(definition.kind, found.id) ?? [];
  const holder = holders.find(({ own, owner }) => !own || owner !== properties.owner);
  if (holder) throw ownedElsewhere(declared, found, holder);
  const mark = ownMarkOn(definition, found);
  // A left-over or a copy of this very stack that no state holds is nobody else's.
  const isFree = mark !== undefined && mark.stack === declared.mark?.stack && states !== undefined;
  if (mark && !isFree && !isOwn(declared, found)) throw ownedElsewhere(declared, found, mark);
};

/**
 * The object that `adopt` names, by id or by its name.
 *
 * @throws ConversationError `NOT_FOUND` where there is none, `AMBIGUOUS` where there are several,
 *   `OWNED_ELSEWHERE` where it stands for another resource
 */
export const adoptee = async (declared: Declared, known: KnownObjects): Promise<Found> => {
  const { properties, run } = declared;
  const { adopt, owner } = properties;
  const id = typeof adopt === "string" ? adopt : idByName(declared, known);
  const found = await byId(declared, id);
  // An object without a mark, or whose name somebody changed since, may be another stack's all the same.
  const states = owner && (await run.states?.(owner, "all"));
  assertAdoptable(declared, found, states || undefined);
  return found;
};
