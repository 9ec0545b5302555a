import { InvalidArgumentError, Option } from "commander";
import { type Plan, plans } from "../../provider/service/setting-table.js";
import type { RegisterCommand } from "../command.js";
import type { ForecastOptions } from "../forecast/run-forecast.js";
import { forecastOperations } from "../forecast/simulation/workload.js";

const number =
  (pattern: RegExp, allowed: string) =>
  (text: string): number => {
    if (pattern.test(text)) return Number(text);
    throw new InvalidArgumentError(`Allowed is ${allowed}.`);
  };

const atLeastOne = number(/^[1-9]\d{0,8}$/, "a whole number of at least 1");
const zeroOrMore = number(/^\d{1,9}$/, "a whole number of at least 0");
const minutes = number(/^\d{0,9}\.?\d{1,9}$/, "a number of at least 0, such as 10 or 2.5");

const plan = (text: string): Plan => {
  const found = plans.find((known) => known === text.toLowerCase());
  if (found) return found;
  throw new InvalidArgumentError(`Allowed choices are ${plans.join(", ")}.`);
};

const option = <T>(flags: string, description: string, parse: (text: string) => T): Option =>
  new Option(flags, description).argParser(parse);

const details = `
JSON: { operation, plan, parallel, totalSeconds, totalCalls,
        endpoints: [{ endpoint, calls, seconds }],
        criticalPath: [{ endpoint, calls, resources, fromSeconds, toSeconds,
                         waitsForRate }],
        plans: { <plan>: { totalSeconds, savesSeconds } },
        deletions?: { deletions, blocked: [{ kind, name, id, urn, users: [{ kind, name,
                      id, path, managed, stack? }] }],
                      order: [{ action, kind, name, id }] } }

Exit code: 0 done; 1 failed; 2 wrong command line; 3 the run goes beyond a budget;
4 the service will refuse a deletion, as something still uses what is deleted;
130 interrupted.`;

/** `forecast`: says beforehand how many calls a run makes and how long it takes. */
export const registerForecast: RegisterCommand = (program, run) => {
  program
    .command("forecast")
    .summary("Say how many calls a run makes and how long it takes.")
    .description(
      "Says how many calls the next run of Pulumi makes and how long it takes under the\n" +
        "rate limits. Makes a preview and exports the state of the stack, or reads both from\n" +
        "files. Calls the service only as far as a preview does, for what a program looks up,\n" +
        "and to see whether the stack's objects are there (not with --from).\n" +
        "Where the run deletes something it also lists who still uses that (not with --from).",
    )
    .addOption(
      new Option("--operation <operation>", "What is forecast.")
        .choices(forecastOperations)
        .default("up"),
    )
    .option("--stack <name>", "Forecast this stack (default: the selected one).")
    .addOption(
      option(
        "--plan <plan>",
        `Plan of the tenant: ${plans.join(", ")} (default: CONVERSATION_PLAN, else conversation:plan).`,
        plan,
      ),
    )
    .addOption(
      option(
        "--burst <calls>",
        "Calls that an endpoint takes in a spike (default: CONVERSATION_BURST, else conversation:burst, else about 20 s of its rate).",
        atLeastOne,
      ),
    )
    .addOption(
      option(
        "--parallel <steps>",
        "Steps that Pulumi runs together (default: PULUMI_PARALLEL, else 4 for each core).",
        atLeastOne,
      ),
    )
    .addOption(
      option(
        "--page-size <objects>",
        "Objects on a page of a list (default: 10, assumed).",
        atLeastOne,
      ),
    )
    .addOption(option("--max-minutes <minutes>", "Exit with 3 if the run takes longer.", minutes))
    .addOption(
      option("--max-calls <calls>", "Exit with 3 if the run makes more calls.", zeroOrMore),
    )
    .option("--compare-plans", "Show what the run would take on each plan.")
    .option(
      "--from <file...>",
      "Read what pulumi preview --json and pulumi stack export printed from these files.",
    )
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async (options: ForecastOptions) => {
      const { runForecast } = await import("../forecast/run-forecast.js");
      const { untilSignal } = await import("../process/until-signal.js");
      await untilSignal((signal) => runForecast({ ...options, signal }, run));
    });
};
