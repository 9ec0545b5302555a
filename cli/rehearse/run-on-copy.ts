import type { Switches } from "../../emulator/index.js";
import { mostConnections } from "../../provider/service/http/transport.js";
import type { StackState } from "../../provider/stacks/state-document.js";
import type { Conditions } from "../forecast/conditions.js";
import { type CopiedStack, copyStack } from "./copy/copied-stack.js";
import type { OriginalStack } from "./copy/original-stack.js";
import { comesToRest, eventsOf, excluding, type LookAhead, lookAhead } from "./look-ahead.js";
import type { EngineRun } from "./outcome/engine-events.js";
import type { CopiedObjects } from "./service/account-copy.js";
import { type EmulatedTenant, emulateTenant } from "./service/emulated-tenant.js";
import type { RehearsedCall } from "./service/recording-relay.js";
import { RehearsedTime } from "./service/rehearsed-time.js";
import type { TenantReading } from "./service/tenant-reading.js";

/** What is run on a copy, and where. */
export interface CopyRunOptions {
  readonly operation: "up" | "destroy";
  readonly original: OriginalStack;
  readonly readings: readonly TenantReading[];
  readonly conditions: Conditions;
  /** Options of the run as the person gives them. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also: readonly string[];
  readonly switches: Partial<Switches>;
  readonly signal: AbortSignal;
  /** Looks afterwards whether a second run would find anything to do. */
  readonly lookAfter?: true;
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
  readonly settled?: boolean;
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

/** The copy is looked at afterwards, so its stack stays. */
const isOfRuns = (arg: string): boolean => arg !== "--remove";

const runIn = async (
  copy: CopiedStack,
  tenants: readonly EmulatedTenant[],
  time: RehearsedTime,
  options: CopyRunOptions,
): Promise<CopyRun> => {
  const { operation, args, readings, lookAfter } = options;
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
  const succeeded = ended.code === 0;
  const settled =
    succeeded && lookAfter && operation === "up"
      ? await comesToRest(copy, options, ahead)
      : undefined;
  return {
    stage: refused ? "preview" : "run",
    succeeded,
    said: ended.lastLines,
    engine: eventsOf(copy),
    calls: calls.toSorted((a, b) => a.sentAt - b.sentAt),
    ...{ startedAt, endedAt, before, after: copy.state(), accounts },
    ahead,
    missing: [...tenants.flatMap(({ missing }) => missing), ...ahead.missing],
    showsSecrets: tenants.every(({ showsSecrets }) => showsSecrets),
    ...(settled === undefined ? {} : { settled }),
  };
};

/**
 * Runs Pulumi on a fresh copy of the stack, against a fresh emulator of each account, and takes both
 * away again.
 */
export const runOnCopy = async (options: CopyRunOptions): Promise<CopyRun> => {
  const { original, readings, conditions, switches, signal } = options;
  const time = new RehearsedTime(Math.min(conditions.parallel, mostConnections * readings.length));
  const tenants: EmulatedTenant[] = [];
  let copy: CopiedStack | undefined;
  try {
    for (const reading of readings)
      tenants.push(
        await emulateTenant({ reading, document: original.document, conditions, time, switches }),
      );
    copy = await copyStack(original, {
      variables: Object.assign({}, ...tenants.map(({ variables }) => variables)),
      settings: Object.assign({}, ...tenants.map(({ config }) => config)),
      signal,
    });
    const run = await runIn(copy, tenants, time, options);
    signal.throwIfAborted();
    return run;
  } finally {
    time.close();
    copy?.remove();
    for (const tenant of tenants) await tenant.close();
  }
};
