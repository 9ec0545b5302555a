import { type Conditions, forecast, readConditions } from "../../cli/forecast/forecast.js";
import { forecastReport } from "../../cli/forecast/forecast-report.js";
import type { Forecast } from "../../cli/forecast/forecast-schema.js";
import {
  resourcesInState,
  type StackExport,
  stackExportIn,
} from "../../cli/pulumi/stack-documents.js";
import { durationText } from "../../provider/kernel/text.js";
import { createAssertionError } from "./checks.js";

/** Which run to forecast, under which conditions, and its limits. An omitted limit means no limit. */
export interface ForecastLimits extends Partial<Conditions> {
  /**
   * The run: `up` creates all of the stack's objects in an empty account; `refresh` and `destroy`
   * apply to the stack as it is. Default: `up`.
   */
  readonly operation?: Forecast["operation"];
  /** Maximum duration of the run in minutes. */
  readonly maxMinutes?: number;
  /** Maximum number of calls. */
  readonly maxCalls?: number;
}

/** The preview that a first `up` of everything in a state would make. */
const firstPreview = (state: StackExport | undefined) => {
  const kept = resourcesInState(state).filter(({ delete: condemned }) => !condemned);
  const steps = kept.map((resource) => ({ op: "create", urn: resource.urn, newState: resource }));
  return { steps, changeSummary: { create: steps.length } };
};

/**
 * Forecasts a run from the exported state of a stack.
 *
 * @param exported the output of `pulumi stack export`
 * @throws AssertionError with the whole forecast if the run exceeds a limit
 */
export const assertForecast = (exported: unknown, limits: ForecastLimits): Forecast => {
  const { maxMinutes, maxCalls, operation = "up", ...given } = limits;
  const state = stackExportIn(JSON.stringify(exported));
  const documents = operation === "up" ? { preview: firstPreview(state) } : { state };
  const source = { environment: {}, config: () => undefined };
  const { conditions } = readConditions({ plan: "enterprise", ...given }, source);
  const found = forecast(operation, documents, conditions);
  const { totalSeconds, totalCalls } = found;
  const over: string[] = [];
  if (maxMinutes !== undefined && totalSeconds > maxMinutes * 60)
    over.push(
      `it would take ${durationText(totalSeconds * 1000)} (limit: ${durationText(maxMinutes * 60_000)})`,
    );
  if (maxCalls !== undefined && totalCalls > maxCalls)
    over.push(
      `it would make ${totalCalls} ${totalCalls === 1 ? "call" : "calls"} (limit: ${maxCalls})`,
    );
  if (over.length === 0) return found;
  const report = forecastReport(found);
  const title = `The run exceeds its limits: ${over.join("; ")}.\n`;
  throw createAssertionError([title, report], "expectForecast");
};
