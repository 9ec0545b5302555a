import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { plans } from "../../provider/service/plans.js";

/** Shape of what `forecast --json` prints. */
export const forecastSchema = z.strictObject({
  operation: z.enum(["up", "refresh", "destroy"]),
  plan: z.enum(plans),
  parallel: z.int().min(1),
  totalSeconds: z
    .number()
    .min(0)
    .describe("Duration of the command, excluding the preview that Pulumi runs first"),
  totalCalls: z.int().min(0),
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

export type Forecast = Printed<z.output<typeof forecastSchema>>;
