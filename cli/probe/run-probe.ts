import { accessSync, constants, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { textTable, wrappedWords } from "../../provider/kernel/columns.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { rateOf } from "../../provider/pacing/plan-rates.js";
import { readStackConfig } from "../../provider/pulumi-cli/project-files.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import type { Settings } from "../../provider/service/setting-table.js";
import type { TenantFindings } from "../../provider/service/settings.js";
import { CommandFailure, type CommandResult, messageOf, type Session } from "../command.js";
import {
  type Answers,
  allOpen,
  assetExperiment,
  burstExperiment,
  type Experiment,
  leftOpen,
  listExperiments,
  objectExperiments,
  platformExperiment,
  referenceExperiments,
  tokenExperiment,
} from "./experiments.js";
import { type Cleaned, findingsOf } from "./probe-findings.js";
import { ProbeJournal, ProbeObjects } from "./probe-objects.js";
import { ProbeStopped, TenantClient } from "./tenant-client.js";

/** The experiments on a tenant, and those left out. */
interface ProbePlan {
  readonly experiments: readonly Experiment[];
  /** Left out, with the reason. */
  readonly leftOut: readonly { readonly experiment: Experiment; readonly why: string }[];
  /** Maximum number of calls in total. */
  readonly mostCalls: number;
}

/** What the command line says about the experiments. */
interface PlanOptions {
  readonly maxCalls?: number;
  /** False if the rate of no endpoint may be used up. */
  readonly burst?: boolean;
  /** Whether to ask for assets, too. */
  readonly assets?: true;
}

/**
 * A burst is about 20 s of the rate (assumed); half as much again, so that the limit is reached.
 */
const mostBurst = ({ plan = "enterprise" }: Pick<Settings, "plan">): number => {
  const question = { service: "Conversation", version: "v3", plan, method: "GET" } as const;
  return Math.ceil(30 * rateOf({ ...question, template: "/orchestrations/{id}" }));
};

/** Chooses experiments in order while calls are left; cheap and safe ones come first. */
const probePlan = (settings: Settings, options: PlanOptions): ProbePlan => {
  const { maxCalls = Number.POSITIVE_INFINITY, burst = true, assets } = options;
  const all = [
    tokenExperiment,
    ...objectExperiments,
    ...listExperiments,
    ...referenceExperiments,
    platformExperiment,
    ...(burst ? [burstExperiment(mostBurst(settings))] : []),
    ...(assets ? [assetExperiment] : []),
  ];
  let mostCalls = 0;
  const experiments: Experiment[] = [];
  const leftOut: { experiment: Experiment; why: string }[] = [];
  for (const experiment of all) {
    if (mostCalls + experiment.mostCalls > maxCalls) {
      leftOut.push({ experiment, why: `--max-calls ${maxCalls} allows too few calls` });
      continue;
    }
    experiments.push(experiment);
    mostCalls += experiment.mostCalls;
  }
  if (!burst) leftOut.push({ experiment: burstExperiment(0), why: "--no-burst was given" });
  if (!assets)
    leftOut.push({
      experiment: assetExperiment,
      why: "the probe cannot find an asset again if its creation is interrupted; to include this question, use --assets",
    });
  return { experiments, leftOut, mostCalls };
};

/**
 * A text in lines within 80 columns, the first one behind `first`, the others indented to match.
 */
const wrapped = (text: string, first = ""): readonly string[] =>
  wrappedWords(text, 78 - first.length).map(
    (line, at) => (at === 0 ? first : " ".repeat(first.length)) + line,
  );

const listItem = (text: string): readonly string[] => wrapped(text, "  - ");

/** The plan that is shown before anything is sent. */
const planText = (baseUrl: string, { experiments, mostCalls, leftOut }: ProbePlan): string =>
  [
    `Probing ${baseUrl}:`,
    ...wrapped(
      `The probe makes at most ${mostCalls} calls, plus retries after rate limiting, a failure, or an expired token. It creates objects named pulumi-conversation-probe-… and then removes them. It finds out:`,
    ),
    ...experiments.flatMap(({ asks }) => listItem(asks)),
    "It does not find out:",
    ...leftOut.flatMap(({ experiment, why }) => listItem(`${experiment.asks}: ${why}`)),
    ...listItem("what messages do, because the probe cannot remove a conversation"),
    "",
  ].join("\n");

const rows = (values: TenantFindings["switches"]): readonly (readonly string[])[] =>
  Object.entries(values).map(([name, value]) => [name, `${value}`]);

/** The findings, for people. */
const findingsText = (findings: TenantFindings, file: string): string => {
  const { switches, settings, observed, open, calls } = findings;
  const only = Object.fromEntries(Object.entries(settings).filter(([name]) => !(name in switches)));
  const table = textTable(
    ["Question", "Answer"],
    [...rows(switches), ...rows(only), ...rows(observed)],
  );
  const left = Object.entries(open).flatMap(([name, why]) => [
    `  ${name}`,
    ...wrapped(why, "    "),
  ]);
  return [
    ...table,
    ...(left.length > 0 ? ["", "Still open:", ...left] : []),
    "",
    `The probe made ${calls} calls and left nothing behind. To use the findings:`,
    `  export CONVERSATION_FINDINGS=${file}`,
    `  ${ownCommand(`emulator --like ${file}`)}`,
    "",
  ].join("\n");
};

/** What the command line says about a probe. */
export interface ProbeOptions extends PlanOptions {
  readonly out: string;
  readonly yes?: true;
  /** Only removes what a killed probe has left. */
  readonly clean?: true;
  readonly profile?: string;
  readonly stack?: string;
}

/** Tests pass their own. */
interface ProbeParts {
  readonly clock?: Clock;
  readonly transport?: Transport;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly lastCallMs?: number;
}

const settingsFor = async (
  { profile, stack }: ProbeOptions,
  parts: ProbeParts,
): Promise<Settings> => {
  const { env = process.env, folder = process.cwd() } = parts;
  const { source } = await readStackConfig(folder, env, stack);
  return calledAccount(source, profile);
};

/** @throws CommandFailure if nobody agrees */
const assertAgreed = async ({ yes }: ProbeOptions): Promise<void> => {
  if (yes) return;
  const unasked = "The probe creates and removes objects on the tenant. To confirm, use --yes.";
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandFailure(unasked, 2);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Continue? (y/N) ").finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure("Not confirmed. Nothing was sent.", 2);
};

/** @throws CommandFailure before anything is sent: otherwise the findings would be lost */
const assertWritable = (file: string): void => {
  try {
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
    if (!existsSync(file) || statSync(file).isFile()) return;
  } catch {
    // Reported below.
  }
  throw new CommandFailure(
    `Cannot write ${file}. Nothing was sent. Specify another file with --out.`,
    2,
  );
};

/** Runs the experiments one after the other; unanswered questions stay open. */
const askAll = async (
  { experiments, leftOut }: ProbePlan,
  means: { readonly client: TenantClient; readonly objects: ProbeObjects },
): Promise<Answers> => {
  const all = [leftOpen, ...leftOut.map(({ experiment, why }) => allOpen(experiment.names, why))];
  let stopped: string | undefined;
  for (const { names, run } of experiments) {
    try {
      all.push(stopped === undefined ? await run(means) : allOpen(names, stopped));
    } catch (error) {
      // Wrong settings stay wrong for every question.
      if (isConversationError(error)) throw error;
      if (error instanceof ProbeStopped && error.reason === "interrupted") throw error;
      if (error instanceof ProbeStopped) stopped = messageOf(error);
      all.push(allOpen(names, messageOf(error)));
    }
  }
  return Object.assign({}, ...all);
};

const leftBehind = (left: readonly string[], file: string): CommandFailure =>
  new CommandFailure(
    [
      "The probe left objects behind:",
      ...left.map((line) => `  - ${line}`),
      `They are recorded in ${file}. Run the probe again to remove them.`,
    ].join("\n"),
  );

/** Runs the experiments and then removes everything, even if they failed. */
const probed = async (
  plan: ProbePlan,
  client: TenantClient,
  journal: ProbeJournal,
): Promise<Answers> => {
  const objects = new ProbeObjects(client, journal);
  const [asked] = await Promise.allSettled([askAll(plan, { client, objects })]);
  const left = await objects.cleanUp();
  if (left.length > 0) throw leftBehind(left, journal.file);
  if (asked.status === "rejected") throw asked.reason;
  return asked.value;
};

/** The means of a probe. */
interface Work {
  readonly settings: Settings;
  readonly journal: ProbeJournal;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Aborted when the person wants the command to end. */
  readonly signal: AbortSignal;
  readonly lastCallMs?: number | undefined;
}

const clientFor = (work: Work, mostCalls: number): TenantClient => {
  const { settings, transport, clock, signal, lastCallMs } = work;
  const ends = lastCallMs === undefined ? { signal } : { signal, lastCallMs };
  return new TenantClient(settings, { transport, clock, mostCalls, ...ends });
};

/**
 * Removes the objects in the journal of a killed probe.
 *
 * @param isAll whether to wait until lists show what may have been made; if not, that is done at
 * the end
 * @returns how many objects the journal held
 * @throws CommandFailure if it cannot
 */
const removeEarlier = async (work: Work, isAll: boolean): Promise<number> => {
  const { journal } = work;
  const count = journal.objects.length;
  const objects = new ProbeObjects(clientFor(work, 0), journal);
  const left = isAll ? await objects.cleanUp() : await objects.cleanUpFirst();
  if (left.length > 0) throw leftBehind(left, journal.file);
  return count;
};

const cleanedText = (removed: number, { settings: { baseUrl } }: Work): string =>
  removed === 0
    ? `No objects from an earlier probe are left at ${baseUrl}.\n`
    : `Removed what an earlier probe left at ${baseUrl}. Objects looked up: ${removed}\n`;

const clean = async (work: Work): Promise<CommandResult> => {
  const removed = await removeEarlier(work, true);
  return { value: { removed } satisfies Cleaned, text: cleanedText(removed, work) };
};

const findOut = async (
  work: Work,
  plan: ProbePlan,
  options: ProbeOptions,
  session: Session,
): Promise<CommandResult> => {
  const client = clientFor(work, options.maxCalls ?? Number.POSITIVE_INFINITY);
  await client.connect();
  const removed = await removeEarlier(work, false);
  if (removed > 0) session.err(cleanedText(removed, work));
  const answers = await probed(plan, client, work.journal);
  const findings = findingsOf(answers, client, work.clock.wall());
  writeFileSync(options.out, `${JSON.stringify(findings, null, 2)}\n`);
  return { value: findings, text: findingsText(findings, resolve(options.out)) };
};

/**
 * Finds out what the specification leaves open, on a tenant, and writes it into a file.
 *
 * @throws CommandFailure if nobody agrees, another probe is running, something was left behind, or
 * it was interrupted
 */
export const runProbe = async (
  options: ProbeOptions,
  session: Session,
  parts: ProbeParts = {},
): Promise<CommandResult> => {
  const { clock = systemClock, env = process.env } = parts;
  const settings = await settingsFor(options, parts);
  const plan = probePlan(settings, options);
  if (!options.clean) {
    assertWritable(options.out);
    session.err(planText(settings.baseUrl, plan));
    await assertAgreed(options);
  }
  const journal = ProbeJournal.open(settings.baseUrl, env);
  const transport = parts.transport ?? httpTransport();
  const interruption = new AbortController();
  void session.untilInterrupted(true).then(() => interruption.abort());
  const { signal } = interruption;
  const work: Work = { settings, journal, transport, clock, signal, lastCallMs: parts.lastCallMs };
  try {
    return await (options.clean ? clean(work) : findOut(work, plan, options, session));
  } catch (error) {
    if (!(error instanceof ProbeStopped)) throw error;
    throw new CommandFailure("Interrupted. The probe removed all objects that it created.", 130);
  } finally {
    journal.close();
    await transport.close();
  }
};
