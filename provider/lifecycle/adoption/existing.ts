import { ConversationError } from "../../kernel/errors.js";
import type { Holding } from "../../stacks/stack-states.js";
import {
  type Declared,
  describe,
  type Found,
  hasRoom,
  isNamed,
  markBeside,
  markOn,
  nameOnWire,
  ownMarkOn,
} from "../declared.js";
import { chosen, ownObjects } from "../ownership/left-overs.js";
import { isNamesake, type Mark } from "../ownership/mark.js";
import type { ObjectHolders } from "../run.js";
import { findAll, type KnownObjects, wholeObject } from "./known-objects.js";

/** An object that is there already and stands for the resource from now on. */
export interface Existing {
  readonly object: Found;
  /** `state`: the state holds it, and the engine was told to replace it; `mark`: an earlier run left it. */
  readonly by: "state" | "mark";
}

/** Whether the object would be made with its mark. */
const isMarked = (declared: Declared): boolean => {
  const { description } = declared.properties.fields;
  return hasRoom(declared, typeof description === "string" ? description : undefined);
};

const namedAlike = (declared: Declared, objects: KnownObjects["objects"]) =>
  findAll(objects, (wire) => isNamed(declared, wire));

/** A name that cannot be read may well be the wanted one. */
const mayBeNamed = (declared: Declared, wire: Found): boolean => {
  const name = nameOnWire(declared.definition, wire);
  return isNamed(declared, wire) || !(typeof name === "string" || typeof name === "number");
};

const hasNamesakeMark = ({ mark }: Declared, wire: Found): boolean => {
  const there = markOn(wire);
  return mark !== undefined && there !== undefined && isNamesake(mark, there);
};

/**
 * Whether an object may be the one that a forced replacement is about though it carries no mark: its
 * description, which the program may have shortened since, leaves no room for one.
 */
const hasRoomless = (declared: Declared, objects: KnownObjects["objects"]): boolean =>
  [...objects].some(
    ([id, { description }]) =>
      typeof description === "string" &&
      !hasRoom(declared, description) &&
      declared.run.decisions.holderOf(id) === undefined,
  );

/**
 * The states, where a creation cannot be decided without them: an object carries the mark of the
 * resource, has its name or carries no mark, or the object to be made would carry none.
 */
export const statesFor = async (
  declared: Declared,
  { objects }: KnownObjects,
): Promise<ObjectHolders | undefined> => {
  const { properties, run, isUnique } = declared;
  if (!run.states || !properties.owner) return undefined;
  if (ownObjects(declared, objects).length > 0) return run.states(properties.owner, "all");
  // A replaced Ownership makes strangers of the marks of the very objects that the state holds.
  const alike = namedAlike(declared, objects).filter(
    (wire) => isUnique || hasNamesakeMark(declared, wire),
  );
  if (alike.some((wire) => markOn(wire))) return run.states(properties.owner, "all");
  const isDoubtful = alike.length > 0 || !isMarked(declared) || hasRoomless(declared, objects);
  return isDoubtful ? run.states(properties.owner, "own") : undefined;
};

/** The object that the state holds for a resource that the engine was told to replace. */
const heldByState = async (
  declared: Declared,
  states: ObjectHolders | undefined,
): Promise<Found | undefined> => {
  const { properties, definition } = declared;
  const id = properties.owner && states?.resourceOf(properties.owner)?.id;
  if (!id) return undefined;
  // The half of a replacement that was cut off may stay behind when the other half is moved away.
  const isMoved = states?.holdersOf(definition.kind, id).some(({ own }) => !own);
  return isMoved ? undefined : wholeObject(declared, id);
};

