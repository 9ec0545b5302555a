import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { withCount } from "../../provider/kernel/columns.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { keepHeapSmall } from "../../provider/pulumi-cli/frugal-node.js";
import { CommandFailure, messageOf } from "../command.js";
import { type LockStanding, lockStanding } from "../repair/remains.js";
import { type OpenStack, openStack, type StackOptions } from "../stack/open-stack.js";
import { alternativesTo, doubtfulSwitches, type RunAgain } from "./alternatives.js";
import {
  accountDigest,
  changeRecord,
  recordedSettings,
  resolvedSettings,
  stateDigest,
  unreadKinds,
} from "./change-record.js";
import { knownSwitches } from "./emulated-account.js";
import { laterRefusals, outcomeOf } from "./outcome.js";
import { programOf } from "./recorded-program.js";
import type { Refusal, Rehearsal } from "./rehearsal-schema.js";
import {
  prepareRun,
  type RehearsedRun,
  type RehearseOptions,
  type RunSetup,
  runAndLookAfter,
  runOnCopy,
} from "./run-on-copy.js";
import type { OriginalStack } from "./stack-copy.js";

/** A rehearsal and its inputs. */
interface RehearsalResult {
  readonly rehearsal: Rehearsal;
  readonly setup: RunSetup;
  /** Digest of the state from before anything was read. */
  readonly stateBefore: string;
}

const cutOffNotes = ({ document }: OriginalStack, { state }: LockStanding): readonly string[] => {
  const { pending_operations: pending } = document.deployment;
  // What a run at work has begun is no remains.
  const run =
    state === "unknown" ? "A run is in progress or was interrupted" : "A run was interrupted";
  return pending?.length && state !== "alive"
    ? [
        `${run}: the state contains ${withCount(pending.length, "pending operation")}. To see what it left behind and what to do, run: ${ownCommand("repair")}`,
      ]
    : [];
};

/** The switches known for every account, so that there is no doubt about them. */
const knownOfAll = (accounts: RunSetup["accounts"]): readonly string[] => {
  const [first = {}, ...others] = accounts.map(({ settings }) => knownSwitches(settings));
  return Object.keys(first).filter((name) => others.every((known) => name in known));
};

/** What would be refused next, once everything that is refused now is resolved. */
const refusedLater = async (
  run: RehearsedRun,
  { args, original: { stack, states } }: RunSetup,
  again: RunAgain,
): Promise<readonly Refusal[]> => {
  if (run.succeeded || run.stage === "preview") return [];
  const goesOn = args.includes("--continue-on-error");
  const others = goesOn ? [] : (await again({ args: [...args, "--continue-on-error"] })).refusals;
  return laterRefusals(run, others, stack.names.stack, states);
};

/**
 * Reads the account and the stack, and runs Pulumi on a copy of both. The service gets lists only; the
 * stack's state and its files are not written.
 *
 * @throws CommandFailure if the stack cannot be read; ConversationError if the service cannot
 */
const runRehearsal = async (
  stack: OpenStack,
  options: RehearseOptions,
): Promise<RehearsalResult> => {
  const { operation, say } = options;
  const lock = await stack.readLock();
  const ofLock =
    lock.state === "locked"
      ? ["The stack is locked: a run may be changing what the rehearsal has just read."]
      : [];
  const standing = lock.state === "free" ? lock : await lockStanding(stack);
  const stateBefore = await stateDigest(stack);
  const { setup, notes } = await prepareRun(stack, options);
  const { original, accounts, plan, parallel, switches } = setup;
  const known = new Set([...knownOfAll(accounts), ...Object.keys(switches)]);
  const outcomeHere = (run: RehearsedRun) => outcomeOf(run, stack.names.stack, original.states);
  const furtherRuns = async (run: RehearsedRun) => {
    const outcome = outcomeHere(run);
    // A switch decides what the service does, which does not affect a preview.
    const again: RunAgain = async (changes) =>
      outcomeHere(await runOnCopy({ ...setup, ahead: run.ahead, ...changes }));
    const later = await refusedLater(run, setup, again);
    const others = run.stage === "run" ? doubtfulSwitches(run, known) : [];
    if (others.length > 0) say("Rehearsing again for uncertain service behavior …");
    return { outcome, later, either: await alternativesTo(outcome, others, again) };
  };
  say(`Rehearsing pulumi ${operation} on a copy …`);
  const { run, isIdempotent, beside } = await runAndLookAfter(setup, furtherRuns);
  const { outcome, later, either } = beside;
  return {
    ...{ setup, stateBefore },
    rehearsal: {
      ...{ operation, ...stack.names, plan, parallel },
      outcome: {
        ...outcome,
        refusals: [...outcome.refusals, ...later],
        ...(isIdempotent === undefined ? {} : { isIdempotent }),
      },
      ...either,
      notes: [...ofLock, ...cutOffNotes(original, standing), ...notes, ...run.missing],
    },
  };
};

const writeRecord = (
  file: string,
  { rehearsal, setup }: RehearsalResult,
  { asScopes }: RehearseOptions,
  state: string,
): void => {
  const path = resolve(file);
  const { original, accounts, args } = setup;
  const settings = accounts.map((account) => account.settings);
  const record = changeRecord(rehearsal, args, {
    program: programOf(original.stack, path),
    settings: recordedSettings(resolvedSettings(settings, original, asScopes !== undefined)),
    ...(asScopes === undefined ? {} : { asScopes: [...asScopes] }),
    unread: [...unreadKinds(accounts)],
    digests: { state, account: accountDigest(accounts) },
  });
  try {
    writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CommandFailure(`Cannot write the change record: ${messageOf(error)}`);
  }
};

/**
 * Rehearses, and writes the change record if one is wanted.
 *
 * @param record file for the change record
 * @throws CommandFailure if the stack cannot be read, or was changed meanwhile; ConversationError if the
 * service cannot be read
 */
export const rehearse = async (
  options: RehearseOptions & StackOptions,
  record: string | undefined,
): Promise<Rehearsal> => {
  keepHeapSmall();
  const stack = await openStack(options);
  const result = await runRehearsal(stack, options);
  const stateAfter = await stateDigest(stack);
  if (stateAfter !== result.stateBefore)
    throw new CommandFailure(
      "Another process changed the stack's state during the rehearsal, so the result is out of date. Rehearse again.",
    );
  if (record !== undefined) writeRecord(record, result, options, stateAfter);
  return result.rehearsal;
};
