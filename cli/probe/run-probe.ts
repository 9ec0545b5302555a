import { accessSync, constants, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { readSettings } from "../../provider/service/settings.js";
import { CommandFailure, type CommandRun, messageOf } from "../command.js";
import { readStackConfig } from "../pulumi-cli/stack-config.js";
import { type Answers, allOpen, stillOpen } from "./experiments/experiment.js";
import type { Cleaned } from "./findings-schema.js";
import { leftOpen } from "./left-open.js";
import { findingsOf } from "./probe-findings.js";
import { ProbeJournal } from "./probe-journal.js";
import { ProbeObjects } from "./probe-objects.js";
import { type PlanOptions, type ProbePlan, probePlan } from "./probe-plan.js";
import { findingsText, planText } from "./probe-report.js";
import { ProbeStopped, TenantClient } from "./tenant-client.js";

/** What the command line says of a probe. */
export interface ProbeOptions extends PlanOptions {
  readonly out: string;
  readonly yes?: true;
  /** Only removes what a probe that was killed has left. */
  readonly clean?: true;
  readonly json?: true;
  readonly profile?: string;
  readonly stack?: string;
}

/** Tests pass their own. */
export interface ProbeParts {
  readonly clock?: Clock;
  readonly transport?: Transport;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
}

const settingsFor = async (
  { profile, stack }: ProbeOptions,
  parts: ProbeParts,
): Promise<Settings> => {
  const { env = process.env, folder = process.cwd() } = parts;
  const { source } = await readStackConfig(folder, env, stack);
  return readSettings(source, profile);
};

/** @throws CommandFailure where nobody agrees */
const assertAgreed = async ({ yes }: ProbeOptions): Promise<void> => {
  if (yes) return;
  const unasked = "Probing makes and removes objects at the tenant. Say --yes to agree.";
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandFailure(unasked, 2);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Go on? (y/N) ").finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure("Nothing was sent: the question was not answered with y.");
};

/** @throws CommandFailure before anything is sent: what is found out would be lost */
const assertWritable = (file: string): void => {
  try {
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
    if (!existsSync(file) || statSync(file).isFile()) return;
  } catch {
    // Told below.
  }
  throw new CommandFailure(
    `${file} cannot be written. Nothing was sent. Name another file with --out.`,
    2,
  );
};

/** Asks one question after the other; what cannot be answered stays open. */
const askAll = async (
  { experiments, leftOut }: ProbePlan,
  means: { readonly client: TenantClient; readonly objects: ProbeObjects },
): Promise<Answers> => {
  const all = [
    leftOpen,
    ...leftOut.map(({ experiment, why }) => allOpen(experiment.names, stillOpen(why))),
  ];
  let stopped: string | undefined;
  for (const { names, run } of experiments) {
    try {
      all.push(stopped === undefined ? await run(means) : allOpen(names, stillOpen(stopped)));
    } catch (error) {
      // Settings that are wrong stay wrong for every question.
      if (isConversationError(error)) throw error;
      if (error instanceof ProbeStopped && error.reason === "interrupted") throw error;
      if (error instanceof ProbeStopped) stopped = messageOf(error);
      all.push(allOpen(names, stillOpen(messageOf(error))));
    }
  }
  return Object.assign({}, ...all);
};

const leftBehind = (left: readonly string[], file: string): CommandFailure =>
  new CommandFailure(
    [
      "Probing left objects behind:",
      ...left.map((line) => `  - ${line}`),
      `They stand in ${file}. Run the probe again: it removes them first.`,
    ].join("\n"),
  );

/** Asks, and removes everything again, whatever came of the questions. */
const probed = async (
  plan: ProbePlan,
  client: TenantClient,
  objects: ProbeObjects,
  journal: ProbeJournal,
): Promise<Answers> => {
  const asked = await askAll(plan, { client, objects }).then(
    (answers) => ({ answers }),
    (error: unknown) => ({ error }),
  );
  const left = await objects.cleanUp();
  if (left.length > 0) throw leftBehind(left, journal.file);
  if ("error" in asked) throw asked.error;
  return asked.answers;
};

const interruptionOf = (session: CommandRun): AbortController => {
  const controller = new AbortController();
  void session.untilInterrupted().then(() => controller.abort());
  return controller;
};

/** What a probe works with. */
interface Work {
  readonly settings: Settings;
  readonly journal: ProbeJournal;
  readonly transport: Transport;
  readonly clock: Clock;
}

/**
 * Removes what stands in the journal of a probe that was killed.
 *
 * @param isAll whether to wait for lists to show what may have been made; else that is done at the end
 * @returns how many objects stood there
 * @throws CommandFailure where it cannot
 */
const removeEarlier = async (
  { settings, journal, transport, clock }: Work,
  isAll: boolean,
): Promise<number> => {
  const count = journal.objects.length;
  const never = new AbortController().signal;
  const client = new TenantClient(settings, { transport, clock, mostCalls: 0, signal: never });
  const objects = new ProbeObjects(client, journal);
  const left = isAll ? await objects.cleanUp() : await objects.cleanUpFirst();
  if (left.length > 0) throw leftBehind(left, journal.file);
  return count;
};

const cleanedText = (removed: number, { settings: { baseUrl } }: Work): string =>
  removed === 0
    ? `Nothing of an earlier probe is left at ${baseUrl}.\n`
    : `Removed what an earlier probe had begun at ${baseUrl}: ${removed} objects looked up.\n`;

const clean = async (work: Work, session: CommandRun, json: true | undefined): Promise<void> => {
  const cleaned: Cleaned = { removed: await removeEarlier(work, true) };
  session.out(json ? `${JSON.stringify(cleaned)}\n` : cleanedText(cleaned.removed, work));
};

const findOut = async (
  work: Work,
  plan: ProbePlan,
  options: ProbeOptions,
  session: CommandRun,
): Promise<void> => {
  const { settings, journal, transport, clock } = work;
  const { signal } = interruptionOf(session);
  const removed = await removeEarlier(work, false);
  if (removed > 0) session.err(cleanedText(removed, work));
  const mostCalls = options.maxCalls ?? Number.POSITIVE_INFINITY;
  const client = new TenantClient(settings, { transport, clock, mostCalls, signal });
  const answers = await probed(plan, client, new ProbeObjects(client, journal), journal);
  const findings = findingsOf(answers, client, clock.wall());
  const text = `${JSON.stringify(findings, null, 2)}\n`;
  writeFileSync(options.out, text);
  session.out(options.json ? text : findingsText(findings, resolve(options.out)));
};

/**
 * Finds out what the specification leaves open, on a tenant, and writes it into a file.
 *
 * @throws CommandFailure where nobody agrees, another probe is at work, something was left behind, or
 * it was interrupted
 */
export const runProbe = async (
  options: ProbeOptions,
  session: CommandRun,
  parts: ProbeParts = {},
): Promise<void> => {
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
  const work = { settings, journal, transport, clock };
  try {
    await (options.clean
      ? clean(work, session, options.json)
      : findOut(work, plan, options, session));
  } catch (error) {
    if (!(error instanceof ProbeStopped)) throw error;
    throw new CommandFailure("Interrupted. Everything that was made is removed again.", 130);
  } finally {
    journal.close();
    await transport.close();
  }
};
