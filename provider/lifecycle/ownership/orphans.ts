import type { Definition } from "../../definition/define.js";
import { deletionOrder } from "../../definition/fields.js";
import { ownershipsOf } from "../../kernel/owner.js";
import type { WireObject } from "../../service/lists.js";
import {
  isCopy,
  isSameResource,
  type Mark,
  markOf,
  markOn,
  nameOnWire,
  stackLabel,
  stackMark,
} from "./mark.js";
import type { Holding, StackStates } from "./stack-states.js";

/** An object in the service that carries a mark. */
export interface MarkedObject {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  readonly mark: Mark;
  /**
   * Whether the mark matches the object's name and creation time. If not, the object counts as a
   * copy made by a person.
   */
  readonly fits: boolean;
}

/**
 * The standing of an object that carries the mark of a stack whose own state does not contain it:
 *
 * - `leftover`: created by this stack, and in no state;
 * - `held`: in the state of another stack to which it was moved, or looked up by another stack;
 * - `copy`: carries the mark of a resource for which a state contains another object, because a
 *   person copied that object, including its description;
 * - `former`: carries the stack's name, but the mark of another state: a destroyed or lost state,
 *   or somebody else's state with the same name.
 */
export type Standing = "leftover" | "held" | "copy" | "former";

/** A marked object that is not in its stack's state. */
export interface Orphan extends MarkedObject {
  readonly standing: Standing;
  /** The resources that hold or look up the object. */
  readonly heldBy: readonly Holding[];
  /**
   * Whether a run started to create the object but did not report the result. If so, the next `up`
   * adopts the object.
   */
  readonly pending: boolean;
}

/** The short names of the project and the stack whose marks are searched for. */
export interface StackNames {
  readonly project: string;
  readonly stack: string;
}

/** The marked objects of these kinds, in an order in which they can be deleted. */
export const markedAmong = (
  kinds: readonly {
    readonly definition: Definition;
    readonly objects: ReadonlyMap<string, WireObject>;
  }[],
): readonly MarkedObject[] =>
  deletionOrder(kinds.map(({ definition }) => definition)).flatMap((definition) =>
    [...(kinds.find((each) => each.definition === definition)?.objects ?? [])].flatMap(
      ([id, wire]) => markedObject(definition, id, wire) ?? [],
    ),
  );

/** An object in a list, with its mark; undefined if it has no mark. */
export const markedObject = (
  definition: Definition,
  id: string,
  wire: WireObject,
): MarkedObject | undefined => {
  const mark = markOn(wire);
  const name = nameOnWire(definition, wire);
  return mark && { definition, id, name, mark, fits: !isCopy(mark, name, wire.created) };
};

const isMarkOf =
  ({ kind }: Definition, mark: Mark) =>
  (owner: string | undefined): boolean =>
    owner !== undefined && isSameResource(markOf(kind, owner), mark);

/** Whether a run started to create the object with this mark but did not report the result. */
export const isBegun = (
  definition: Definition,
  mark: Mark,
  { pending }: Pick<StackStates, "pending">,
): boolean => {
  const isItsMark = isMarkOf(definition, mark);
  return pending.some(({ kind, owner }) => kind === definition.kind && isItsMark(owner));
};

/** The resource that has the mark of an object in a state, but with another object. */
const markedElsewhere = (object: MarkedObject, { holdings }: StackStates): Holding | undefined => {
  const isItsMark = isMarkOf(object.definition, object.mark);
  return holdings.find(
    ({ kind, id, owner, writtenOwner }) =>
      kind === object.definition.kind &&
      id !== object.id &&
      (isItsMark(owner) || isItsMark(writtenOwner)),
  );
};

/**
 * Whether a marked object that is in no state is a copy or a leftover. If the resource now has
 * another object, only a leftover has a different serial.
 */
export const kindOfMarked = (object: MarkedObject, states: StackStates): "copy" | "leftover" => {
  if (!object.fits) return "copy";
  const holder = markedElsewhere(object, states);
  if (!holder) return "leftover";
  const { serial } = object.mark;
  return serial === undefined || serial === holder.serial ? "copy" : "leftover";
};

const standingOf = (
  object: MarkedObject,
  { project, stack }: StackNames,
  states: StackStates,
  asked: readonly string[],
): Standing | undefined => {
  const { mark, id, definition } = object;
  const isOurs = ownershipsOf(states.own).map(stackMark).includes(mark.stack);
  const isNamedSo = mark.label.startsWith(`${stackLabel(project, stack)} `);
  const holders = states.holdersOf(definition.kind, id);
  // The leftovers of a removed stack can be named by id from any stack that sees all others.
  const isAsked = states.complete && asked.includes(id);
  if ((!isOurs && !isNamedSo && !isAsked) || holders.some(({ own }) => own)) return undefined;
  if (holders.length + states.readersOf(definition.kind, id).length > 0) return "held";
  if (isOurs) return kindOfMarked(object, states);
  // The leftovers of an existing stack, such as a renamed one, are for that stack to find.
  return states.ownerships.map(stackMark).includes(mark.stack) ? undefined : "former";
};

/**
 * The objects that carry a stack's mark or name and are not in its state, in the given order.
 *
 * @param asked IDs of further objects, which may carry the mark of a stack that no longer exists
 */
export const orphansAmong = (
  objects: readonly MarkedObject[],
  names: StackNames,
  states: StackStates,
  asked: readonly string[] = [],
): readonly Orphan[] =>
  objects.flatMap((object) => {
    const standing = standingOf(object, names, states, asked);
    if (!standing) return [];
    const { kind } = object.definition;
    const heldBy = [...states.holdersOf(kind, object.id), ...states.readersOf(kind, object.id)];
    const pending = isBegun(object.definition, object.mark, states);
    return [{ ...object, standing, heldBy, pending }];
  });
