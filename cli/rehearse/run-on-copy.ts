import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { Switches } from "../../emulator/index.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import { typeToken } from "../../provider/pointer.js";
import type { Ended } from "../../provider/pulumi-cli/processes.js";
import { definitionOfType, resourcesOf } from "../../provider/pulumi-cli/stack-documents.js";
import type { StackState } from "../../provider/pulumi-cli/stack-states.js";
import { mostConnections } from "../../provider/service/http/transport.js";
import type { Plan } from "../../provider/service/plans.js";
import { CommandFailure } from "../command.js";
import type { OpenStack } from "../stack/open-stack.js";
import {
  type RehearsedAccount,
  type RehearsedAccountOptions,
  rehearsedAccounts,
} from "./accounts.js";
import {
  type CopiedObjects,
  type EmulatedAccount,
  emulateAccount,
  knownSwitches,
  type RehearsedCall,
} from "./emulated-account.js";
import {
  asksToRefresh,
  excluding,
  forPreview,
  forSecondLook,
  isPart,
  namesTargets,
  parallelIn,
  runsProgram,
} from "./pulumi-options.js";
import { RehearsedTime } from "./rehearsed-time.js";
import {
  type CopiedStack,
  copyStack,
  type OriginalStack,
  type ReferencedStack,
  readOriginal,
  readReferenced,
  stackReferencesIn,
  unknownStackIn,
} from "./stack-copy.js";

const resourceState = z.object({ custom: z.boolean().optional() }).nullish();

const metadata = z.object({
  op: z.string(),
  urn: z.string(),
  type: z.string(),
  old: resourceState,
  new: resourceState,
});

const withMetadata = z.object({ metadata });

const eventSchema = z.object({
  resourcePreEvent: withMetadata.optional(),
  resOutputsEvent: withMetadata.optional(),
  resOpFailedEvent: withMetadata.optional(),
  diagnosticEvent: z
    .object({ urn: z.string().optional(), message: z.string(), severity: z.string() })
    .optional(),
  /** The last event, however a run ends. */
  cancelEvent: z.object({}).optional(),
});

/** What the engine did with one resource. */
export interface EngineStep {
  readonly urn: string;
  readonly type: string;
  /** Pulumi's word, such as `create`, `update`, `same`. */
  readonly operation: string;
  readonly failed: boolean;
}

/** What the engine began to do, or in a preview would do, with one resource. */
interface PlannedStep extends Omit<EngineStep, "failed"> {
  /** Whether a provider manages it, and it is no component. */
  readonly custom: boolean;
}

/** An error that was shown; without a URN it concerns the run as a whole. */
export interface EngineError {
  readonly urn?: string;
  readonly message: string;
}

/** What the engine reported about one run. */
export interface EngineEvents {
  readonly planned: readonly PlannedStep[];
  /** In the order in which they ended; what began and never ended comes last. */
  readonly steps: readonly EngineStep[];
  readonly errors: readonly EngineError[];
  /** Whether no event is missing and each could be read. */
  readonly isWhole: boolean;
}

/** Pulumi marks colors in messages: `<{%reset%}>`. */
const withoutColour = (text: string): string =>
  stripVTControlCharacters(text.replace(/<\{%[\w ]*%\}>/g, "")).trim();

