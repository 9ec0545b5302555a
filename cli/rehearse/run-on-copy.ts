import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { Switches } from "../../emulator/index.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/pointer.js";
import type { Ended } from "../../provider/pulumi-cli/processes.js";
import { definitionOfType, previewIn } from "../../provider/pulumi-cli/stack-documents.js";
import type { StackState } from "../../provider/pulumi-cli/stack-states.js";
import { mostConnections } from "../../provider/service/http/transport.js";
import { CommandFailure } from "../command.js";
import type { DeployingClient, RunConditions, TenantReading } from "./accounts.js";
import {
  type CopiedObjects,
  type EmulatedTenant,
  emulateTenant,
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
  runsProgram,
} from "./pulumi-options.js";
import { RehearsedTime } from "./rehearsed-time.js";
import {
  type CopiedStack,
  copyStack,
  type OriginalStack,
  type ReferencedStack,
  readReferenced,
  stackReferencesIn,
  unknownStackIn,
} from "./stack-copy.js";

const metadata = z.object({ op: z.string(), urn: z.string(), type: z.string() });
const withMetadata = z.object({ metadata });

const eventSchema = z.object({
  resourcePreEvent: withMetadata.optional(),
  resOutputsEvent: withMetadata.optional(),
  resOpFailedEvent: withMetadata.optional(),
  diagnosticEvent: z
    .object({ urn: z.string().optional(), message: z.string(), severity: z.string() })
    .optional(),
  summaryEvent: z.object({ result: z.string().optional() }).optional(),
});

/** What the engine did with one resource. */
export interface EngineStep {
  readonly urn: string;
  readonly type: string;
  /** Pulumi's word, such as `create`, `update`, `same`. */
  readonly operation: string;
  readonly failed: boolean;
}

/** An error that was shown; without a URN it is about the run as a whole. */
export interface EngineError {
  readonly urn?: string;
  readonly message: string;
}

/** A run of the engine, as its events tell it. */
export interface EngineRun {
  /** In the order in which they ended; what began and never ended comes last. */
  readonly steps: readonly EngineStep[];
  readonly errors: readonly EngineError[];
}

/** Pulumi marks colours in messages: `<{%reset%}>`. */
const withoutColour = (text: string): string =>
  stripVTControlCharacters(text.replace(/<\{%[\w ]*%\}>/g, "")).trim();

/** Reads what `--event-log` has written: an event on each line. */
export const engineRunIn = (log: string): EngineRun => {
  const begun = new Map<string, EngineStep>();
  const ended: EngineStep[] = [];
  const errors: EngineError[] = [];
  const end = ({ op, urn, type }: z.infer<typeof metadata>, failed: boolean): void => {
    begun.delete(`${op} ${urn}`);
    ended.push({ urn, type, operation: op, failed });
  };
  for (const line of log.split("\n")) {
    // Most lines are for debugging, and long.
    if (line.trim() === "" || line.includes('"severity":"debug"')) continue;
    const event = eventSchema.safeParse(jsonIn(line)).data;
    if (!event) continue;
    const { resourcePreEvent, resOutputsEvent, resOpFailedEvent, diagnosticEvent } = event;
    if (resourcePreEvent) {
      const { op, urn, type } = resourcePreEvent.metadata;
      begun.set(`${op} ${urn}`, { urn, type, operation: op, failed: false });
    }
    if (resOutputsEvent) end(resOutputsEvent.metadata, false);
    if (resOpFailedEvent) end(resOpFailedEvent.metadata, true);
    if (diagnosticEvent?.severity === "error") {
      const { urn, message } = diagnosticEvent;
      errors.push({ ...(urn ? { urn } : {}), message: withoutColour(message) });
    }
  }
  return { steps: [...ended, ...begun.values()], errors };
};

/** What is known of a run before it: the same for every run on a copy of the same. */
interface LookAhead {
  /** URNs of what is not run, as it reaches beyond the account. */
  readonly leftOut: readonly string[];
  /** URNs of what is to be deleted. */
  readonly deletions: readonly string[];
  /** Stacks to which the program refers. */
  readonly referenced: readonly ReferencedStack[];
  /** What could not be copied, each a sentence. */
  readonly missing: readonly string[];
}

