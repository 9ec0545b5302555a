import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { plans } from "../../provider/service/plans.js";
import { blastRadiusSchema } from "../inventory/blast-radius.js";
import { forecastOperations } from "./operations.js";

const seconds = z.number().min(0);
const endpoint = z.string().describe("Method and path template, such as POST /participants");

/** Shape of calls of one endpoint in a row, each of which holds up the next. */
const pathPartSchema = z.strictObject({
  endpoint,
  calls: z.int().min(1),
  resources: z
    .array(z.string())
    .describe("Resources that make the calls, such as Participant orders"),
  fromSeconds: seconds.describe("Earliest start of this part, measured from the start of the run"),
  toSeconds: seconds,
  waitsForRate: z.boolean().describe("Whether the calls wait for the rate limit"),
});

/** Shape of what one endpoint has to bear. */
const endpointForecastSchema = z.strictObject({
  endpoint,
  calls: z.int().min(1),
  seconds: seconds.describe("Time from when the first call is queued to the last response"),
});

/** Shape of what the run would take on a plan. */
const planForecastSchema = z.strictObject({
  totalSeconds: seconds,
  savesSeconds: z
    .number()
    .describe("Time saved compared with the forecast's plan; negative if the run takes longer"),
});

/** Schema of one forecast. */
const forecastSchema = z.strictObject({
  operation: z.enum(forecastOperations),
  plan: z.enum(plans),
  parallel: z.int().min(1),
  totalSeconds: seconds.describe(
    "Duration of the command, excluding the preview that Pulumi runs first",
  ),
  totalCalls: z.int().min(0),
  methods: z
    .record(z.string(), z.int().min(1))
    .describe("Number of calls with each HTTP method, each of which has its own monthly quota"),
  monthlyQuota: z.int().describe("Calls with each HTTP method that the plan allows in a month"),
  endpoints: z.array(endpointForecastSchema),
  criticalPath: z
    .array(pathPartSchema)
    .describe("The chain of calls that determines the run's duration"),
  plans: z.record(z.string(), planForecastSchema).describe("The same run on each plan"),
});

/** Shape of what `forecast --json` prints. */
export const printedForecastSchema = forecastSchema.extend({
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe(
      "What still uses the objects that the run deletes; absent if it deletes nothing or was not checked",
    ),
});

/** Consecutive calls to one endpoint, each delaying the next. */
export type PathPart = Printed<z.output<typeof pathPartSchema>>;

/** The load on one endpoint. */
export type EndpointForecast = Printed<z.output<typeof endpointForecastSchema>>;

/** The run's duration on one plan, with a comparison to the forecast's plan. */
export type PlanForecast = Printed<z.output<typeof planForecastSchema>>;

/** The forecast of a run, as `--json` prints it. */
export type Forecast = Printed<z.output<typeof forecastSchema>>;
