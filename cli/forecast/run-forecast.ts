import { CommandFailure, type CommandResult, type Session } from "../command.js";
import { exportStack } from "../inventory/open-stack.js";
import { runCommand } from "../pulumi/processes.js";
import { pulumiPlace, readStackConfig, stackAdvice } from "../pulumi/project-files.js";
import { pulumiStops } from "../pulumi/pulumi-cli.js";
import type { PulumiPlace } from "../pulumi/pulumi-queries.js";
import { type Preview, previewErrorsIn, previewIn } from "../pulumi/stack-documents.js";
import { wrappedText } from "../terminal/columns.js";
import { type ConditionOptions, forecast, givenConditions } from "./forecast.js";
import { duration, forecastReport } from "./forecast-report.js";
import type { ForecastOperation } from "./operations.js";

/** What the command line says about a forecast. */
export interface ForecastOptions extends ConditionOptions {
  readonly maxMinutes?: number;
  readonly operation: ForecastOperation;
  readonly stack?: string;
  /** Ends Pulumi. */
  readonly signal?: AbortSignal;
}

/**
 * Lets Pulumi preview the program of a stack.
 *
 * @param signal ends Pulumi without leaving a lock
 * @throws CommandFailure with what Pulumi reports, if the preview fails
 */
const previewStack = async (
  { command, folder, env, stack }: PulumiPlace,
  signal?: AbortSignal,
): Promise<Preview> => {
  const args = ["preview", "--json", ...(stack === undefined ? [] : ["--stack", stack])];
  const ended = await runCommand(command, [...args, "--non-interactive"], {
    cwd: folder,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    signal,
    stops: pulumiStops,
  });
  signal?.throwIfAborted();
  const shown = `pulumi ${args.join(" ")}`;
  const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
  if (preview) return preview;
  const errors = previewErrorsIn(ended.stdout).map(({ message }) => message);
  const said = (errors.length > 0 ? errors : ended.lastLines).join("\n").trim();
  const advice = errors.length > 0 ? "Fix the program and try again." : stackAdvice(said);
  throw new CommandFailure(`${shown} failed. Pulumi reports:\n${said}\n${advice}`);
};

/** Exit code if a run would exceed its budget. */
const overBudgetCode = 3;

/**
 * Makes the forecast. The exit code is 3 if the budget is exceeded.
 *
 * @throws CommandFailure if there is no project, no stack, or no preview that works
 */
export const runForecast = async (
  { operation, stack, maxMinutes = Number.POSITIVE_INFINITY, signal, ...options }: ForecastOptions,
  session: Session,
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<CommandResult> => {
  const place = pulumiPlace(folder, env, stack);
  if (!place) throw new CommandFailure("pulumi is not on PATH. Install it.");
  const state = await exportStack(place);
  const preview = operation === "up" ? await previewStack(place, signal) : undefined;
  const { source } = await readStackConfig(folder, env, stack);
  const { conditions, assumed } = givenConditions(options, source);
  const made = forecast(operation, { preview, state }, conditions);
  const say = (mark: string, sentence: string) =>
    session.err(`${wrappedText(sentence, `${mark}: `).join("\n")}\n`);
  for (const sentence of assumed) say("note", sentence);
  const overSeconds = made.totalSeconds - maxMinutes * 60;
  const isOver = overSeconds > 0;
  if (isOver)
    say(
      "over budget",
      `pulumi ${operation} would take ${duration(made.totalSeconds)}, ${duration(overSeconds)} more than --max-minutes ${maxMinutes} allows.`,
    );
  return {
    value: made,
    text: forecastReport(made, conditions),
    exitCode: isOver ? overBudgetCode : 0,
  };
};
