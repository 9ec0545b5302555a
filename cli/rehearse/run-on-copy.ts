import { existsSync, readFileSync } from "node:fs";
import type { Switches } from "../../emulator/index.js";
import { typeToken } from "../../provider/pointer.js";
import type { StackState } from "../../provider/stacks/state-document.js";
import type { Conditions } from "../forecast/conditions.js";
import { readDocument } from "../forecast/documents.js";
import type { Ended } from "../process/run-command.js";
import { definitionOfType } from "../stack/stack-export.js";
import { type CopiedStack, copyStack } from "./copy/copied-stack.js";
import type { OriginalStack } from "./copy/original-stack.js";
import { type EngineRun, engineRunIn } from "./outcome/engine-events.js";
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
  readonly leftOut: readonly string[];
  /** URNs of what is to be deleted. */
  readonly deletions: readonly string[];
  readonly before: StackState;
  readonly after: StackState;
  readonly accounts: readonly RunAccount[];
  readonly missing: readonly string[];
  /** Whether the lists of all accounts show what the service does with secrets. */
  readonly showsSecrets: boolean;
  readonly settled?: boolean;
}

/** Options that a preview does not take. */
const onlyOfRuns = new Set([
  ...["--yes", "-y", "--skip-preview", "-f", "--continue-on-error"],
  "--suppress-progress",
]);

const forPreview = (args: readonly string[]): readonly string[] =>
  args.filter((arg) => !onlyOfRuns.has(arg));

/** Steps that change something. */
const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken("Ownership"), "pulumi:pulumi:Stack"]);

const isRun = (type: string, custom: boolean, also: readonly string[]): boolean =>
  !custom ||
  ownTypes.has(type) ||
  type.startsWith("pulumi:providers:") ||
  definitionOfType(type) !== undefined ||
  also.includes(type);

/** What a preview tells: why it was refused, or which steps are of packages that are not run. */
const lookAhead = async (copy: CopiedStack, { args, also }: CopyRunOptions) => {
  const events = ["--event-log", copy.eventFile];
  const ended = await copy.pulumi(["preview", "--json", ...events, ...forPreview(args)]);
  const preview = ended.code === 0 ? readDocument(ended.stdout)?.preview : undefined;
  const isSkipped = args.includes("--skip-preview") || args.includes("-f");
  if (!preview) return { ...(isSkipped ? {} : { ended }), leftOut: [], deletions: [] };
  const leftOut = preview.steps.flatMap(({ op, urn, newState, oldState }) => {
    const resource = newState ?? oldState;
    const isForeign = resource && !isRun(resource.type, resource.custom === true, also);
    return isForeign && changing.test(op) ? [urn] : [];
  });
  const deletions = preview.steps.filter(({ op }) => op === "delete").map(({ urn }) => urn);
  return { leftOut, deletions };
};

/** What a deletion of the stack takes away, where it is not told to take only a part. */
const allIn = ({ holdings }: StackState, args: readonly string[]): readonly string[] =>
  args.some((arg) => /^(--target|-t|--exclude)/.test(arg)) ? [] : holdings.map(({ urn }) => urn);

/** Resources of the state that a deletion would reach beyond the account. */
const foreignIn = ({ original, also }: CopyRunOptions): readonly string[] => {
  const { resources } = original.document.deployment;
  return (Array.isArray(resources) ? resources : []).flatMap(({ type, urn, custom }) =>
    isRun(String(type), custom === true, also) ? [] : [String(urn)],
  );
};

const excluded = (urns: readonly string[]): readonly string[] =>
  urns.flatMap((urn) => ["--exclude", urn]);

const eventsOf = ({ eventFile }: CopiedStack): EngineRun =>
  engineRunIn(existsSync(eventFile) ? readFileSync(eventFile, "utf8") : "");

/** Whether nothing is left to be done, and nothing has changed outside. */
const isSettled = async (
  copy: CopiedStack,
  args: readonly string[],
  leftOut: readonly string[],
): Promise<boolean> => {
  const ended = await copy.pulumi(["preview", "--json", "--refresh", ...forPreview(args)]);
  const preview = ended.code === 0 ? readDocument(ended.stdout)?.preview : undefined;
  return (
    preview?.steps.every(({ op, urn }) => !changing.test(op) || leftOut.includes(urn)) ?? false
  );
};

const afterRun = (
  tenants: readonly EmulatedTenant[],
  readings: readonly TenantReading[],
): readonly RunAccount[] =>
  tenants.map(({ before, objects }, place) => ({
    profile: readings[place]?.settings.profile,
    before,
    after: objects(),
  }));

const runIn = async (
  copy: CopiedStack,
  tenants: readonly EmulatedTenant[],
  time: RehearsedTime,
  options: CopyRunOptions,
): Promise<CopyRun> => {
  const { operation, args, readings, lookAfter } = options;
  const before = copy.state();
  const ahead: Pick<CopyRun, "leftOut" | "deletions"> & { readonly ended?: Ended } =
    operation === "up"
      ? await lookAhead(copy, options)
      : { leftOut: foreignIn(options), deletions: allIn(before, args) };
  const already = new Set(tenants.flatMap(({ calls }) => calls));
  const startedAt = time.now();
  const leaving = excluded(ahead.leftOut);
  const words = [operation, "--yes", "--skip-preview", "--event-log", copy.eventFile];
  const ended = ahead.ended ?? (await copy.pulumi([...words, ...leaving, ...args]));
  const endedAt = time.now();
  const calls = tenants.flatMap((tenant) => tenant.calls).filter((call) => !already.has(call));
  const accounts = afterRun(tenants, readings);
  const succeeded = ended.code === 0;
  const settled =
    succeeded && lookAfter && operation === "up"
      ? await isSettled(copy, args, ahead.leftOut)
      : undefined;
  return {
    stage: ahead.ended ? "preview" : "run",
    succeeded,
    said: ended.lastLines,
    engine: eventsOf(copy),
    calls: calls.toSorted((a, b) => a.sentAt - b.sentAt),
    ...{ startedAt, endedAt, before, after: copy.state(), accounts },
    leftOut: ahead.leftOut,
    deletions: ahead.deletions,
    missing: tenants.flatMap(({ missing }) => missing),
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
  const time = new RehearsedTime(conditions.parallel);
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
    for (const tenant of tenants) await tenant.close();
    copy?.remove();
  }
};
