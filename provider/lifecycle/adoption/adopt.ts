import { ConversationError } from "../../kernel/errors.js";
import { assertId } from "../../kernel/object-id.js";
import type { Declared, Found } from "../declared.js";
import { describe, originalMark, seenObject } from "../ownership/seen-object.js";
import type { ObjectHolders } from "../run.js";
import { type KnownObjects, wholeObject } from "./known-objects.js";
import { ownedElsewhere } from "./name-taken.js";

/**
 * The object that `adopt` names, by id or by its name.
 *
 * @throws ConversationError `NOT_FOUND` where there is none, `AMBIGUOUS` where there are several,
 *   `OWNED_ELSEWHERE` where it stands for another resource
 */
export const adoptee = async (declared: Declared, known: KnownObjects): Promise<Found> => {
  const { adopt, owner } = declared.properties;
  const id = typeof adopt === "string" ? adopt : idByName(declared, known);
  const found = await byId(declared, id);
  // An object without a mark, or whose name somebody changed since, may be another stack's all the same.
  const states = owner ? await declared.run.states?.(owner, "all") : undefined;
  assertAdoptable(declared, found, states);
  return found;
};

const idByName = (declared: Declared, { objects, refusal }: KnownObjects): string => {
  const { definition, nameKey, name } = declared;
  if (refusal) throw refusal;
  const [found, ...others] = objects.filter(({ isNamed }) => isNamed);
  const called = `${nameKey} ${JSON.stringify(name)}`;
  if (!found) {
    throw new ConversationError(
      "NOT_FOUND",
      `there is no ${definition.noun} with the ${called} to adopt. Nothing was changed. Correct the ${nameKey}, name the object by its id (adopt: "<id>"), or leave adopt out to make a new one.`,
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

const byId = async (declared: Declared, id: string): Promise<Found> => {
  const found = await wholeObject(declared, id);
  if (found) return found;
  throw new ConversationError(
    "NOT_FOUND",
    `there is no ${declared.definition.noun} with the id ${id} to adopt. Nothing was changed. Correct the id, or leave adopt out to make a new one.`,
  );
};

/** Refuses an object that stands for another resource, of this program or of a state. */
const assertAdoptable = (
  declared: Declared,
  found: Found,
  states: ObjectHolders | undefined,
): void => {
  const { definition, identity, run, properties } = declared;
  const other =
    (identity && run.decisions.take(`adopt ${definition.kind} ${found.id}`, identity)) ??
    run.decisions.holders.get(found.id);
  if (other && other.key !== identity?.key) {
    throw new ConversationError(
      "OWNED_ELSEWHERE",
      `the ${describe(definition, found)} stands for another resource of this program: ${other.label}. Nothing was changed. One object can be adopted by one resource only: remove adopt from one of them.`,
    );
  }
  const holders = states?.holdersOf(definition.kind, found.id) ?? [];
  const holder = holders.find(({ own, owner }) => !own || owner !== properties.owner);
  if (holder) throw ownedElsewhere(declared, found, holder);
  const mark = originalMark(definition, found);
  // A left-over or a copy of this very stack that no state holds is nobody else's.
  const isFree = mark !== undefined && mark.stack === declared.mark?.stack && states !== undefined;
  if (mark && !isFree && !seenObject(declared, found.id, found).isOwn)
    throw ownedElsewhere(declared, found, mark);
};
