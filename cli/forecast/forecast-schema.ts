import { z } from "zod";
import { plans } from "../../provider/service/plans.js";
import { blastRadiusSchema } from "../stack/blast-radius-schema.js";
import { forecastOperations } from "./simulation/workload.js";

const seconds = z.number().min(0);
const endpoint = z.string().describe("Such as POST /participants");

/** Shape of calls of one endpoint in a row, each of which holds up the next. */
export const pathPartSchema = z.strictObject({
  endpoint,
  calls: z.int().min(1),
  resources: z.array(z.string()).describe("Whose calls these are, such as Participant orders"),
  fromSeconds: seconds.describe("Since the start, when this part can begin"),
  toSeconds: seconds,
  waitsForRate: z.boolean().describe("Whether the calls wait for the rate limit"),
});

/** Shape of what one endpoint has to bear. */
export const endpointForecastSchema = z.strictObject({
  endpoint,
  calls: z.int().min(1),
  seconds: seconds.describe("From when the first is wanted to the answer of the last"),
});

/** Shape of what the run would take on a plan. */
export const planForecastSchema = z.strictObject({
  totalSeconds: seconds,
  savesSeconds: z.number().describe("Below 0: so much longer than on the plan of the forecast"),
});

/** Shape of a forecast alone. */
export const forecastSchema = z.strictObject({
  operation: z.enum(forecastOperations),
  plan: z.enum(plans),
  parallel: z.int().min(1),
  totalSeconds: seconds.describe("Of the command, without the preview that Pulumi makes before"),
  totalCalls: z.int().min(0),
  endpoints: z.array(endpointForecastSchema),
  criticalPath: z
    .array(pathPartSchema)
    .describe("The chain of calls that makes the run as long as it is"),
  plans: z.record(z.string(), planForecastSchema).describe("The same run on each plan"),
});

/** Shape of what `forecast --json` prints. */
export const printedForecastSchema = forecastSchema.extend({
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe("Who still uses what the run deletes; left out where it deletes nothing"),
});
