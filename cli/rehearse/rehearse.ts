import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Switches } from "../../emulator/index.js";
import { withCount } from "../../provider/kernel/columns.js";
import { keepHeapSmall } from "../../provider/pulumi-cli/frugal-node.js";
import type { Plan } from "../../provider/service/plans.js";
import { CommandFailure, messageOf } from "../command.js";
import { openStack } from "../stack/open-stack.js";
import {
  deployingClient,
  type RunConditions,
  readAccounts,
  runConditions,
  type TenantReading,
} from "./accounts.js";
import {
  accountDigest,
  changeRecord,
  recordedSettings,
  resolvedSettings,
  stateDigest,
  unreadKinds,
} from "./change-record.js";
import { knownSwitches } from "./emulated-account.js";
import { differencesBetween, otherReadingsOf } from "./other-readings.js";
import { laterRefusals, outcomeOf } from "./outcome.js";
import { parallelIn } from "./pulumi-options.js";
import { programOf } from "./recorded-program.js";
import type { OtherReading, Rehearsal, RehearsedOutcome } from "./rehearsal-schema.js";
import {
  type CopyRun,
  type CopyRunOptions,
  effectsWarning,
  runAndLookAfter,
  runOnCopy,
} from "./run-on-copy.js";
import { type OriginalStack, readOriginal } from "./stack-copy.js";

