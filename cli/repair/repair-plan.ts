import type { JsonObject } from "../../provider/kernel/json.js";
import { isSameResource, markOf } from "../../provider/lifecycle/ownership/mark.js";
import {
  type MarkedObject,
  type Orphan,
  orphansAmong,
} from "../../provider/lifecycle/ownership/orphans.js";
import type { PendingOperation } from "../stack/stack-export.js";
import type { AccountRead } from "../stack/stack-reading.js";
import { withCount } from "../terminal/columns.js";
import { markedName, namedInStep, pendingSteps } from "./pending-steps.js";
import { foreignOperations, markedIn, type RepairFacts } from "./repair-facts.js";
import type { RepairStep } from "./repair-steps.js";

/** A left-over beside the object that stands for its resource. */
export interface Duplicate {
  readonly orphan: Orphan;
  readonly account: AccountRead;
}

/** What brings the state and the service in order. */
export interface RepairPlan {
  readonly steps: readonly RepairStep[];
  /** Resources for the state. */
  readonly entries: readonly JsonObject[];
  readonly duplicates: readonly Duplicate[];
  readonly notes: readonly string[];
  /** What nobody can settle without a person, in sentences. */
  readonly left: readonly string[];
}

const isDuplicate = (
  { definition: { kind }, mark, id }: Orphan,
  account: AccountRead,
  { states }: RepairFacts,
): boolean =>
  states.holdings.some(
    (holding) =>
      holding.own &&
      holding.kind === kind &&
      holding.id !== id &&
      [holding.owner, holding.writtenOwner].some(
        (owner) => owner !== undefined && isSameResource(markOf(kind, owner), mark),
      ) &&
      account.reading.kinds.some(
        ({ definition, objects }) => definition.kind === kind && objects.has(holding.id),
      ),
  );

const leftOversIn = (account: AccountRead, { names, states }: RepairFacts) =>
  orphansAmong(markedIn(account), names, states).filter(({ standing }) => standing === "left-over");

const noteOn = (object: MarkedObject): string =>
  `${object.definition.kind} "${markedName(object)}" (id ${object.id}) was made by a run that left no note of it. ` +
  "The next pulumi up takes it over, if the program still declares it; else: pulumi-conversation orphans --delete";

/** So many operations of other packages are named; a run may have left hundreds. */
const namedForeign = 3;

/** What is pending for other packages, in one sentence: a state that is imported loses all of it. */
const foreignNotes = (operations: readonly PendingOperation[]): readonly string[] => {
  if (operations.length === 0) return [];
  const named = operations
    .slice(0, namedForeign)
    .map(({ type, resource: { urn } }) => `${type} ${urn}`);
  const more = operations.length - named.length;
  return [
    `Resources of other packages have ${withCount(operations.length, "operation")} pending, too: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}. ` +
      "Run pulumi refresh in a terminal, which asks about creations and settles the rest, then repair again. Until then the state is left as it is.",
  ];
};

const incompleteNote =
  "Not every stack of the backend could be read, and one of the others may hold what looks like a duplicate: none is deleted.";

const unreadNotes = ({ accounts }: RepairFacts): readonly string[] =>
  accounts.flatMap(({ reading }) =>
    reading.kinds.flatMap(({ definition: { noun }, problem }) =>
      problem === undefined
        ? []
        : [`What a run has left among the ${noun}s cannot be seen: ${problem}`],
    ),
  );

/** Decides on every operation that is pending, and on what is there twice. */
export const repairPlan = async (facts: RepairFacts): Promise<RepairPlan> => {
  const { steps, entries, left, kept, surplus } = await pendingSteps(facts);
  const leftOvers = facts.accounts.flatMap((account) =>
    leftOversIn(account, facts)
      .filter(({ id }) => !kept.has(id))
      .map((orphan) => ({ orphan, account })),
  );
  const isSurplus = ({ orphan, account }: Duplicate): boolean =>
    surplus.has(orphan.id) || isDuplicate(orphan, account, facts);
  const twice = leftOvers.filter(isSurplus);
  const duplicates = facts.states.complete ? twice : [];
  return {
    steps: [
      ...steps,
      ...duplicates.map(({ orphan }): RepairStep => {
        const { label } = orphan.mark;
        return { action: "delete", label, ...namedInStep(orphan) };
      }),
    ],
    entries,
    duplicates,
    notes: [
      ...leftOvers.filter((each) => !isSurplus(each)).map(({ orphan }) => noteOn(orphan)),
      ...(twice.length > duplicates.length ? [incompleteNote] : []),
      ...unreadNotes(facts),
    ],
    left: [...foreignNotes(foreignOperations(facts.document)), ...left],
  };
};
