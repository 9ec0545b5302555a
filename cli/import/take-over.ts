import { isSameResource, markOf, stackMark } from "../../provider/lifecycle/ownership/mark.js";
import { typeToken } from "../../provider/pointer.js";
import type { Holding, StackStates } from "../../provider/stacks/stack-states.js";
import { type ObjectInputs, withoutSecrets } from "../account/object-inputs.js";
import { CommandFailure } from "../command.js";
import { objectLabel } from "../export/program-files.js";
import { type EntryOptions, type ImportEntry, importEntry } from "./import-entries.js";

/** An object, and the resource that is to stand for it. */
export interface Candidate {
  readonly object: ObjectInputs;
  /** Logical name of the resource. */
  readonly logical: string;
}

/** An object that is not taken over, with the reason. */
export interface LeftObject extends Candidate {
  readonly reason: string;
}

const heldIn = ({ own, stack, urn }: Holding): string =>
  own ? `the state already has it: ${urn}` : `it is in the state of the stack ${stack}: ${urn}`;

const namesake = ({ object, logical }: Candidate, { holdings }: StackStates) =>
  holdings.find(
    ({ own, urn, kind }) =>
      own &&
      kind === object.definition.kind &&
      urn.split("::").slice(2).join("::") === `${typeToken(kind)}::${logical}`,
  );

/** Whether a run has begun to make an object and did not report on it: its own name is to stand for it. */
const isBegun = ({ object: { definition, mark } }: Candidate, { pending }: StackStates): boolean =>
  mark !== undefined &&
  pending.some(
    ({ kind, owner }) =>
      owner !== undefined && kind === definition.kind && isSameResource(markOf(kind, owner), mark),
  );

/** Why a state must not take an object over; undefined where it may. */
const obstacle = (candidate: Candidate, states: StackStates): string | undefined => {
  const { definition, id, mark, problem } = candidate.object;
  const [holder] = states.holdersOf(definition.kind, id);
  if (holder) return heldIn(holder);
  const { ownership } = states.own;
  // What this very stack made and no state holds is nobody else's.
  const isOurs =
    mark !== undefined && ownership !== undefined && mark.stack === stackMark(ownership);
  if (mark && !isOurs) return `it carries the mark of another stack: ${mark.label}`;
  if (mark && isBegun(candidate, states))
    return `a run of this stack has begun to make it (${mark.label}): pulumi-conversation repair writes it into the state`;
  const other = namesake(candidate, states);
  if (other) return `the state has another object for this name: ${other.urn} (id ${other.id})`;
  return problem === undefined ? undefined : `no program can declare it as it is: ${problem}`;
};

/** What may be taken over and what may not. */
export const divided = (
  candidates: readonly Candidate[],
  states: StackStates,
): { readonly free: readonly Candidate[]; readonly left: readonly LeftObject[] } => {
  const judged = candidates.map((candidate) => ({
    candidate,
    reason: obstacle(candidate, states),
  }));
  return {
    free: judged.flatMap(({ candidate, reason }) => (reason === undefined ? [candidate] : [])),
    left: judged.flatMap(({ candidate, reason }) =>
      reason === undefined ? [] : [{ ...candidate, reason }],
    ),
  };
};

const mostShown = 20;

/**
 * What is refused, each object with its reason.
 *
 * @param outcome what did not come about
 */
export const takeOverRefusal = (
  left: readonly LeftObject[],
  advice: string,
  outcome = "Nothing was imported",
): CommandFailure => {
  const lines = left
    .slice(0, mostShown)
    .map(({ object, reason }) => `  ${objectLabel(object)} (id ${object.id}): ${reason}`);
  const more = left.length > mostShown ? [`  … and ${left.length - mostShown} more`] : [];
  return new CommandFailure([`${outcome}:`, ...lines, ...more, advice].join("\n"));
};

/** The entry of an object; its secrets as undisclosed, unless they are wanted. */
export const entryOf = (
  { object, logical }: Candidate,
  options: EntryOptions & { readonly withSecrets?: boolean },
): ImportEntry => {
  const { definition, fields } = object;
  const shown = options.withSecrets ? fields : withoutSecrets(definition.fields, fields);
  return importEntry({ ...object, fields: shown }, logical, options);
};
