import { forecastOperations } from "../../provider/forecast/operations.js";
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
import { stackOption } from "./common-options.js";

const plan = parsedOption(
  "<plan>",
  `Plan of the tenant: ${plans.join(", ")} (default: CONVERSATION_PLAN, else conversation:plan).`,
  (given) => {
    const found = plans.find((known) => known === given.toLowerCase());
    if (found) return found;
    throw new Error(`Allowed choices are ${plans.join(", ")}.`);
  },
);

const minutes = (doc: string): OptionSpec<number> =>
  parsedOption("<minutes>", doc, (given) => {
    if (/^\d{0,9}\.?\d{1,9}$/.test(given)) return Number(given);
    throw new Error("Allowed is a number of at least 0, such as 10 or 2.5.");
  });

/** `forecast`: says in advance how many calls a run makes and how long it takes. */
export const forecastCommand = command({
  name: "forecast",
  summary: "Say how many calls a run makes and how long it takes.",
  description:
    "Says how many calls the next run of Pulumi makes and how long it takes under the\n" +
    "rate limits. Makes a preview and exports the state of the stack, or reads both from\n" +
    "files. Calls the service only as far as a preview does, for what a program looks up,\n" +
    "and to see whether the stack's objects are there (not with --from).\n" +
    "If the run deletes something, it also lists who still uses that (not with --from).",
  options: {
    operation: withDefault(
      choiceOption("<operation>", forecastOperations, "What is forecast."),
      "up",
    ),
    stack: stackOption("Forecast this stack (default: the selected one)."),
    plan,
    burst: numberOption(
      "<calls>",
      "Calls that an endpoint takes in a burst (default: CONVERSATION_BURST, else conversation:burst, else about 20 s of its rate).",
      1,
    ),
    parallel: numberOption(
      "<steps>",
      "Steps that Pulumi runs together (default: PULUMI_PARALLEL, else 4 for each core).",
      1,
    ),
    pageSize: numberOption("<objects>", "Objects on a page of a list (default: 10, assumed).", 1),
    maxMinutes: minutes("Exit with 3 if the run takes longer."),
    maxCalls: numberOption("<calls>", "Exit with 3 if the run makes more calls.", 0),
    comparePlans: flagOption("Show what the run would take on each plan."),
    from: textsOption(
      "<file...>",
      "Read what pulumi preview --json and pulumi stack export printed from these files.",
    ),
  },
  uses: {
    usual: {
      json: async () => (await import("../forecast/printed-forecast.js")).printedForecastSchema,
      exits: {
        0: "done",
        3: "the run goes beyond a budget",
        4: "the service will refuse a deletion, as something still uses what is deleted",
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