/** What is looked at, and which resources of other packages count as ours. */
interface LookAheadOptions {
  readonly operation: "up" | "destroy";
  readonly original: OriginalStack;
  /** Options of the run as the person gives them. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also: readonly string[];
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runsEffects: boolean;
}

/** Steps that change something. */
const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken("Ownership"), "pulumi:pulumi:Stack"]);

const isRun = (type: string, custom: boolean, also: readonly string[]): boolean =>
  !custom ||
  ownTypes.has(type) ||
  /^pulumi:(providers:|pulumi:StackReference$)/.test(type) ||
  definitionOfType(type) !== undefined ||
  also.includes(type);

/** Resources of the state that reach beyond the account. */
const foreignIn = ({ original, also }: LookAheadOptions): readonly string[] =>
  (original.document.deployment.resources ?? []).flatMap(({ type, urn, custom }) =>
    isRun(type, custom === true, also) ? [] : [urn],
  );

/** What the engine says of its last run on a copy. */
const eventsOf = ({ eventFile }: CopiedStack): EngineRun =>
  engineRunIn(existsSync(eventFile) ? readFileSync(eventFile, "utf8") : "");

/** @throws CommandFailure where the program would not see a dry run: it would do for real what it guards with that */
const assertDryRun = (copy: CopiedStack, { runsEffects }: LookAheadOptions): void => {
  if (runsEffects || copy.hasSeenDryRun()) return;
  throw new CommandFailure(
    "Nothing was rehearsed: the program would not see a dry run, and do for real whatever it guards with pulumi.runtime.isDryRun(). " +
      "Only programs that run on Node.js with @pulumi/pulumi 3.216 or newer see one. With --run-effects it is rehearsed as it is.",
  );
};

/** A preview on the copy, with the outputs of the stacks that the program turns out to refer to. */
const previewWith = async (
  copy: CopiedStack,
  { original, args }: LookAheadOptions,
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
    const words = ["preview", "--json", "--event-log", copy.eventFile];
    const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
    const unknown = unknownStackIn(eventsOf(copy).errors.map(({ message }) => message));
    // New in the program, so that no state tells of it.
    if (ended.code !== 0 && unknown !== undefined && (await add(unknown))) continue;
    return { ended, referenced, missing };
  }
};

/**
 * What a preview tells: why it was refused, or which steps are of packages that are not run. Without it
 * nothing is run, whatever options a person gives: it is what keeps a run from reaching beyond the account.
 */
const lookAtPreview = async (copy: CopiedStack, options: LookAheadOptions) => {
  const { args, also } = options;
  // A refresh asks the services of the others for what they have.
  const unread = asksToRefresh(args) ? foreignIn(options) : [];
  const { ended, ...found } = await previewWith(copy, options, excluding(unread, args));
  const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
  if (!preview) return { ended, leftOut: unread, deletions: [], ...found };
  assertDryRun(copy, options);
  const foreign = preview.steps.flatMap(({ op, urn, newState, oldState }) => {
    const resource = newState ?? oldState;
    const isForeign = resource && !isRun(resource.type, resource.custom === true, also);
    return isForeign && changing.test(op) ? [urn] : [];
  });
  if (foreign[0] !== undefined && namesTargets(args))
    throw new CommandFailure(
      `The run would change ${foreign[0]}, which is no object of the account, and Pulumi leaves nothing out beside --target. Rehearse without that target, or allow its type with --also.`,
      2,
    );
  const deletions = preview.steps.filter(({ op }) => op === "delete").map(({ urn }) => urn);
  return { leftOut: [...new Set([...unread, ...foreign])], deletions, ...found };
};

/**
 * Looks what a run on a copy is going to do.
 *
 * @returns `ended` where the preview was refused, so that there is nothing to run
 */
const lookAhead = async (
  copy: CopiedStack,
  { holdings }: StackState,
  options: LookAheadOptions,
): Promise<LookAhead & { readonly ended?: Ended }> => {
  const { operation, args, original } = options;
  if (operation === "up") return lookAtPreview(copy, options);
  const deletions = isPart(args) ? [] : holdings.map(({ urn }) => urn);
  const ahead = { leftOut: foreignIn(options), deletions, referenced: [], missing: [] };
  if (!runsProgram(args, original.stack.env)) return ahead;
  const leaving = excluding(ahead.leftOut, args);
  const words = ["destroy", "--preview-only", "--event-log", copy.eventFile];
  const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
  if (ended.code !== 0) return { ...ahead, ended };
  assertDryRun(copy, options);
  return ahead;
};

