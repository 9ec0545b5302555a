import { durationText } from "../../provider/kernel/text.js";
import { CommandFailure, type CommandResult, type Session } from "../command.js";
import { exportStack, previewStack } from "../inventory/open-stack.js";
import { pulumiPlace, readStackConfig } from "../pulumi/project-files.js";
import { wrappedText } from "../terminal/columns.js";
import { type Conditions, forecast, readConditions } from "./forecast.js";
import { forecastReport } from "./forecast-report.js";
import type { Forecast } from "./forecast-schema.js";

/** What the command line says about a forecast. */
interface ForecastOptions extends Partial<Conditions> {
  readonly operation: Forecast["operation"];
  readonly stack?: string;
  readonly maxMinutes?: number;
  /** Ends Pulumi. */
  readonly signal: AbortSignal;
}

/**
 * Makes the forecast. The exit code is 3 if the budget is exceeded.
 *
 * @throws CommandFailure if there is no project, no stack, or no preview that works
 */
export const runForecast = async (
  { operation, stack, maxMinutes = Number.POSITIVE_INFINITY, signal, ...given }: ForecastOptions,
  session: Session,
): Promise<CommandResult> => {
  const [folder, env] = [process.cwd(), process.env];
  const place = pulumiPlace(folder, env, stack);
  if (!place) throw new CommandFailure("pulumi is not on PATH. Install it.");
  const state = await exportStack(place);
  const preview = operation === "up" ? await previewStack(place, signal) : undefined;
  const { source } = await readStackConfig(folder, env, stack);
  const { conditions, assumed } = readConditions(given, source);
  const made = forecast(operation, { preview, state }, conditions);
  const say = (mark: string, sentence: string) =>
    session.err(`${wrappedText(sentence, `${mark}: `).join("\n")}\n`);
  for (const sentence of assumed) say("note", sentence);
  const overSeconds = made.totalSeconds - maxMinutes * 60;
  if (overSeconds > 0)
    say(
      "over budget",
      `pulumi ${operation} would take ${durationText(made.totalSeconds * 1000)}, ${durationText(overSeconds * 1000)} more than --max-minutes ${maxMinutes} allows.`,
    );
  return { value: made, text: forecastReport(made), exitCode: overSeconds > 0 ? 3 : 0 };
};