/** The object that stands for the resource already, though this call is to make one. */
export const existingObject = async (
  declared: Declared,
  known: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<Existing | undefined> => {
  const held = await heldByState(declared, states);
  if (held) return { object: held, by: "state" };
  const own = ownObjects(declared, known.objects, states);
  // Without a look at the states an object of another name may be a renamed or moved resource's.
  const sure = states ? own : own.filter((wire) => mayBeNamed(declared, wire));
  const first = chosen(declared, sure);
  const object = first && (await wholeObject(declared, first.id));
  return object && { object, by: "mark" };
};

/** The last part of a mark's label, or of a URN: what the resource is called in its program. */
const logicalName = (owner: Mark | Holding): string =>
  ("urn" in owner ? owner.urn.split("::") : owner.label.split(" ")).at(-1) ?? "";

const whose = (owner: Mark | Holding): string => {
  if (!("urn" in owner)) return `belongs to another Pulumi resource or state: ${owner.label}`;
  return `stands for ${owner.urn} in the state of ${owner.own ? "this stack" : `the stack ${owner.stack}`}`;
};

const wayOut = (owner: Mark | Holding, isOwnStack: boolean, id: string): string => {
  const renamed = isOwnStack
    ? ` If this resource is that one under a new logical name, say so with the option aliases: [{ name: ${JSON.stringify(logicalName(owner))} }].`
    : "";
  const gone =
    "urn" in owner
      ? ""
      : ` If no state holds it any more, npx pulumi-conversation orphans says so, and orphans --release --id ${id} takes the mark off, so that adopt can take the object over.`;
  return `Remove it there first, or give this resource another name.${renamed}${gone}`;
};

/** Whose an object is that a mark or a state claims. */
export const ownedElsewhere = (
  { definition, mark }: Declared,
  wire: Found,
  owner: Mark | Holding,
): ConversationError => {
  const isOwnStack = "urn" in owner ? owner.own : owner.stack === mark?.stack;
  return new ConversationError(
    "OWNED_ELSEWHERE",
    `the ${describe(definition, wire)} ${whose(owner)}. Nothing was changed. ${wayOut(owner, isOwnStack, wire.id)}`,
  );
};

const isTaken = (declared: Declared, wire: Found, states: ObjectHolders | undefined): boolean => {
  const { definition, isUnique, run, resource } = declared;
  if (isUnique) return true;
  // Names that need not be unique may well be there twice, but not as one resource of two states.
  if (markBeside(declared, wire)) return hasNamesakeMark(declared, wire);
  // Neither this object nor the one to be made can be told apart by a mark: an interrupted run may
  // have left it.
  const holder = run.decisions.holderOf(wire.id);
  const isHeld = holder
    ? holder.key !== resource?.key
    : (states?.holdersOf(definition.kind, wire.id).length ?? 0) > 0;
  return !isMarked(declared) && !isHeld;
};

/** The resource of any stack that an object stands for: without a mark only the states tell. */
const holdingOf = async (
  { definition, run, properties }: Declared,
  { id }: Found,
): Promise<Holding | undefined> => {
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  return states?.holdersOf(definition.kind, id)[0];
};

/** Refuses where an object that is not ours has the name. */
export const assertFree = async (
  declared: Declared,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<void> => {
  const { definition, run, isUnique } = declared;
  const taken = namedAlike(declared, objects).find((wire) => isTaken(declared, wire, states));
  if (!taken) return;
  const holder = run.decisions.holderOf(taken.id);
  if (holder) throw takenByProgram(declared, taken, holder.label);
  const owner = (await holdingOf(declared, taken)) ?? ownMarkOn(definition, taken);
  if (owner) throw ownedElsewhere(declared, taken, owner);
  const isCopied = markOn(taken) !== undefined;
  throw new ConversationError(
    "NAME_TAKEN",
    `the ${describe(definition, taken)} already exists and is not managed by Pulumi${isCopied ? ": it is a copy of an object of a stack" : ""}. Nothing was changed. ` +
      (isUnique
        ? ""
        : "It carries no mark, and neither would a new one, so nobody could tell whether an interrupted run made it. ") +
      `Take it over with adopt: true or adopt: "${taken.id}", or use another name.`,
  );
};

/** A name that another resource of the same program has. */
export const takenByProgram = (
  { definition }: Declared,
  wire: Found,
  label: string,
): ConversationError =>
  new ConversationError(
    "NAME_TAKEN",
    `the name is taken by another resource of this program: ${label} (id ${wire.id}). ` +
      `No two objects of the kind ${definition.noun} may have the same name: give one of them another. To swap two names, give one of them a third name first.`,
  );
