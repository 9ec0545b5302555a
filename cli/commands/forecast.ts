import { plans } from "../../provider/service/plans.js";
import {
  choiceOption,
  command,
  flagOption,
  numberOption,
  type OptionSpec,
  parsedOption,
  textsOption,
  withDefault,
} from "../command.js";
import { forecastOperations } from "../forecast/operations.js";
import { stackOption } from "./common-options.js";

const plan = parsedOption(
  "<plan>",
  `The tenant's plan: ${plans.join(", ")} (default: CONVERSATION_PLAN, then conversation:plan).`,
  (given) => {
    const found = plans.find((known) => known === given.toLowerCase());
    if (found) return found;
    throw new Error(`Allowed choices are ${plans.join(", ")}.`);
  },
);

const minutes = (doc: string): OptionSpec<number> =>
  parsedOption("<minutes>", doc, (given) => {
    if (/^\d{0,9}\.?\d{1,9}$/.test(given)) return Number(given);
    throw new Error("Specify a number of 0 or more, such as 10 or 2.5.");
  });

/** `forecast`: says in advance how many calls a run makes and how long it takes. */
export const forecastCommand = command({
  name: "forecast",
  summary: "Forecast how many calls a run makes and how long it takes.",
  description:
    "Compute how many calls the next Pulumi run makes and how long it takes under the rate\n" +
    "limits. The command runs a preview and exports the stack's state, or reads both\n" +
    "from files. It calls the service only for the program's lookups, as a preview does,\n" +
    "and to check whether the stack's objects exist (not with --from). If the run deletes\n" +
    "something, the command also lists what still uses it (not with --from).",
  options: {
    operation: withDefault(
      choiceOption("<operation>", forecastOperations, "The operation to forecast."),
      "up",
    ),
    stack: stackOption("Forecast this stack (default: the selected one)."),
    plan,
    burst: numberOption(
      "<calls>",
      "The number of calls that an endpoint accepts in a burst (default: CONVERSATION_BURST, then conversation:burst, then as documented for the plan).",
      1,
    ),
    parallel: numberOption(
      "<steps>",
      "The number of steps that Pulumi runs in parallel (default: PULUMI_PARALLEL, then 4 per core).",
      1,
    ),
    maxMinutes: minutes("Exit with code 3 if the run takes longer than this."),
    maxCalls: numberOption("<calls>", "Exit with code 3 if the run makes more calls than this.", 0),
    quotaLeft: numberOption(
      "<calls>",
      "Calls that you have left this month with each HTTP method. If the run makes more with one of them, the exit code is 5 (default: the plan's whole monthly quota).",
      0,
    ),
    comparePlans: flagOption("Show how long the run would take on each plan."),
    from: textsOption(
      "<file...>",
      "Read the output of pulumi preview --json and pulumi stack export from these files.",
    ),
  },
  uses: {
    usual: {
      json: async () => (await import("../forecast/forecast-schema.js")).printedForecastSchema,
      exits: {
        0: "done",
        3: "the run exceeds a limit that you set",
        4: "the service will refuse a deletion because something still uses the object",
        5: "the run does not fit into the monthly quota",
        130: "interrupted",
      },
    },
  },
  work: async ({ json: _, ...options }, session) => {
    const { runForecast } = await import("../forecast/run-forecast.js");
    const { untilSignal } = await import("../interruption.js");
    return untilSignal((signal) => runForecast({ ...options, signal }, session));
  },
});
