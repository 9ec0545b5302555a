import { nameStem } from "../definition/automatic-name.js";
import { withArticle } from "../definition/fields.js";
import { ConversationError } from "../kernel/errors.js";
import { assertId, isId } from "../kernel/object-id.js";
import { parentsIn, urnOf, urnParts } from "../kernel/owner.js";
import { ownCommand } from "../kernel/package.js";
import { pluginToken, typeToken } from "../kernel/type-tokens.js";
import { isNamesake, type Mark, objectTime } from "./ownership/mark.js";
import type { Holding } from "./ownership/stack-states.js";
import { type Declared, isThisResource, type ObjectHolders } from "./run.js";
import {
  describe,
  type Found,
  type KnownObjects,
  originalMark,
  type SeenObject,
  seenObject,
  wholeObject,
} from "./seen.js";

/** An existing object that already belongs to the resource. */
export interface ExistingObject {
  readonly object: Found;
  /**
   * Why the object belongs to the resource. `state`: the state contains the object, and the engine
   * requested its replacement. `mark`: an earlier run created the object.
   */
  readonly by: "state" | "mark";
}

/**
 * Whether a mark names this resource but belongs to another state, and so does the name: automatic
 * ones of two states are equal but for the suffix.
 */
const hasNamesakeMark = (
  { mark: own, name, nameOnWire }: Declared,
  { mark, isNamed, wire }: SeenObject,
): boolean => {
  if (mark === undefined || own === undefined || !isNamesake(own, mark)) return false;
  const stem = nameStem(name);
  return isNamed || (stem !== undefined && stem === nameStem(wire[nameOnWire]));
};

/**
 * Returns the states if they are needed to decide on a creation; otherwise, undefined. They are
 * needed if an object carries the resource's mark, has its name, or carries no mark. They are also
 * needed if the new object would carry no mark, or if the list could not be read completely.
 */
export const neededStates = async (
  declared: Declared,
  { objects, complete }: KnownObjects,
): Promise<ObjectHolders | undefined> => {
  const { properties, run, isUnique } = declared;
  if (!run.states || !properties.owner) return undefined;
  // Replacing the Ownership makes the marks of the very objects that the state holds look foreign.
  const alike = objects.filter(
    (each) => hasNamesakeMark(declared, each) || (isUnique && each.isNamed),
  );
  if (ownObjects(declared, objects).length > 0 || alike.some(({ mark }) => mark))
    return run.states(properties.owner, "all");
  // An object may be the target of a forced replacement although it does not carry our mark: a long
  // description left no room for one (the program may have shortened it since), or a person
  // overwrote it with another one.
  const mayBeOurs = ({ id, mark, isRoomless }: SeenObject) =>
    (mark === undefined || isRoomless) && run.decisions.holders.get(id) === undefined;
  const isDoubtful = !complete || alike.length > 0 || !declared.isMarked || objects.some(mayBeOurs);
  return isDoubtful ? run.states(properties.owner, "own") : undefined;
};

/**
 * Returns the objects that carry a resource's mark, do not appear to be copies, and do not belong
 * to another resource in this run or in a visible state.
 */
export const ownObjects = (
  declared: Declared,
  objects: readonly SeenObject[],
  states?: ObjectHolders,
): readonly SeenObject[] => {
  const { definition, identity, run } = declared;
  return objects.filter(({ id, isOwn }) => {
    if (!isOwn || !isId(id)) return false;
    const holder = run.decisions.holders.get(id);
    if (holder) return holder.key === identity?.key;
    const holders = states?.holdersOf(definition.kind, id) ?? [];
    return holders.every((holder) => isThisResource(declared, holder));
  });
};

/**
 * Returns the object that already belongs to a resource that the engine is creating; undefined if
 * there is none.
 */