/** Whether nothing is left to be done by a second run, and nothing has changed outside. */
const comesToRest = async (
  copy: CopiedStack,
  options: LookAheadOptions,
  { leftOut }: LookAhead,
): Promise<boolean> => {
  const args = ["--refresh", ...forSecondLook(options.args)];
  const leaving = excluding([...new Set([...foreignIn(options), ...leftOut])], args);
  const ended = await copy.pulumi(["preview", "--json", ...leaving, ...args]);
  const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
  return (
    preview?.steps.every(({ op, urn }) => !changing.test(op) || leftOut.includes(urn)) ?? false
  );
};

/** What is run on a copy, and where. */
export interface CopyRunOptions {
  readonly operation: "up" | "destroy";
  readonly original: OriginalStack;
  readonly readings: readonly TenantReading[];
  /** With which client the run takes place in each account, in the order of the readings. */
  readonly clients: readonly DeployingClient[];
  readonly conditions: RunConditions;
  /** Options of the run as the person gives them. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also: readonly string[];
  /** What the person says of the service. */
  readonly switches: Partial<Switches>;
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runsEffects: boolean;
  /** How an account behaves where neither the person nor its settings say it. Default: as the emulator does. */
  readonly otherwise?: Partial<Switches>;
  readonly signal: AbortSignal;
  /** What the preview of an earlier run on a copy of the same told. Default: it is made. */
  readonly ahead?: LookAhead;
}

/** An account before and after the run. */
export interface RunAccount {
  readonly profile: string | undefined;
  readonly before: CopiedObjects;
  readonly after: CopiedObjects;
}

/** A run on a copy as it went. */
export interface CopyRun {
  /** `preview` where Pulumi refused before anything was done. */
  readonly stage: "preview" | "run";
  readonly succeeded: boolean;
  readonly said: readonly string[];
  readonly engine: EngineRun;
  readonly calls: readonly RehearsedCall[];
  /** Milliseconds in the time of the calls. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ahead: LookAhead;
  readonly before: StackState;
  readonly after: StackState;
  readonly accounts: readonly RunAccount[];
  readonly missing: readonly string[];
  /** Whether the lists of all accounts show what the service does with secrets. */
  readonly showsSecrets: boolean;
}

/** A copy of the stack, and what stands for the service. */
interface Copied {
  readonly copy: CopiedStack;
  readonly tenants: readonly EmulatedTenant[];
  readonly time: RehearsedTime;
}

const afterRun = (
  tenants: readonly EmulatedTenant[],
  readings: readonly TenantReading[],
): readonly RunAccount[] =>
  tenants.map(({ before, objects }, place) => ({
    profile: readings[place]?.settings.profile,
    before,
    after: objects(),
  }));

/** A program may ask other packages for values: nothing shows whether it does, and what it was told is real. */
const askedNotes = (packages: readonly string[]): readonly string[] =>
  packages.length === 0
    ? []
    : [
        `The program uses other packages, too: ${packages.join(", ")}. Where it calls their functions, they were really asked and answered as of today; what depends on that may come out otherwise once resources that were left out have changed.`,
      ];

/** Said before a run in which the program does not see a dry run. */
export const effectsWarning =
  "Warning: the program sees a real update (--run-effects), so it really does what it guards with pulumi.runtime.isDryRun().";

const effectsNotes = ({ runsEffects }: CopyRunOptions): readonly string[] =>
  runsEffects
    ? [
        "The program did not see a dry run (--run-effects): what it guards with pulumi.runtime.isDryRun(), and its resource hooks, really ran, with ids that the service does not know.",
      ]
    : [];

/** The copy is looked at afterwards, so its stack stays. */
const isOfRuns = (arg: string): boolean => arg !== "--remove";