/** Reads what `--event-log` has written: an event on each line. */
export const engineEventsIn = (log: string): EngineEvents => {
  const begun = new Map<string, PlannedStep>();
  const planned: PlannedStep[] = [];
  const ended: EngineStep[] = [];
  const errors: EngineError[] = [];
  let unread = 0;
  let isEnded = false;
  const end = ({ op, urn, type }: z.infer<typeof metadata>, failed: boolean): void => {
    begun.delete(`${op} ${urn}`);
    ended.push({ urn, type, operation: op, failed });
  };
  for (const line of log.split("\n")) {
    // Many lines are for debugging, and long.
    if (line.trim() === "" || line.includes('"severity":"debug"')) continue;
    const event = eventSchema.safeParse(jsonIn(line)).data;
    if (!event) {
      unread += 1;
      continue;
    }
    isEnded ||= event.cancelEvent !== undefined;
    const { resourcePreEvent, resOutputsEvent, resOpFailedEvent, diagnosticEvent } = event;
    if (resourcePreEvent) {
      const { op, urn, type, old, new: made } = resourcePreEvent.metadata;
      const step = { urn, type, operation: op, custom: (made ?? old)?.custom === true };
      planned.push(step);
      begun.set(`${op} ${urn}`, step);
    }
    if (resOutputsEvent) end(resOutputsEvent.metadata, false);
    if (resOpFailedEvent) end(resOpFailedEvent.metadata, true);
    if (diagnosticEvent?.severity === "error") {
      const { urn, message } = diagnosticEvent;
      errors.push({ ...(urn ? { urn } : {}), message: withoutColour(message) });
    }
  }
  const unended = [...begun.values()].map(({ custom: _, ...step }) => ({ ...step, failed: false }));
  return { planned, steps: [...ended, ...unended], errors, isWhole: isEnded && unread === 0 };
};

/** What the engine reports about its last run on a copy. */
const eventsOf = ({ eventFile }: CopiedStack): EngineEvents =>
  engineEventsIn(existsSync(eventFile) ? readFileSync(eventFile, "utf8") : "");

/** Options of every rehearsal. */
export interface RehearseOptions extends RehearsedAccountOptions {
  readonly operation: "up" | "destroy";
  /** Options for `pulumi up` or `pulumi destroy`. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also?: readonly string[];
  /** What is known about the service. */
  readonly switches?: Partial<Switches>;
  /** Whether the program gets the answer that this is no dry run, as in a real update. */
  readonly runEffects?: true;
}

/** What to run on a copy, and where: resolved once for all runs of a rehearsal. */
export interface RunSetup
  extends Required<Pick<RehearseOptions, "operation" | "args" | "also" | "switches" | "signal">> {
  readonly original: OriginalStack;
  readonly accounts: readonly RehearsedAccount[];
  /** Plan of the first account. */
  readonly plan: Plan;
  /** Steps that run in parallel. */
  readonly parallel: number;
  readonly runEffects: boolean;
  /**
   * How an account behaves if neither the person nor its settings say so. Default: as the emulator
   * does.
   */
  readonly otherwise?: Partial<Switches>;
  /** What is known from an earlier run on the same copy. Default: make a preview. */
  readonly ahead?: LookAhead;
}

/** What is known about a run in advance: the same for every run on the same copy. */
interface LookAhead {
  /** URNs of resources that are not run, as they reach beyond the account. */
  readonly leftOut: readonly string[];
  /**
   * Those of them that the run deletes. They are deleted without a call: excluded, they would keep
   * everything that they depend on.
   */
  readonly detached: readonly string[];
  /** URNs of what is to be deleted. */
  readonly deletions: readonly string[];
  /** Stacks to which the program refers. */
  readonly referenced: readonly ReferencedStack[];
  /** What could not be copied, each a sentence. */
  readonly missing: readonly string[];
}

/**
 * Reads the stack and its accounts.
 *
 * @returns the setup, with notes about it, each a sentence
 * @throws CommandFailure if the stack cannot be read; ConversationError if the service cannot
 */
export const prepareRun = async (
  stack: OpenStack,
  options: RehearseOptions,
): Promise<{ readonly setup: RunSetup; readonly notes: readonly string[] }> => {
  const { operation, args, also = [], switches = {}, runEffects = false, signal, say } = options;
  const original = await readOriginal(stack);
  const { notes, ...accounts } = await rehearsedAccounts(original, options, parallelIn(args));
  const types = new Set(resourcesOf(original.document).map(({ type }) => type));
  const unknown = also.filter((type) => !types.has(type));
  if (runEffects) say(effectsWarning);
  const setup = { operation, args, also, switches, runEffects, signal, original, ...accounts };
  return { setup, notes: [...notes, ...unknown.map(unknownAlso)] };
};

const unknownAlso = (type: string): string =>
  `No resource in the state has the --also type ${type}. If the program does not create one, copy the full type from a URN.`;

/** Steps that change something. */
const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken(ownershipKind), "pulumi:pulumi:Stack"]);

