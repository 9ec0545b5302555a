import { z } from "zod";
import { blastRadiusSchema } from "../inventory/blast-radius.js";
import { forecastSchema } from "./forecast-schema.js";

/** Shape of what `forecast --json` prints. */
export const printedForecastSchema = forecastSchema.extend({
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe(
      "What still uses the objects that the run deletes; absent if it deletes nothing or was not checked",
    ),
});
