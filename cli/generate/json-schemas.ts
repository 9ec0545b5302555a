import { z } from "zod";
import { comparisonSchema, savedSchema } from "../compare/comparison-schema.js";
import { completionSchema } from "../completion/completion-schema.js";
import { diagnosisSchema } from "../doctor/check.js";
import { driftSchema } from "../drift/drift.js";
import { drillSchema } from "../drill/drill-schema.js";
import { emulatorLineSchema } from "../emulator-schema.js";
import { explanationSchema } from "../explain/explanation.js";
import { exportSchema } from "../export/export-schema.js";
import { printedForecastSchema } from "../forecast/forecast-schema.js";
import { importFileSchema, importSchema } from "../import/import-schema.js";
import { newProjectSchema } from "../init/init-schema.js";
import { orphansSchema } from "../orphans/orphans-schema.js";
import { cleanedSchema, findingsSchema } from "../probe/findings-schema.js";
import { rehearsalSchema } from "../rehearse/outcome/outcome.js";
import { checkedRecordSchema } from "../rehearse/record/checked-record-schema.js";
import { repairSchema } from "../repair/repair-schema.js";

/** Shape of what each command prints with `--json`, by its name. */
export const jsonSchemas: Readonly<Record<string, z.ZodType>> = {
  init: newProjectSchema,
  emulator: emulatorLineSchema,
  doctor: diagnosisSchema,
  forecast: printedForecastSchema,
  explain: explanationSchema,
  drift: driftSchema,
  compare: z.union([comparisonSchema, savedSchema]),
  orphans: orphansSchema,
  repair: repairSchema,
  export: exportSchema,
  rehearse: rehearsalSchema,
  "check-record": checkedRecordSchema,
  drill: drillSchema,
  completion: completionSchema,
  probe: z.union([findingsSchema, cleanedSchema]),
  import: importSchema,
  "import-file": importFileSchema,
};

/** The JSON Schema (2020-12) of what a command prints; undefined where it prints no JSON. */
export const jsonSchemaOf = (command: string): object | undefined => {
  const schema = jsonSchemas[command];
  return schema && z.toJSONSchema(schema, { io: "output" });
};

/** The files of docs/schemas, by their paths. */
export const schemaFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(jsonSchemas).map((command) => [
      `docs/schemas/${command}.json`,
      `${JSON.stringify(jsonSchemaOf(command), null, 2)}\n`,
    ]),
  );
