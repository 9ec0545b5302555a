import { ConversationError } from "../../kernel/errors.js";
import type { Holding } from "../../stacks/stack-states.js";
import type { Declared, Found } from "../declared.js";
import type { Mark } from "../ownership/mark.js";
import { describe, originalMark, type SeenObject } from "../ownership/seen-object.js";
import type { ObjectHolders } from "../run.js";
import { hasNamesakeMark } from "./existing.js";
import type { KnownObjects } from "./known-objects.js";

/**
 * Refuses where an object that is not ours has the name, and where nobody can know: names need not be
 * unique, so the service refuses no second object, and the list that would show the first one cannot
 * be read.
 */
export const assertFree = async (
  declared: Declared,
  { objects, complete, refusal }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<void> => {
  const { definition, run, isUnique, properties } = declared;
  if (!isUnique && !complete) throw unreadable(declared, refusal);
  const taken = objects.find((each) => each.isNamed && isTaken(declared, each, states));
  if (!taken) return;
  const found = { ...taken.wire, id: taken.id };
  const holder = run.decisions.holders.get(taken.id);
  if (holder) throw takenByProgram(declared, found, holder.label);
  // The resource of any stack that it stands for: without a mark only the states tell.
  const all = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const owner = all?.holdersOf(definition.kind, taken.id)[0] ?? originalMark(definition, found);
  if (owner) throw ownedElsewhere(declared, found, owner);
  throw new ConversationError(
    "NAME_TAKEN",
    `the ${describe(definition, found)} already exists and is not managed by Pulumi${taken.mark ? ": it is a copy of an object of a stack" : ""}. Nothing was changed. ` +
      (isUnique
        ? ""
        : "It carries no mark, and neither would a new one, so nobody could tell whether an interrupted run made it. ") +
      `Take it over with adopt: true or adopt: "${taken.id}", or use another name.`,
  );
};

const unreadable = (
  { definition: { noun, collection } }: Declared,
  refusal: ConversationError | undefined,
): ConversationError => {
  const why = refusal?.message ?? `the service gives only a part of the list of ${collection}.`;
  const way = refusal
    ? `Let the client list ${collection}. If the ${noun} is there, it can also be taken over`
    : `If the ${noun} is there, or once somebody has made it by hand, take it over`;
  return new ConversationError(
    refusal?.code ?? "BAD_RESPONSE",
    `${why} Names of ${collection} need not be unique, so without the whole list nothing shows whether an earlier attempt has made the ${noun} already. Nothing was made. ${way} by its id (adopt: "<id>").`,
    refusal?.details,
    "none",
    { cause: refusal },
  );
};

const isTaken = (
  declared: Declared,
  seen: SeenObject,
  states: ObjectHolders | undefined,
): boolean => {
  const { definition, isUnique, isMarked, run, identity } = declared;
  if (isUnique) return true;
  // Names that need not be unique may well be there twice, but not as one resource of two states.
  if (seen.addedMark) return hasNamesakeMark(declared, seen);
  // Neither this object nor the one to be made can be told apart by a mark: an interrupted run may
  // have left it.
  const holder = run.decisions.holders.get(seen.id);
  const isHeld = holder
    ? holder.key !== identity?.key
    : (states?.holdersOf(definition.kind, seen.id).length ?? 0) > 0;
  return !isMarked && !isHeld;
};

/** A name that another resource of the same program has. */
export const takenByProgram = (
  { definition }: Declared,
  { id }: Found,
  label: string,
): ConversationError =>
  new ConversationError(
    "NAME_TAKEN",
    `the name is taken by another resource of this program: ${label} (id ${id}). ` +
      `No two objects of the kind ${definition.noun} may have the same name: give one of them another. To swap two names, give one of them a third name first.`,
  );

/** Whose an object is that a mark or a state claims. */
export const ownedElsewhere = (
  { definition, mark }: Declared,
  found: Found,
  owner: Mark | Holding,
): ConversationError => {
  const isOwnStack = "urn" in owner ? owner.own : owner.stack === mark?.stack;
  return new ConversationError(
    "OWNED_ELSEWHERE",
    `the ${describe(definition, found)} ${whose(owner)}. Nothing was changed. ${wayOut(owner, isOwnStack, found.id)}`,
  );
};

const whose = (owner: Mark | Holding): string => {
  if (!("urn" in owner)) return `belongs to another Pulumi resource or state: ${owner.label}`;
  return `stands for ${owner.urn} in the state of ${owner.own ? "this stack" : `the stack ${owner.stack}`}`;
};

const wayOut = (owner: Mark | Holding, isOwnStack: boolean, id: string): string => {
  const isHolding = "urn" in owner;
  // What the resource is called in its program.
  const name = (isHolding ? owner.urn.split("::") : owner.label.split(" ")).at(-1) ?? "";
  const renamed = isOwnStack
    ? ` If this resource is that one under a new logical name, say so with the option aliases: [{ name: ${JSON.stringify(name)} }].`
    : "";
  const gone = isHolding
    ? ""
    : ` If no state holds it any more, npx pulumi-conversation orphans says so, and orphans --release --id ${id} takes the mark off, so that adopt can take the object over.`;
  return `Remove it there first, or give this resource another name.${renamed}${gone}`;
};
