import type { Definition } from "../../provider/definition/define.js";
import { asText } from "../../provider/kernel/json.js";
import {
  isSameResource,
  markOf,
  nameOnWire,
  stackMark,
} from "../../provider/lifecycle/ownership/mark.js";
import {
  kindOfMarked,
  markedObject,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import type { WireObject } from "../../provider/service/collections.js";
import type { StackStates } from "../../provider/stacks/stack-states.js";
import type { StackReading } from "../stack/stack-reading.js";
import type { OtherStacksObject, UnmanagedObject } from "./drift.js";

/** What is in the accounts and not in the stack. */
export interface BesideTheStack {
  /** What a run has begun to make and not reported on, named for people. */
  readonly begun: readonly string[];
  readonly unmanaged: readonly UnmanagedObject[];
  readonly otherStacks: readonly OtherStacksObject[];
}

const textIn = (wire: WireObject, name: string): Readonly<Record<string, string>> => {
  const value = wire[name];
  return typeof value === "string" ? { [name]: value } : {};
};

type Place =
  | { readonly other: string }
  | { readonly begun: true }
  | Pick<UnmanagedObject, "standing" | "label">
  | undefined;

/** `shop/prod`, of `shop/prod kiosk` */
const stackIn = (label: string): string => label.split(" ")[0] ?? label;

/** Whose an object is; undefined where this stack has it. */
const placeOf = (
  definition: Definition,
  id: string,
  wire: WireObject,
  states: StackStates,
  { project, stack }: StackNames,
): Place => {
  const { kind } = definition;
  const holders = states.holdersOf(kind, id);
  if (holders.some(({ own }) => own)) return undefined;
  const [holder] = holders;
  if (holder) return { other: holder.stack };
  // What a program only looks up may be managed by anybody, or by nobody.
  const marked = markedObject(definition, id, wire);
  if (!marked) return { standing: "foreign" };
  const { mark } = marked;
  const { ownership } = states.own;
  const isBegun = states.pending.some(
    (each) =>
      each.kind === kind &&
      each.owner !== undefined &&
      isSameResource(markOf(kind, each.owner), mark),
  );
  if (isBegun && kindOfMarked(marked, states) === "left-over") return { begun: true };
  if (ownership !== undefined && mark.stack === stackMark(ownership))
    return { standing: kindOfMarked(marked, states), label: mark.label };
  const isSeen = states.ownerships.map(stackMark).includes(mark.stack);
  if (isSeen) return { standing: kindOfMarked(marked, states), label: mark.label };
  const of = stackIn(mark.label);
  // A state that cannot be read from here, such as one in another backend, may well hold it.
  return of === `${project}/${stack}` ? { standing: "former", label: mark.label } : { other: of };
};

/** All objects of the accounts that this stack does not hold: in no stack at all, or in another one. */
export const besideTheStack = (
  { accounts, states }: StackReading,
  names: StackNames,
): BesideTheStack => {
  const unmanaged: UnmanagedObject[] = [];
  const otherStacks: OtherStacksObject[] = [];
  const begun: string[] = [];
  const all = accounts.flatMap(({ reading }) => reading.kinds);
  for (const { definition, objects } of all)
    for (const [id, wire] of objects) {
      const place = placeOf(definition, id, wire, states, names);
      if (!place) continue;
      const named = { kind: definition.kind, name: asText(nameOnWire(definition, wire)), id };
      if ("begun" in place) begun.push(`${named.kind} "${named.name}" (id ${id})`);
      else if ("other" in place) otherStacks.push({ ...named, stack: place.other });
      else
        unmanaged.push({
          ...named,
          ...place,
          ...textIn(wire, "created"),
          ...textIn(wire, "modified"),
        });
    }
  return { unmanaged, otherStacks, begun };
};
