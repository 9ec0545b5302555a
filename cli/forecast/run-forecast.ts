import type { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { type CommandResult, messageOf, type Session } from "../command.js";
import {
  type BlastRadius,
  blastRadius,
  blastRadiusLines,
  blockedDeletionCode,
  changesOfDestroy,
  changesOfPreview,
  type PlannedChanges,
} from "../inventory/blast-radius.js";
import { withInventory } from "../inventory/inventory.js";
import { openStack } from "../inventory/open-stack.js";
import { accountsIn } from "../inventory/stack-accounts.js";
import { environmentOnly, readStackConfig } from "../pulumi/project-files.js";
import { resourcesInState } from "../pulumi/stack-documents.js";
import { withCount, wrappedText } from "../terminal/columns.js";
import { currentDocuments, savedDocuments } from "./documents.js";
import { type ConditionOptions, fasterParallel, forecast, givenConditions } from "./forecast.js";
import { duration, forecastReport } from "./forecast-report.js";
import type { Forecast, printedForecastSchema } from "./forecast-schema.js";
import type { ForecastOperation } from "./operations.js";
import { type Documents, workloadOf } from "./planned-steps.js";

/** What the command line says about a forecast. */
export interface ForecastOptions extends ConditionOptions {
  readonly maxMinutes?: number;
  readonly maxCalls?: number;
  readonly quotaLeft?: number;
  readonly operation: ForecastOperation;
  readonly stack?: string;
  readonly comparePlans?: true;
  readonly from?: readonly string[];
  /** Ends Pulumi and the calls. */
  readonly signal?: AbortSignal;
}

/** Exit code if a run would exceed its budget. */
const overBudgetCode = 3;

/** By how much a run exceeds its budget, a sentence for each limit; empty if it does not. */
const overBudget = (
  { operation, totalSeconds, totalCalls }: Forecast,
  { maxMinutes = Number.POSITIVE_INFINITY, maxCalls = Number.POSITIVE_INFINITY }: ForecastOptions,
): readonly string[] => {
  const seconds = totalSeconds - maxMinutes * 60;
  const calls = totalCalls - maxCalls;
  const time = `pulumi ${operation} would take ${duration(totalSeconds)}, ${duration(seconds)} more than --max-minutes ${maxMinutes} allows.`;
  const count = `pulumi ${operation} would make ${withCount(totalCalls, "call")}, ${calls} more than --max-calls ${maxCalls} allows.`;
  return [...(seconds > 0 ? [time] : []), ...(calls > 0 ? [count] : [])];
};

/** Exit code if a run would exceed the monthly quota. */
const overQuotaCode = 5;

/** By how much a run exceeds what is left of the monthly quota, a sentence for each method. */
const overQuota = (
  { operation, plan, methods, monthlyQuota }: Forecast,
  { quotaLeft }: ForecastOptions,
): readonly string[] => {
  const limit =
    quotaLeft === undefined
      ? `the ${plan} plan allows only ${monthlyQuota.toLocaleString("en-US")} in a month. Make the change in parts, a month apart, or use a higher plan.`
      : `--quota-left says that only ${quotaLeft} are left this month. Wait for the next month, or use a higher plan.`;
  return Object.entries(methods)
    .filter(([, calls]) => calls > (quotaLeft ?? monthlyQuota))
    .map(
      ([method, calls]) =>
        `pulumi ${operation} would make ${withCount(calls, `${method} call`)}, but ${limit}`,
    );
};

/** The stack's settings apply if the stack exists; files may come from elsewhere. */
const readInputs = async (
  { operation, from, stack, signal }: ForecastOptions,
  folder: string,
  env: NodeJS.ProcessEnv,
) => {
  if (from)
    return { documents: await savedDocuments(operation, from), source: environmentOnly(env) };
  const documents = await currentDocuments(operation, { folder, env, stack }, signal);
  return { documents, source: (await readStackConfig(folder, env, stack)).source };
};

/** What a run deletes, according to its documents. */
const plannedChanges = (
  operation: ForecastOperation,
  { preview, state }: Documents,
): PlannedChanges => {
  if (operation === "destroy") return changesOfDestroy(resourcesInState(state));
  return changesOfPreview(operation === "up" ? (preview?.steps ?? []) : []);
};

/**
 * Finds who still uses what a run deletes, or says why that could not be seen. It calls the service
 * (lists only) only if something is deleted, and never for documents from elsewhere.
 */
const blockedDeletions = async (
  { operation, from, stack, signal }: ForecastOptions,
  documents: Documents,
  { folder, env, say }: { folder: string; env: NodeJS.ProcessEnv; say: (text: string) => void },
): Promise<{ readonly radius: BlastRadius } | { readonly unread: string } | undefined> => {
  const changes = plannedChanges(operation, documents);
  if (from || changes.deletions.length === 0) return undefined;
  try {
    const own = await openStack({ folder, env, stack });
    const names = accountsIn(own.document);
    return await withInventory(own, names, { say, signal }, async (inventory) => ({
      radius: blastRadius(changes, inventory),
    }));
  } catch (error) {
    signal?.throwIfAborted();
    return { unread: messageOf(error) };
  }
};

/**
 * Makes the forecast. The exit code is 4 if the service will refuse a deletion, else 5 if the quota
 * does not suffice, else 3 if the budget is exceeded.
 *
 * @throws CommandFailure if there is no project, no stack, no preview that works, or no such file
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
  const found = await blockedDeletions(options, documents, {
    ...{ folder, env, say: (text: string) => session.err(`${text}\n`) },
  });
  const radius = found && "radius" in found ? found.radius : undefined;
  if (found && "unread" in found)
    say("note", `the command could not check what still uses the deleted objects: ${found.unread}`);
  const whole: Printed<z.output<typeof printedForecastSchema>> = radius
    ? { ...made, deletions: radius }
    : made;
  const over = overBudget(made, options);
  for (const sentence of over) say("over budget", sentence);
  const lacking = overQuota(made, options);
  for (const sentence of lacking) say("over quota", sentence);
  const lines = radius ? blastRadiusLines(radius) : [];
  const isBlocked = radius !== undefined && radius.blocked.length > 0;
  const faster = fasterParallel(workload, conditions);
  return {
    value: whole,
    text:
      forecastReport(made, conditions, options.comparePlans === true, faster) +
      (lines.length > 0 ? `\n${lines.join("\n")}\n` : ""),
    exitCode: isBlocked
      ? blockedDeletionCode
      : lacking.length > 0
        ? overQuotaCode
        : over.length > 0
          ? overBudgetCode
          : 0,
  };
};
