import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { switchTable } from "../../emulator/control/switch-table.js";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import { readSettings, type Settings } from "../../provider/service/settings/settings.js";
import type {
  FoundValue,
  TenantFindings,
} from "../../provider/service/settings/tenant-findings.js";
import { CommandFailure, type CommandRun, messageOf } from "../command.js";
import { readStackConfig } from "../pulumi-cli/stack-config.js";
import { type Answers, stillOpen } from "./experiments/experiment.js";
import { ProbeJournal } from "./probe-journal.js";
import { ProbeObjects } from "./probe-objects.js";
import { type PlanOptions, type ProbePlan, probePlan } from "./probe-plan.js";
import { findingsText, planText } from "./probe-report.js";
import { ProbeStopped, TenantClient } from "./tenant-client.js";

/** What the command line says of a probe. */
export interface ProbeOptions extends PlanOptions {
  readonly out: string;
  readonly yes?: true;
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

const settingNames = ["put", "plan", "burst"];

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

const openAll = (names: readonly string[], why: string): Answers =>
  Object.fromEntries(names.map((name) => [name, stillOpen(why)]));

/** Asks one question after the other; what cannot be answered stays open. */
const askAll = async (
  { experiments, leftOut }: ProbePlan,
  means: { readonly client: TenantClient; readonly objects: ProbeObjects },
): Promise<Answers> => {
  const all = [...leftOut.map(({ experiment, why }) => openAll(experiment.names, why))];
  let stopped: string | undefined;
  for (const { names, run } of experiments) {
    try {
      all.push(stopped === undefined ? await run(means) : openAll(names, stopped));
    } catch (error) {
      // Settings that are wrong stay wrong for every question.
      if (isConversationError(error)) throw error;
      if (error instanceof ProbeStopped && error.reason === "interrupted") throw error;
      if (error instanceof ProbeStopped) stopped = messageOf(error);
      all.push(openAll(names, messageOf(error)));
    }
  }
  return Object.assign({}, ...all);
};

const findingsOf = (settings: Settings, answers: Answers, client: TenantClient, clock: Clock) => {
  const found = Object.entries(answers).flatMap(([name, value]): [string, FoundValue][] =>
    typeof value === "object" ? [] : [[name, value]],
  );
  const open = Object.entries(answers).flatMap(([name, value]) =>
    typeof value === "object" ? [[name, value.open]] : [],
  );
  const isSwitch = ([name]: [string, FoundValue]): boolean => Object.hasOwn(switchTable, name);
  const isSetting = ([name]: [string, FoundValue]): boolean => settingNames.includes(name);
  const findings: TenantFindings = {
    version: 1,
    probedAt: new Date(clock.wall()).toISOString(),
    baseUrl: settings.baseUrl,
    calls: client.calls,
    switches: Object.fromEntries(found.filter(isSwitch)),
    settings: Object.fromEntries(found.filter(isSetting)),
    observed: Object.fromEntries(found.filter((each) => !isSwitch(each) && !isSetting(each))),
    open: Object.fromEntries(open),
  };
  return findings;
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

/** Removes what stands in the journal of a probe that was killed. @throws CommandFailure where it cannot */
const removeEarlier = async (
  settings: Settings,
  journal: ProbeJournal,
  transport: Transport,
  parts: ProbeParts,
  session: CommandRun,
): Promise<void> => {
  const count = journal.objects.length;
  if (count === 0) return;
  const { clock = systemClock } = parts;
  const never = new AbortController().signal;
  const client = new TenantClient(settings, { transport, clock, mostCalls: 0, signal: never });
  const left = await new ProbeObjects(client, journal).cleanUp();
  if (left.length > 0) throw leftBehind(left, journal.file);
  session.err(`Removed what an earlier probe had begun: ${count} objects looked up.\n`);
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
  session.err(planText(settings.baseUrl, plan));
  await assertAgreed(options);
  const journal = ProbeJournal.open(settings.baseUrl, env);
  const transport = parts.transport ?? httpTransport();
  const { signal } = interruptionOf(session);
  try {
    await removeEarlier(settings, journal, transport, parts, session);
    const mostCalls = options.maxCalls ?? Number.POSITIVE_INFINITY;
    const client = new TenantClient(settings, { transport, clock, mostCalls, signal });
    const objects = new ProbeObjects(client, journal);
    const answers = await probed(plan, client, objects, journal);
    const findings = findingsOf(settings, answers, client, clock);
    const text = `${JSON.stringify(findings, null, 2)}\n`;
    writeFileSync(options.out, text);
    session.out(options.json ? text : findingsText(findings, resolve(options.out)));
  } catch (error) {
    if (!(error instanceof ProbeStopped)) throw error;
    throw new CommandFailure("Interrupted. Everything that was made is removed again.", 130);
  } finally {
    journal.close();
    await transport.close();
  }
};