const isRun = (type: string, custom: boolean, also: readonly string[]): boolean =>
  !custom ||
  ownTypes.has(type) ||
  /^pulumi:(providers:|pulumi:StackReference$)/.test(type) ||
  definitionOfType(type) !== undefined ||
  also.includes(type);

/** Resources of the state that reach beyond the account. */
const foreignIn = ({ original, also }: RunSetup): readonly string[] =>
  (original.document.deployment.resources ?? []).flatMap(({ type, urn, custom }) =>
    isRun(type, custom === true, also) ? [] : [urn],
  );

/**
 * @throws CommandFailure if the program would not see a dry run: it would really do what it guards
 * with that
 */
const assertDryRun = (copy: CopiedStack, { runEffects }: RunSetup): void => {
  if (runEffects || copy.hasSeenDryRun()) return;
  throw new CommandFailure(
    "Nothing was rehearsed: the program would not see a dry run, so code that it guards with pulumi.runtime.isDryRun() would actually run. " +
      "Only programs that run on Node.js with @pulumi/pulumi 3.216 or later see a dry run. To rehearse it anyway, use --run-effects.",
  );
};

/** A preview on the copy, with the outputs of the stacks that the program turns out to refer to. */
const previewWith = async (
  copy: CopiedStack,
  { original, args }: RunSetup,
  leaving: readonly string[],
) => {
  const referenced: ReferencedStack[] = [];
  const missing: string[] = [];
  const asked = new Set<string>();
  const add = async (name: string): Promise<boolean> => {
    if (asked.has(name)) return false;
    asked.add(name);
    const read = await readReferenced(original.stack, name);
    if (!read) return false;
    if ("problem" in read) missing.push(read.problem);
    else {
      referenced.push(read);
      copy.addStack(read);
    }
    return !("problem" in read);
  };
  for (const name of stackReferencesIn(original.document)) await add(name);
  for (;;) {
    const words = ["preview", "--event-log", copy.eventFile];
    const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
    const { planned, errors, isWhole } = eventsOf(copy);
    const unknown = unknownStackIn(errors.map(({ message }) => message));
    // It is new in the program, so no state has it.
    if (ended.code !== 0 && unknown !== undefined && (await add(unknown))) continue;
    return { ended, planned, isWhole, referenced, missing };
  }
};

/**
 * Makes a preview, which shows why it was refused or which steps belong to packages that are not
 * run. Nothing is run without it, whatever options a person gives: it keeps a run from reaching
 * beyond the account.
 */
const lookAtPreview = async (copy: CopiedStack, setup: RunSetup) => {
  const { args, also } = setup;
  // A refresh would also call the services of the other resources.
  const unread = asksToRefresh(args) ? foreignIn(setup) : [];
  const leaving = excluding(unread, args);
  const { ended, planned, isWhole, ...found } = await previewWith(copy, setup, leaving);
  if (ended.code !== 0) return { ended, leftOut: unread, detached: [], deletions: [], ...found };
  assertDryRun(copy, setup);
  if (!isWhole)
    throw new CommandFailure("Nothing was rehearsed: cannot read the Pulumi preview's event log.");
  const foreign = planned.filter(
    ({ operation, type, custom }) => changing.test(operation) && !isRun(type, custom, also),
  );
  const isDeletion = ({ operation }: PlannedStep): boolean => operation === "delete";
  const kept = foreign.find((step) => !isDeletion(step));
  if (kept && namesTargets(args))
    throw new CommandFailure(
      `The run would change ${kept.urn}, which is not an object in the account, and Pulumi cannot exclude resources if --target is used. Rehearse without --target, or allow the resource's type with --also.`,
      2,
    );
  const urnsOf = (steps: readonly PlannedStep[]) => steps.map(({ urn }) => urn);
  return {
    leftOut: [...new Set([...unread, ...urnsOf(foreign)])],
    detached: urnsOf(foreign.filter(isDeletion)),
    deletions: urnsOf(planned.filter(isDeletion)),
    ...found,
  };
};

/**
 * Finds out what a run on a copy will do.
 *
 * @returns `ended` if the preview was refused, so that there is nothing to run
 */
