import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { plans } from "../../provider/service/plans.js";
import { forecastOperations } from "./operations.js";

/** Shape of what `forecast --json` prints. */
export const forecastSchema = z.strictObject({
  operation: z.enum(forecastOperations),
  plan: z.enum(plans),
  parallel: z.int().min(1),
  totalSeconds: z
    .number()
    .min(0)
    .describe("Duration of the command, excluding the preview that Pulumi runs first"),
  totalCalls: z.int().min(0),
  methods: z
    .record(z.string(), z.int().min(1))
    .describe("Number of calls with each HTTP method, each of which has its own monthly quota"),
  monthlyQuota: z.int().describe("Calls with each HTTP method that the plan allows in a month"),
  endpoints: z.array(
    z.strictObject({
      endpoint: z.string().describe("Method and path template, such as POST /participants"),
      calls: z.int().min(1),
      seconds: z
        .number()
        .min(0)
        .describe("Time from when the first call is queued to the last response"),
    }),
  ),
});

/** The forecast of a run, as `--json` prints it. */
export type Forecast = Printed<z.output<typeof forecastSchema>>;
