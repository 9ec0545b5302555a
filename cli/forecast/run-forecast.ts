import type { z } from "zod";
import {
  type ConditionOptions,
  fasterParallel,
  forecast,
  givenConditions,
} from "../../provider/forecast/forecast.js";
import { duration, forecastReport } from "../../provider/forecast/forecast-report.js";
import type { Forecast } from "../../provider/forecast/forecast-schema.js";
import type { ForecastOperation } from "../../provider/forecast/operations.js";
import { type Documents, workloadOf } from "../../provider/forecast/planned-steps.js";
import { wrappedText } from "../../provider/kernel/columns.js";
import type { Printed } from "../../provider/kernel/json.js";
import { environmentOnly, readStackConfig } from "../../provider/pulumi-cli/project-files.js";
import { resourcesOf } from "../../provider/pulumi-cli/stack-documents.js";
import { readSettings, type SettingSource } from "../../provider/service/settings.js";
import type { CommandResult, Session } from "../command.js";
import { blastRadiusLines, blockedDeletionCode } from "../stack/blast-radius-report.js";
import { elsewhereAdvice, stateStanding } from "../stack/objects-elsewhere.js";
import { isOurType, profileIn } from "../stack/stack-reading.js";
import { type DeletionForecast, deletionForecast, plannedChanges } from "./deletion-forecast.js";
import { currentDocuments, savedDocuments } from "./documents.js";
import type { printedForecastSchema } from "./printed-forecast.js";

/** What a run may cost. */
interface Budget {
  readonly maxMinutes?: number;
  readonly maxCalls?: number;
}

/** What the command line says of a forecast. */
export interface ForecastOptions extends ConditionOptions, Budget {
  readonly operation: ForecastOperation;
  readonly stack?: string;
  readonly comparePlans?: true;
  readonly from?: readonly string[];
  /** Ends Pulumi and the calls. */
  readonly signal?: AbortSignal;
}

/** Exit code of a run that would go beyond its budget. */
const overBudgetCode = 3;

/** By how much a run goes beyond what it may cost, a sentence for each limit; empty where it does not. */
const overBudget = (
  { operation, totalSeconds, totalCalls }: Forecast,
  { maxMinutes = Number.POSITIVE_INFINITY, maxCalls = Number.POSITIVE_INFINITY }: Budget,
): readonly string[] => {
  const over: string[] = [];
  const seconds = totalSeconds - maxMinutes * 60;
  const calls = totalCalls - maxCalls;
  if (seconds > 0)
    over.push(
      `pulumi ${operation} would take ${duration(totalSeconds)}, ${duration(seconds)} more than the ${maxMinutes} min of --max-minutes.`,
    );
  if (calls > 0)
    over.push(
      `pulumi ${operation} would make ${totalCalls} calls, ${calls} more than the ${maxCalls} of --max-calls.`,
    );
  return over;
};

/** Settings of the stack count where the stack is there; files may come from elsewhere. */
const readInputs = async (
  { operation, from, stack, signal }: ForecastOptions,
  folder: string,
  env: NodeJS.ProcessEnv,
) => {
  if (from)
    return { documents: await savedDocuments(operation, from), source: environmentOnly(env) };
  const place = { folder, env, ...(stack === undefined ? {} : { stack }) };
  const documents = await currentDocuments(operation, place, signal);
  return { documents, source: (await readStackConfig(folder, env, stack)).source };
};

/**
 * What of a stack is at another service than its settings name, a sentence for each profile. Without
 * settings, or a service that answers, nothing: a forecast needs neither.
 */
const elsewhere = async (
  { from, signal }: ForecastOptions,
  { state }: Documents,
  source: SettingSource,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> => {
  if (from || !state) return [];
  const held = resourcesOf(state);
  const looks = [
    ...new Set(
      held.filter(({ type }) => isOurType(type)).map(({ inputs }) => profileIn(inputs ?? {})),
    ),
  ].map(async (profile) => {
    const { problem } = await stateStanding(held, readSettings(source, profile), { env, signal });
    return problem === undefined ? [] : [`${problem}. ${elsewhereAdvice}`];
  });
  const found = await Promise.allSettled(looks);
  signal?.throwIfAborted();
  return found.flatMap((look) => (look.status === "fulfilled" ? look.value : []));
};

/** Says who stands in the way of deletions; documents from elsewhere are no reason to ask the service. */
const deletionsOf = (
  { operation, from, stack, signal }: ForecastOptions,
  documents: Documents,
  folder: string,
  env: NodeJS.ProcessEnv,
  session: Session,
): Promise<DeletionForecast | undefined> => {
  const changes = plannedChanges(operation, documents);
  const place = { folder, env, ...(stack === undefined ? {} : { stack }) };
  return from
    ? Promise.resolve(undefined)
    : deletionForecast(changes, place, {
        say: (text) => session.err(`${text}\n`),
        ...(signal ? { signal } : {}),
      });
};

/**
 * Makes the forecast. The exit code is 4 if the service will refuse a deletion, else 3 beyond the budget.
 *
 * @throws CommandFailure where there is no project, no stack, no preview that works, or no such file
 */
export const runForecast = async (
  options: ForecastOptions,
  session: Session,
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<CommandResult> => {
  const { documents, source } = await readInputs(options, folder, env);
  const { conditions, assumed } = givenConditions(options, source);
  const workload = workloadOf(options.operation, documents);
  const made = forecast(workload, conditions);
  const say = (mark: string, sentence: string) =>
    session.err(`${wrappedText(sentence, `${mark}: `).join("\n")}\n`);
  for (const sentence of assumed) say("note", sentence);
  for (const sentence of await elsewhere(options, documents, source, env)) say("warning", sentence);
  const found = await deletionsOf(options, documents, folder, env, session);
  const radius = found && "radius" in found ? found.radius : undefined;
  if (found && "unread" in found)
    say("note", `who still uses what is deleted could not be looked at: ${found.unread}`);
  const whole: Printed<z.output<typeof printedForecastSchema>> = radius
    ? { ...made, deletions: radius }
    : made;
  const over = overBudget(made, options);
  for (const sentence of over) say("over budget", sentence);
  const lines = radius ? blastRadiusLines(radius) : [];
  const isBlocked = radius !== undefined && radius.blocked.length > 0;
  const faster = fasterParallel(workload, conditions);
  return {
    value: whole,
    text:
      forecastReport(made, conditions, options.comparePlans === true, faster) +
      (lines.length > 0 ? `\n${lines.join("\n")}\n` : ""),
    exitCode: isBlocked ? blockedDeletionCode : over.length > 0 ? overBudgetCode : 0,
  };
};
