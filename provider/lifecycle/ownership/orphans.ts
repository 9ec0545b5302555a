import type { Definition } from "../../definition/define.js";
import { deletionOrder } from "../../definition/fields.js";
import type { Holding, StackStates } from "../../pulumi-cli/stack-states.js";
import type { WireObject } from "../../service/lists.js";
import type { AccountSession } from "../run.js";
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

/** An object at the service that carries a mark. */
export interface MarkedObject {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  readonly mark: Mark;
  /** Whether the mark was made for an object of this name and age; not so on a person's copy. */
  readonly fits: boolean;
}

/**
 * How an object with a mark of a stack stands, where the stack's own state does not hold it:
 *
 * - `left-over`: made by this very stack, and in no state;
 * - `held`: in the state of another stack, into which it was moved, or looked up by one;
 * - `copy`: carries the mark of a resource for which a state holds another object: made by a person
 *   from ours, description included;
 * - `former`: carries the stack's name, but the mark of another state: a destroyed or lost one, or
 *   somebody else's of the same name.
 */
export type Standing = "left-over" | "held" | "copy" | "former";

/** A marked object that is in no state of its stack. */
export interface Orphan extends MarkedObject {
  readonly standing: Standing;
  /** The resources that hold it or look it up. */
  readonly heldBy: readonly Holding[];
  /** A run began to make it and did not report: the next `up` takes it over. */
  readonly pending: boolean;
}

/** The stack whose marks are looked for, by its short names. */
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

/** Every marked object of the service, in that order; asks the service. */
export const markedObjects = async (
  { service }: Pick<AccountSession, "service">,
  resources: readonly Definition[],
): Promise<readonly MarkedObject[]> =>
  markedAmong(
    await Promise.all(
      resources.map(async (definition) => ({
        definition,
        objects: (await service.list(definition, { fresh: true })).objects,
      })),
    ),
  );

/** An object of a list with its mark; undefined where it carries none. */
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

/** Whether a run has begun to make the object with a mark and did not report on it. */
export const isBegun = (
  definition: Definition,
  mark: Mark,
  { pending }: Pick<StackStates, "pending">,
): boolean => {
  const isItsMark = isMarkOf(definition, mark);
  return pending.some(({ kind, owner }) => kind === definition.kind && isItsMark(owner));
};

/** The resource that a state holds with the mark of an object, but for another object. */
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
 * Whether a marked object that no state holds is a copy or a left-over. A left-over of a resource
 * that has another object by now has a serial of its own.
 */
export const kindOfMarked = (object: MarkedObject, states: StackStates): "copy" | "left-over" => {
  if (!object.fits) return "copy";
  const holder = markedElsewhere(object, states);
  if (!holder) return "left-over";
  const { serial } = object.mark;
  return serial === undefined || serial === holder.serial ? "copy" : "left-over";
};

const standingOf = (
  object: MarkedObject,
  { project, stack }: StackNames,
  states: StackStates,
  asked: readonly string[],
): Standing | undefined => {
  const { mark, id, definition } = object;
  const { ownership } = states.own;
  const isOurs = ownership !== undefined && mark.stack === stackMark(ownership);
  const isNamedSo = mark.label.startsWith(`${stackLabel(project, stack)} `);
  const holders = states.holdersOf(definition.kind, id);
  // What a stack left that was removed can be named by its id from any stack that sees all others.
  const isAsked = states.complete && asked.includes(id);
  if ((!isOurs && !isNamedSo && !isAsked) || holders.some(({ own }) => own)) return undefined;
  if (holders.length + states.readersOf(definition.kind, id).length > 0) return "held";
  if (isOurs) return kindOfMarked(object, states);
  // The left-overs of a stack that is there, such as one that was renamed, are for itself to find.
  return states.ownerships.map(stackMark).includes(mark.stack) ? undefined : "former";
};

/**
 * What carries a stack's mark or name and is not in its state, in an order in which it can be deleted.
 *
 * @param asked ids of further objects, which may carry the mark of a stack that is no more
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