export const existingObject = async (
  declared: Declared,
  { objects }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<ExistingObject | undefined> => {
  const held = await heldByState(declared, states);
  if (held) return { object: held, by: "state" };
  const own = ownObjects(declared, objects, states);
  // Without the states, an object with another name may belong to a renamed or moved resource.
  const first = chosen(declared, states ? own : own.filter(({ mayBeNamed }) => mayBeNamed));
  const object = first && (await wholeObject(declared, first.id));
  return object && { object, by: "mark" };
};

/** The object that the state holds for a resource whose replacement the engine requested. */
const heldByState = async (
  declared: Declared,
  states: ObjectHolders | undefined,
): Promise<Found | undefined> => {
  const { properties, definition, run } = declared;
  const { owner } = properties;
  const id = owner && states?.resourceOf(definition.kind, owner, run.isPlugins ?? false)?.id;
  if (!id) return undefined;
  // Half of an interrupted replacement may stay behind when the other half is moved away.
  const isMoved = states?.holdersOf(definition.kind, id).some(({ own }) => !own);
  return isMoved ? undefined : wholeObject(declared, id);
};

/**
 * Chooses which of a resource's own objects stands for it: first the one with the wanted name,
 * because no other object can take it; then the newest. The same serial on two objects means that a
 * person copied one of them: the older is ours, and if the order is unknown nothing is changed.
 */
const chosen = (
  { definition, properties: { adopt } }: Declared,
  own: readonly SeenObject[],
): SeenObject | undefined => {
  const rank = ({ isNamed, mark }: SeenObject) => `${isNamed ? 1 : 0}${mark?.serial ?? ""}`;
  const [first] = [...own].sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
  const named = own.find(({ id }) => id === adopt);
  if (!first || named) return named;
  const serial = first.mark?.serial;
  const alike = serial ? own.filter(({ mark }) => mark?.serial === serial) : [first];
  const ages = alike.map(({ wire }) => objectTime(wire.created));
  const oldest = alike.filter((_, place) => ages[place] === Math.min(...ages));
  const [only, ...others] = alike.length === 1 ? alike : oldest;
  if (only && others.length === 0) return only;
  const objects = alike.map(({ id, wire }) => `the ${describe(definition, { ...wire, id })}`);
  throw new ConversationError(
    "AMBIGUOUS",
    `${objects.join(" and ")} carry the same mark for this resource, because a person copied one, ` +
      `and it is unclear which is the copy. Nothing was changed. Choose one by its ID (adopt: "<id>"), or remove the mark from the copy: ${ownCommand("orphans --release --id <id>")}`,
  );
};

/**
 * Returns the object that `adopt` identifies by ID or by name.
 *
 * @throws ConversationError `NOT_FOUND` if there is none, `AMBIGUOUS` if there are several,
 * `OWNED_ELSEWHERE` if it belongs to another resource
 */
export const adoptee = async (declared: Declared, known: KnownObjects): Promise<Found> => {
  const { adopt, owner } = declared.properties;
  const id = typeof adopt === "string" ? adopt : idByName(declared, known);
  const found = await byId(declared, id);
  // An object without a mark, or one that somebody has renamed, may still belong to another stack.
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
      `there is no ${definition.noun} with the ${called} to adopt. Nothing was changed. Correct the ${nameKey}, use the object's ID (adopt: "<id>"), or remove adopt to create an object.`,
    );
  }
  assertId(found.id, definition.noun);
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id }) => id).join(", ");
  throw new ConversationError(
    "AMBIGUOUS",
    `${others.length + 1} ${definition.noun}s have the ${called}: ${ids}. Nothing was changed. Choose the object to adopt by its ID, for example adopt: "${found.id}".`,
  );
};

const byId = async (declared: Declared, id: string): Promise<Found> => {
  const found = await wholeObject(declared, id);
  if (found) return found;
  throw new ConversationError(
    "NOT_FOUND",
    `there is no ${declared.definition.noun} with the ID ${id} to adopt. Nothing was changed. Correct the ID, or remove adopt to create an object.`,
  );
};

/** Refuses an object that stands for another resource, of this program or of a state. */
const assertAdoptable = (
  declared: Declared,
  found: Found,
  states: ObjectHolders | undefined,
): void => {
  const { definition, identity, run } = declared;
  const other =
    (identity && run.decisions.take(`adopt ${definition.kind} ${found.id}`, identity)) ??
    run.decisions.holders.get(found.id);
  if (other && other.key !== identity?.key) {
    throw new ConversationError(
      "OWNED_ELSEWHERE",
      `the ${describe(definition, found)} belongs to another resource in this program: ${other.label}. Nothing was changed. Only one resource can adopt an object: remove adopt from one of them.`,
    );
  }
  const holders = states?.holdersOf(definition.kind, found.id) ?? [];
  const holder = holders.find((each) => !isThisResource(declared, each));
  if (holder) throw ownedElsewhere(declared, found, holder);
  const mark = originalMark(definition, found);
  // A leftover or a copy of this very stack that no state holds belongs to nobody else.
  const isFree = mark !== undefined && mark.stack === declared.mark?.stack && states !== undefined;
  if (mark && !isFree && !seenObject(declared, found.id, found).isOwn)
    throw ownedElsewhere(declared, found, mark);
};

/**
 * Throws if another owner's object has the name. Also throws if names need not be unique and the
 * list cannot be read completely, because the service would accept a second object with the same
 * name.
 */
