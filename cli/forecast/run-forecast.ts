import type { Session } from "../command.js";
import { readStackConfig } from "../doctor/stack-config.js";
import { type Budget, overBudget } from "./budget.js";
import { askPulumi, type Documents, savedDocuments } from "./documents.js";
import { forecast } from "./forecast.js";
import { type ConditionOptions, givenConditions } from "./given-conditions.js";
import { workloadOf } from "./planned-steps.js";
import { fasterParallel } from "./recommended-parallel.js";
import { forecastReport } from "./report.js";
import type { Operation } from "./simulation/operations.js";

/** What the command line says of a forecast. */
export interface ForecastOptions extends ConditionOptions, Budget {
  readonly operation: Operation;
  readonly stack?: string;
  readonly comparePlans?: true;
  readonly from?: readonly string[];
  readonly json?: true;
}

/** Exit code of a run that would go beyond its budget. */
const overBudgetCode = 3;

const documentsFor = (
  { operation, from, stack }: ForecastOptions,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Documents> =>
  from
    ? savedDocuments(operation, from)
    : askPulumi(operation, { folder, env, ...(stack === undefined ? {} : { stack }) });

/** Settings of the stack count where the stack is there; files may come from elsewhere. */
const configFor = async (
  { from, stack }: ForecastOptions,
  folder: string,
  env: NodeJS.ProcessEnv,
) => (from ? new Map<string, string>() : (await readStackConfig(folder, env, stack)).values);

/**
 * Makes the forecast and writes it. Beyond the budget the exit code is 3.
 *
 * @throws Failure where there is no project, no stack, no preview that works, or no such file
 */
export const runForecast = async (
  options: ForecastOptions,
  session: Session,
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<void> => {
  const documents = await documentsFor(options, folder, env);
  const config = await configFor(options, folder, env);
  const source = { environment: env, config: (key: string) => config.get(key) };
  const { conditions, assumed } = givenConditions(options, source);
  const workload = workloadOf(options.operation, documents);
  const made = forecast(workload, conditions);
  for (const sentence of assumed) session.err(`note: ${sentence}\n`);
  if (options.json) session.out(`${JSON.stringify(made, null, 2)}\n`);
  else {
    const faster = fasterParallel(workload, conditions);
    const comparePlans = options.comparePlans === true;
    session.out(forecastReport(made, conditions, { comparePlans, ...(faster ? { faster } : {}) }));
  }
  const over = overBudget(made, options);
  for (const sentence of over) session.err(`over budget: ${sentence}\n`);
  if (over.length > 0) session.exitCode = overBudgetCode;
};
