import { resources } from "../../../provider/resources/index.js";
import type { StackStates } from "../../../provider/stacks/stack-states.js";
import type { CopyRun, RunAccount } from "../run-on-copy.js";
import type { RehearsedCall } from "../service/recording-relay.js";
import { endedSteps, type IdsByUrn } from "./ended-steps.js";
import type { NamedObject, OutcomeCall, Refusal, RehearsedOutcome } from "./outcome.js";
import { blockedDeletions, type RefusalContext, refusalsIn } from "./refusals.js";
import { namedObject, rehearsedChanges } from "./rehearsed-changes.js";

type OtherHolders = Pick<StackStates, "holdersOf">;

const idsByUrn = ({ before, after }: CopyRun): IdsByUrn => {
  const all = [...before.holdings, ...after.holdings];
  const groups = Map.groupBy(all, ({ urn }) => urn);
  return new Map([...groups].map(([urn, held]) => [urn, [...new Set(held.map(({ id }) => id))]]));
};

/** Objects of an account that neither this stack, as it then is, nor another one has. */
const undeclaredIn = (
  { after, profile }: RunAccount,
  run: CopyRun,
  others: OtherHolders,
): readonly NamedObject[] => {
  const held = new Set(run.after.holdings.map(({ kind, id }) => `${kind} ${id}`));
  return resources.flatMap((definition) =>
    (after[definition.collection] ?? [])
      .filter(({ id }) => !held.has(`${definition.kind} ${id}`))
      .filter(({ id }) => !others.holdersOf(definition.kind, id).some(({ own }) => !own))
      .map((object) => namedObject(definition, object, profile)),
  );
};

const contextOf = (run: CopyRun, stack: string, states: OtherHolders): RefusalContext => ({
  before: run.before,
  accounts: run.accounts.map(({ after, profile }) => ({ objects: after, states, profile })),
  stack,
});

const refusalsOf = (run: CopyRun, stack: string, states: OtherHolders): readonly Refusal[] => {
  if (run.succeeded) return [];
  const refusals = refusalsIn(run.engine, run.said, contextOf(run, stack, states));
  return run.stage === "preview"
    ? refusals.map((refusal) => ({ ...refusal, operation: "preview" }))
    : refusals;
};

const outcomeCall = (
  { collection: _, sentAt, endedAt: __, ...call }: RehearsedCall,
  startedAt: number,
): OutcomeCall => ({ ...call, seconds: Math.round((sentAt - startedAt) / 10) / 100 });

const countObjects = ({ after }: RunAccount): number =>
  Object.values(after).reduce((sum, list) => sum + list.length, 0);

/** What a run on a copy says of the run to come. */
export const outcomeOf = (run: CopyRun, stack: string, states: OtherHolders): RehearsedOutcome => {
  const isRun = run.stage === "run";
  const ended = isRun ? run.engine.steps : [];
  return {
    passes: run.succeeded,
    totalSeconds: isRun ? Math.round((run.endedAt - run.startedAt) / 100) / 10 : 0,
    totalCalls: isRun ? run.calls.length : 0,
    calls: isRun ? run.calls.map((call) => outcomeCall(call, run.startedAt)) : [],
    steps: endedSteps(ended, run.calls, idsByUrn(run), run.startedAt),
    refusals: refusalsOf(run, stack, states),
    leftOut: run.ahead.leftOut,
    changes: run.accounts.flatMap(({ before, after, profile }) =>
      rehearsedChanges(before, after, profile),
    ),
    undeclared: run.accounts.flatMap((account) => undeclaredIn(account, run, states)),
    objects: run.accounts.reduce((sum, account) => sum + countObjects(account), 0),
  };
};

/**
 * Steps whose refusal shows only when the others are out of the way.
 *
 * @param run stopped at the first refusal
 * @param others what a run came to that went on after it
 */
export const laterRefusals = (
  run: CopyRun,
  others: readonly Refusal[],
  stack: string,
  states: OtherHolders,
): readonly Refusal[] => {
  const context = contextOf(run, stack, states);
  const first = refusalsOf(run, stack, states);
  const all = [...first, ...others, ...blockedDeletions(run.ahead.deletions, context)];
  const byUrn = new Map(all.toReversed().map((refusal) => [refusal.urn, refusal]));
  return [...byUrn.values()]
    .toReversed()
    .filter(({ urn }) => urn !== undefined && !first.some((other) => other.urn === urn))
    .map((refusal) => ({ ...refusal, later: true as const }));
};