const lookAhead = async (
  copy: CopiedStack,
  { holdings }: StackState,
  setup: RunSetup,
): Promise<LookAhead & { readonly ended?: Ended }> => {
  const { operation, args, original } = setup;
  if (operation === "up") return lookAtPreview(copy, setup);
  const deletions = isPart(args) ? [] : holdings.map(({ urn }) => urn);
  const leftOut = foreignIn(setup);
  const ahead = { leftOut, detached: leftOut, deletions, referenced: [], missing: [] };
  if (!runsProgram(args, original.stack.env)) return ahead;
  copy.detach(leftOut);
  const words = ["destroy", "--preview-only", "--event-log", copy.eventFile];
  const ended = await copy.pulumi([...words, ...forPreview(args)]);
  if (ended.code !== 0) return { ...ahead, ended };
  assertDryRun(copy, setup);
  return ahead;
};

/** Whether a second run has nothing to do, and nothing has changed outside. */
const isIdempotent = async (
  copy: CopiedStack,
  setup: RunSetup,
  { leftOut }: LookAhead,
): Promise<boolean> => {
  // The program determines how its providers read: one run of it, and one process of each provider.
  const args = ["--refresh", "--run-program", ...forSecondLook(setup.args)];
  const leaving = excluding([...new Set([...foreignIn(setup), ...leftOut])], args);
  const { code } = await copy.pulumi([
    ...["preview", "--event-log", copy.eventFile, ...leaving, ...args],
  ]);
  const { planned, isWhole } = eventsOf(copy);
  const isDone = ({ operation, urn }: PlannedStep): boolean =>
    !changing.test(operation) || leftOut.includes(urn);
  return code === 0 && isWhole && planned.every(isDone);
};

/** The objects of an account before and after the run. */
export interface AccountOutcome {
  readonly profile: string | undefined;
  readonly before: CopiedObjects;
  readonly after: CopiedObjects;
}

/** The course and result of a run on a copy. */
export interface RehearsedRun {
  /** `preview` if Pulumi refused before anything was done. */
  readonly stage: "preview" | "run";
  readonly succeeded: boolean;
  readonly said: readonly string[];
  readonly engine: EngineEvents;
  readonly calls: readonly RehearsedCall[];
  /** In milliseconds, on the clock of the calls. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ahead: LookAhead;
  readonly before: StackState;
  readonly after: StackState;
  readonly accounts: readonly AccountOutcome[];
  readonly missing: readonly string[];
  /** Whether the lists of all accounts show what the service does with secrets. */
  readonly showsSecrets: boolean;
}

/** A copy of the stack, and the emulators that replace the service. */
interface Copied {
  readonly copy: CopiedStack;
  readonly emulated: readonly EmulatedAccount[];
  readonly time: RehearsedTime;
}

/**
 * A program may get values from other packages: nothing shows whether it does, and the values are
 * real.
 */
const askedNotes = (packages: readonly string[]): readonly string[] =>
  packages.length === 0
    ? []
    : [
        `The program also uses other packages: ${packages.join(", ")}. Functions from these packages that the program calls actually ran. Results that depend on them may differ in the real run, once resources that the rehearsal omitted have changed.`,
      ];

/** Shown before a run in which the program does not see a dry run. */
const effectsWarning =
  "Warning: the program sees a real update (--run-effects), so code that it guards with pulumi.runtime.isDryRun() actually runs.";

const effectsNotes = ({ runEffects }: RunSetup): readonly string[] =>
  runEffects
    ? [
        "The program did not see a dry run (--run-effects): code that it guards with pulumi.runtime.isDryRun() and its resource hooks actually ran, with IDs that do not exist in the service.",
      ]
    : [];

/** The copy is examined afterwards, so its stack stays. */
const isOfRuns = (arg: string): boolean => arg !== "--remove";