export const assertFree = async (
  declared: Declared,
  { objects, complete, refusal }: KnownObjects,
  states: ObjectHolders | undefined,
): Promise<void> => {
  const { definition, run, isUnique, properties } = declared;
  if (!isUnique && !complete) throw unreadable(declared, refusal);
  const taken = objects.find((each) => isTaken(declared, each, states));
  if (!taken) return;
  const found = { ...taken.wire, id: taken.id };
  const holder = run.decisions.holders.get(taken.id);
  if (holder) throw takenByProgram(declared, found, holder.label);
  // The resource of any stack that it stands for: without a mark, only the states know it.
  const all = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const owner = all?.holdersOf(definition.kind, taken.id)[0] ?? originalMark(definition, found);
  if (owner) throw ownedElsewhere(declared, found, owner);
  throw new ConversationError(
    "NAME_TAKEN",
    `the ${describe(definition, found)} already exists and is not managed by Pulumi${taken.mark ? ": it is a copy of a stack's object" : ""}. Nothing was changed. ` +
      (isUnique
        ? ""
        : "It carries no mark, and a new one would not carry one either, so it is unknown whether an interrupted run created it. ") +
      `Adopt it with adopt: true or adopt: "${taken.id}", or use another ${declared.nameKey}.`,
  );
};

const unreadable = (
  { definition: { noun, collection } }: Declared,
  refusal: ConversationError | undefined,
): ConversationError => {
  const why = refusal?.message ?? `the service returns only part of the list of ${collection}.`;
  const way = refusal
    ? `Allow the client to list ${collection}. If the ${noun} exists, you can also adopt it`
    : `If the ${noun} exists, or once you have created it by hand, adopt it`;
  return new ConversationError(
    refusal?.code ?? "BAD_RESPONSE",
    `${why} Names of ${collection} need not be unique, so only the complete list shows whether an earlier attempt has already created the ${noun}. Nothing was created. ${way} by its ID (adopt: "<id>").`,
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
  if (isUnique && seen.isNamed) return true;
  const holder = run.decisions.holders.get(seen.id);
  const isHeld = holder
    ? holder.key !== identity?.key
    : (states?.holdersOf(definition.kind, seen.id).length ?? 0) > 0;
  if (isHeld) return false;
  // Its state is lost or out of sight, or was renamed: it would be one resource's second object.
  if (seen.addedMark) return hasNamesakeMark(declared, seen);
  // No mark distinguishes this object from the one to be created: an interrupted run may have left
  // it.
  return !isMarked && seen.isNamed;
};

/** Returns the error for a name that another resource in the same program already uses. */
export const takenByProgram = (
  { definition, nameKey }: Declared,
  { id }: Found,
  label: string,
): ConversationError =>
  new ConversationError(
    "NAME_TAKEN",
    `the ${nameKey} belongs to another resource in this program: ${label} (ID ${id}). ` +
      `The ${nameKey} of ${withArticle(definition.noun)} must be unique: change one of the two. To swap them, give one a temporary ${nameKey} first.`,
  );

/** Returns the error for an object that a mark or a state assigns to another owner. */
export const ownedElsewhere = (
  declared: Declared,
  found: Found,
  owner: Mark | Holding,
): ConversationError => {
  const { definition } = declared;
  return new ConversationError(
    "OWNED_ELSEWHERE",
    `the ${describe(definition, found)} ${whose(owner)}. Nothing was changed. ${wayOut(declared, owner, found.id)}`,
  );
};

const whose = (owner: Mark | Holding): string => {
  if (!("urn" in owner)) return `belongs to another Pulumi resource or state: ${owner.label}`;
  return `belongs to ${owner.urn} in the state of ${owner.own ? "this stack" : `the stack ${owner.stack}`}`;
};

/** The alias with which a resource takes over the state of the one with this URN. */
const aliasFor = (
  { definition, run, properties: { owner = "" } }: Declared,
  urn: string,
): string => {
  const token = run.isPlugins ? pluginToken(definition.kind) : typeToken(definition.kind);
  const own = urnOf(owner, token);
  if (parentsIn(urn) !== parentsIn(own)) return JSON.stringify(urn);
  const { type, name } = urnParts(urn);
  const differing = [
    ...(type === token ? [] : [`type: ${JSON.stringify(type)}`]),
    ...(name === urnParts(own).name ? [] : [`name: ${JSON.stringify(name)}`]),
  ];
  return `{ ${differing.join(", ")} }`;
};

const wayOut = (declared: Declared, owner: Mark | Holding, id: string): string => {
  const { mark, nameKey } = declared;
  const isHolding = "urn" in owner;
  const isOwnStack = isHolding ? owner.own : owner.stack === mark?.stack;
  const alias = isHolding
    ? aliasFor(declared, owner.urn)
    : `{ name: ${JSON.stringify(owner.label.split(" ").at(-1))} }`;
  // Removing it there would delete the object.
  const way = isOwnStack
    ? `. If this resource is that one, add the option aliases: [${alias}].`
    : ", or hand the object over as the page below describes, so that the other stack does not delete it.";
  const gone = isHolding
    ? ""
    : ` If no state contains the object anymore, ${ownCommand(`orphans --release --id ${id}`)} removes the mark, so that you can adopt it.`;
  return `Use another ${nameKey}${way}${gone}`;
};