/** What is rehearsed, and under which conditions. */
interface RehearseOptions {
  readonly operation: "up" | "destroy";
  /** Options for `pulumi up` or `pulumi destroy`. */
  readonly args: readonly string[];
  readonly stack?: string;
  readonly plan?: Plan;
  readonly burst?: number;
  /** Types of other packages that are run, too. */
  readonly also?: readonly string[];
  /** What is known of the service. */
  readonly switches?: Partial<Switches>;
  /** Scopes of the client that will deploy. Default: those of the one that reads, where it may write. */
  readonly asScopes?: readonly string[];
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runEffects?: true;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Told what is going on. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** A rehearsal, and what it was made from. */
interface RehearsalResult {
  readonly rehearsal: Rehearsal;
  readonly original: OriginalStack;
  readonly readings: readonly TenantReading[];
  /** Digest of the state from before anything was read. */
  readonly stateBefore: string;
}

const conditionsOf = (
  { args, plan, burst }: RehearseOptions,
  original: OriginalStack,
  readings: readonly TenantReading[],
): RunConditions => {
  const parallel = parallelIn(args);
  const given = {
    ...(plan === undefined ? {} : { plan }),
    ...(burst === undefined ? {} : { burst }),
    ...(parallel === undefined ? {} : { parallel }),
  };
  return runConditions(given, original, readings);
};

type Rehearse = (changes: Partial<CopyRunOptions>) => Promise<{
  readonly run: CopyRun;
  readonly outcome: RehearsedOutcome;
}>;

const switchesText = (switches: Partial<Switches>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(switches).map(([name, value]) => [name, String(value)]));

/** Runs again under the other readings: all at once, and one by one where that makes a difference. */
const underOtherReadings = async (
  others: readonly Partial<Switches>[],
  usual: RehearsedOutcome,
  rehearse: Rehearse,
): Promise<Pick<Rehearsal, "otherReadings" | "sameEitherWay">> => {
  const names = (list: readonly Partial<Switches>[]) => list.flatMap((each) => Object.keys(each));
  const under = async (switches: Partial<Switches>) => {
    const { outcome } = await rehearse({ otherwise: switches });
    return { switches, outcome, differences: differencesBetween(usual, outcome) };
  };
  if (others.length === 0) return { otherReadings: [], sameEitherWay: [] };
  const together = await under(Object.assign({}, ...others));
  if (together.differences.length === 0) return { otherReadings: [], sameEitherWay: names(others) };
  const single: (typeof together)[] = [];
  if (others.length > 1) for (const each of others) single.push(await under(each));
  const differing = single.filter(({ differences }) => differences.length > 0);
  const told = differing.length > 0 ? differing : [together];
  const otherReadings = told.map(
    ({ switches, outcome, differences }): OtherReading => ({
      switches: switchesText(switches),
      differences,
      passes: outcome.passes,
    }),
  );
  const isTold = (name: string) => otherReadings.some(({ switches }) => name in switches);
  return { otherReadings, sameEitherWay: names(others).filter((name) => !isTold(name)) };
};

const cutOffNotes = ({ document }: OriginalStack): readonly string[] => {
  const { pending_operations: pending } = document.deployment;
  return pending?.length
    ? [
        `A run was cut off: the state notes ${withCount(pending.length, "operation")} as under way. What it left, and what to do: pulumi-conversation repair`,
      ]
    : [];
};

/**
 * Reads the account and the stack, and runs Pulumi on a copy of both. The service gets lists only; the
 * stack's state and its files are not written.
 *
 * @throws CommandFailure where the stack cannot be read; ConversationError where the service cannot
 */
const runRehearse = async (options: RehearseOptions): Promise<RehearsalResult> => {
  const { operation, args, also = [], switches = {}, say, signal } = options;
  const notes: string[] = [];
  keepHeapSmall();
  const stack = await openStack(options);
  const lock = await stack.readLock();
  if (lock.state === "locked")
    notes.push("The stack is locked: a run may be changing what was just read.");
  const stateBefore = await stateDigest(stack);
  const original = await readOriginal(stack);
  notes.push(...cutOffNotes(original));
  const { readings, notes: ofReading } = await readAccounts(original, options);
  const conditions = conditionsOf(options, original, readings);
  const clients = readings.map((reading) => deployingClient(reading, options.asScopes));
  notes.push(...clients.flatMap(({ assumed = [] }) => assumed), ...ofReading, ...conditions.notes);
  const known = new Set([...knownOfAll(readings), ...Object.keys(switches)]);
  const usual: CopyRunOptions = {
    ...{ operation, original, readings, clients, conditions, args, also, signal },
    ...{ switches, runsEffects: options.runEffects === true },
  };
  const outcomeHere = (run: CopyRun) => outcomeOf(run, stack.names.stack, original.states);
  const furtherRuns = async (run: CopyRun) => {
    const outcome = outcomeHere(run);
    // A switch decides what the service does, which no preview sees.
    const again: Rehearse = async (changes) => {
      const other = await runOnCopy({ ...usual, ahead: run.ahead, ...changes });
      return { run: other, outcome: outcomeHere(other) };
    };
    const later = await refusedLater(run, original, args, again);
    const others = run.stage === "run" ? otherReadingsOf(run, known) : [];
    if (others.length > 0) say("Rehearsing again where the service's behaviour is not certain …");
    return { outcome, later, either: await underOtherReadings(others, outcome, again) };
  };
  if (options.runEffects) say(effectsWarning);
  say(`Rehearsing pulumi ${operation} on a copy …`);
  const { run, settled, beside } = await runAndLookAfter(usual, furtherRuns);
  notes.push(...run.missing);
  const { outcome, later, either } = beside;
  const { project, stack: name } = stack.names;
  return {
    ...{ original, readings, stateBefore },
    rehearsal: {
      ...{ operation, project, stack: name, plan: conditions.plan, parallel: conditions.parallel },
      outcome: {
        ...outcome,
        refusals: [...outcome.refusals, ...later],
        ...(settled === undefined ? {} : { settled }),
      },
      ...either,
      notes,
    },
  };
};

/** What is known of every account, so that there is no other reading of it. */
const knownOfAll = (readings: readonly TenantReading[]): readonly string[] => {
  const [first = {}, ...others] = readings.map(({ settings }) => knownSwitches(settings));
  return Object.keys(first).filter((name) => others.every((known) => name in known));
};

/** What would be refused next, once everything is out of the way that is refused now. */
const refusedLater = async (
  run: CopyRun,
  { stack: { names }, states }: OriginalStack,
  args: readonly string[],
  rehearse: Rehearse,
) => {
  if (run.succeeded || run.stage === "preview") return [];
  const goesOn = args.includes("--continue-on-error");
  const others = goesOn ? [] : (await rehearse({ args: [...args, "--continue-on-error"] })).outcome;
  return laterRefusals(run, "refusals" in others ? others.refusals : [], names.stack, states);
};

const writeRecord = async (
  file: string,
  { rehearsal, original, readings }: RehearsalResult,
  { args, asScopes }: RehearseOptions,
  state: string,
): Promise<void> => {
  const path = resolve(file);
  const record = changeRecord(rehearsal, args, {
    program: programOf(original.stack, path),
    settings: recordedSettings(
      resolvedSettings(
        readings.map(({ settings }) => settings),
        original,
        asScopes !== undefined,
      ),
    ),
    ...(asScopes === undefined ? {} : { asScopes: [...asScopes] }),
    unread: [...unreadKinds(readings)],
    digests: { state, account: accountDigest(readings) },
  });
  try {
    writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CommandFailure(`The change record could not be written: ${messageOf(error)}`);
  }
};

/**
 * Rehearses, and writes the change record if one is wanted.
 *
 * @param record file for the change record
 */
export const rehearseAndRecord = async (
  options: RehearseOptions,
  record: string | undefined,
): Promise<Rehearsal> => {
  const result = await runRehearse(options);
  const { rehearsal, original, stateBefore } = result;
  const stateAfter = await stateDigest(original.stack);
  if (stateAfter !== stateBefore)
    throw new CommandFailure(
      "The state of the stack was changed by somebody else during the rehearsal, so what it said is of the past. Rehearse again.",
    );
  if (record !== undefined) await writeRecord(record, result, options, stateAfter);
  return rehearsal;
};