const runIn = async ({ copy, emulated, time }: Copied, setup: RunSetup): Promise<RehearsedRun> => {
  const { operation, args, ahead: known } = setup;
  const before = copy.state();
  for (const referenced of known?.referenced ?? []) copy.addStack(referenced);
  const { ended: refused, ...ahead } = known
    ? { ...known, ended: undefined }
    : await lookAhead(copy, before, setup);
  const already = new Set(emulated.flatMap(({ calls }) => calls));
  const startedAt = time.now();
  const words = [operation, "--yes", "--skip-preview", "--event-log", copy.eventFile];
  copy.detach(ahead.detached);
  const excluded = ahead.leftOut.filter((urn) => !ahead.detached.includes(urn));
  const leaving = excluding(excluded, args);
  const ended = refused ?? (await copy.pulumi([...words, ...leaving, ...args.filter(isOfRuns)]));
  const endedAt = time.now();
  const calls = emulated.flatMap((account) => account.calls).filter((call) => !already.has(call));
  return {
    stage: refused ? "preview" : "run",
    succeeded: ended.code === 0,
    said: ended.lastLines,
    engine: eventsOf(copy),
    calls: calls.toSorted((a, b) => a.sentAt - b.sentAt),
    ...{ startedAt, endedAt, before, after: copy.state() },
    accounts: emulated.map((account) => ({
      profile: account.profile,
      before: account.before,
      after: account.objects(),
    })),
    ahead,
    missing: [
      ...emulated.flatMap(({ missing }) => missing),
      ...ahead.missing,
      ...effectsNotes(setup),
      ...(operation === "up" && !refused ? askedNotes(copy.otherPackages()) : []),
    ],
    showsSecrets: emulated.every(({ showsSecrets }) => showsSecrets),
  };
};

/**
 * Makes a fresh copy of the stack and a fresh emulator of each account, and removes them after the
 * work.
 */
const onCopy = async <R>(setup: RunSetup, work: (copied: Copied) => Promise<R>): Promise<R> => {
  const { original, accounts, parallel, signal, runEffects } = setup;
  const time = new RehearsedTime(Math.min(parallel, mostConnections * accounts.length));
  const emulated: EmulatedAccount[] = [];
  let copy: CopiedStack | undefined;
  try {
    for (const account of accounts) {
      const known = knownSwitches(account.settings);
      const switches = { ...setup.otherwise, ...known, ...setup.switches };
      emulated.push(await emulateAccount(account, original.document, time, switches));
    }
    copy = await copyStack(original, {
      variables: Object.assign({}, ...emulated.map(({ variables }) => variables)),
      settings: Object.assign({}, ...emulated.map(({ config }) => config)),
      addresses: {
        starts: emulated.map(({ address }) => address),
        instead: Object.assign({}, ...emulated.map(({ instead }) => instead)),
      },
      ...{ runEffects, signal },
    });
    const result = await work({ copy, emulated, time });
    signal.throwIfAborted();
    return result;
  } finally {
    time.close();
    copy?.remove();
    for (const account of emulated) await account.close();
  }
};

/** Runs Pulumi on a copy of the stack, against an emulator of each account. */
export const runOnCopy = (setup: RunSetup): Promise<RehearsedRun> =>
  onCopy(setup, (copied) => runIn(copied, setup));

/** With more steps, two parallel runs would take more memory than most pipeline machines have. */
const mostStepsBeside = 200;

/**
 * Does the same, then checks whether a second run would find anything to do. That takes as long as
 * the run and mostly waits for one process, so other work runs in parallel if the stack is small.
 *
 * @param beside work that needs the run's result
 */
export const runAndLookAfter = <B>(setup: RunSetup, beside: (run: RehearsedRun) => Promise<B>) =>
  onCopy(setup, async (copied) => {
    const run = await runIn(copied, setup);
    const isLooked = run.succeeded && setup.operation === "up";
    const after = isLooked ? isIdempotent(copied.copy, setup, run.ahead) : undefined;
    if (run.engine.steps.length > mostStepsBeside) await after;
    // Both finish before the copy is removed, even if one of them fails.
    const [looked, other] = await Promise.allSettled([after, beside(run)]);
    if (looked.status === "rejected") throw looked.reason;
    if (other.status === "rejected") throw other.reason;
    return { run, isIdempotent: looked.value, beside: other.value };
  });