const runIn = async (
  { copy, tenants, time }: Copied,
  options: CopyRunOptions,
): Promise<CopyRun> => {
  const { operation, args, readings } = options;
  const before = copy.state();
  const known = options.ahead;
  for (const referenced of known?.referenced ?? []) copy.addStack(referenced);
  const { ended: refused, ...ahead } = known
    ? { ...known, ended: undefined }
    : await lookAhead(copy, before, options);
  const already = new Set(tenants.flatMap(({ calls }) => calls));
  const startedAt = time.now();
  const words = [operation, "--yes", "--skip-preview", "--event-log", copy.eventFile];
  const leaving = excluding(ahead.leftOut, args);
  const ended = refused ?? (await copy.pulumi([...words, ...leaving, ...args.filter(isOfRuns)]));
  const endedAt = time.now();
  const calls = tenants.flatMap((tenant) => tenant.calls).filter((call) => !already.has(call));
  const accounts = afterRun(tenants, readings);
  return {
    stage: refused ? "preview" : "run",
    succeeded: ended.code === 0,
    said: ended.lastLines,
    engine: eventsOf(copy),
    calls: calls.toSorted((a, b) => a.sentAt - b.sentAt),
    ...{ startedAt, endedAt, before, after: copy.state(), accounts },
    ahead,
    missing: [
      ...tenants.flatMap(({ missing }) => missing),
      ...ahead.missing,
      ...effectsNotes(options),
      ...(operation === "up" && !refused ? askedNotes(copy.otherPackages()) : []),
    ],
    showsSecrets: tenants.every(({ showsSecrets }) => showsSecrets),
  };
};

/** Makes a fresh copy of the stack and a fresh emulator of each account, and takes them away again. */
const onCopy = async <R>(
  options: CopyRunOptions,
  work: (copied: Copied) => Promise<R>,
): Promise<R> => {
  const { original, readings, signal, runsEffects } = options;
  const { parallel, accounts } = options.conditions;
  const time = new RehearsedTime(Math.min(parallel, mostConnections * readings.length));
  const tenants: EmulatedTenant[] = [];
  let copy: CopiedStack | undefined;
  try {
    for (const [place, reading] of readings.entries()) {
      const conditions = accounts[place];
      const client = options.clients[place];
      if (!conditions || !client) throw new Error("an account has no conditions");
      const { document } = original;
      const switches = {
        ...options.otherwise,
        ...knownSwitches(reading.settings),
        ...options.switches,
      };
      tenants.push(await emulateTenant({ reading, client, document, conditions, time, switches }));
    }
    copy = await copyStack(original, {
      variables: Object.assign({}, ...tenants.map(({ variables }) => variables)),
      settings: Object.assign({}, ...tenants.map(({ config }) => config)),
      ...{ runsEffects, signal },
    });
    const result = await work({ copy, tenants, time });
    signal.throwIfAborted();
    return result;
  } finally {
    time.close();
    copy?.remove();
    for (const tenant of tenants) await tenant.close();
  }
};

/** Runs Pulumi on a copy of the stack, against an emulator of each account. */
export const runOnCopy = (options: CopyRunOptions): Promise<CopyRun> =>
  onCopy(options, (copied) => runIn(copied, options));

/** A run, and what came after it. */
interface RunAndAfter<B> {
  readonly run: CopyRun;
  /** Whether a second run would find nothing to do, where that was looked for. */
  readonly settled: boolean | undefined;
  readonly beside: B;
}

/**
 * The same, and looks afterwards whether a second run would find anything to do. That takes as long as
 * the run, mostly waiting for one process: what can be done beside it is.
 *
 * @param beside what follows from the run
 */
export const runAndLookAfter = <B>(
  options: CopyRunOptions,
  beside: (run: CopyRun) => Promise<B>,
): Promise<RunAndAfter<B>> =>
  onCopy(options, async (copied) => {
    const run = await runIn(copied, options);
    const isLooked = run.succeeded && options.operation === "up";
    const after = isLooked ? comesToRest(copied.copy, options, run.ahead) : undefined;
    // Both come to an end before the copy goes, also where one of them fails.
    const [settled, other] = await Promise.allSettled([after, beside(run)]);
    if (settled.status === "rejected") throw settled.reason;
    if (other.status === "rejected") throw other.reason;
    return { run, settled: settled.value, beside: other.value };
  });
