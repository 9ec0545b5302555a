import type { Switches } from "../../emulator/index.js";
import { mostConnections } from "../../provider/service/http/transport.js";
import type { StackState } from "../../provider/stacks/stack-states.js";
import { type CopiedStack, copyStack } from "./copy/copied-stack.js";
import type { OriginalStack } from "./copy/original-stack.js";
import { comesToRest, eventsOf, type LookAhead, lookAhead } from "./look-ahead.js";
import type { EngineRun } from "./outcome/engine-events.js";
import { excluding } from "./run-options.js";
import type { CopiedObjects } from "./service/account-copy.js";
import type { DeployingClient } from "./service/deploying-client.js";
import { type EmulatedTenant, emulateTenant, knownSwitches } from "./service/emulated-tenant.js";
import type { RehearsedCall } from "./service/recording-relay.js";
import { RehearsedTime } from "./service/rehearsed-time.js";
import type { RunConditions } from "./service/run-conditions.js";
import type { TenantReading } from "./service/tenant-reading.js";

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
export interface RunAndAfter<B> {
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
