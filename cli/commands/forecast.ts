import { choiceOption, command, numberOption, parsedOption, withDefault } from "../command.js";
import { planOption, stackOption } from "./common-options.js";

export const forecastCommand = command({
  name: "forecast",
  summary: "Forecast how many calls a run makes and how long it takes.",
  description:
    "Compute how many calls the next Pulumi run makes and how long it takes under the rate\n" +
    "limits. The command runs a preview and exports the stack's state. It calls the service\n" +
    "only for the program's lookups, as a preview does.",
  options: {
    operation: withDefault(
      choiceOption("<operation>", ["up", "refresh", "destroy"], "The operation to forecast."),
      "up",
    ),
    stack: stackOption("Forecast this stack (default: the selected one)."),
    plan: planOption,
    parallel: numberOption(
      "<steps>",
      "The number of steps that Pulumi runs in parallel (default: PULUMI_PARALLEL, then 4 per core).",
      1,
    ),
    maxMinutes: parsedOption<number>(
      "<minutes>",
      "Exit with code 3 if the run takes longer than this.",
      (given) => {
        if (/^\d{0,9}\.?\d{1,9}$/.test(given)) return Number(given);
        throw new Error("Specify a number of 0 or more, such as 10 or 2.5.");
      },
    ),
  },
  json: async () => (await import("../forecast/forecast-schema.js")).forecastSchema,
  exits: { 0: "done", 3: "the run takes longer than --max-minutes", 130: "interrupted" },
  work: async ({ json: _, ...options }, session) => {
    const { runForecast } = await import("../forecast/run-forecast.js");
    const { untilSignal } = await import("../interruption.js");
    return untilSignal((signal) => runForecast({ ...options, signal }, session));
  },
});
