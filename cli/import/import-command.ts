import type { CommandRun } from "../command.js";
import { withProgress } from "../terminal/progress.js";
import { importJson, importReport } from "./import-report.js";
import { type ImportOptions, runImport } from "./run-import.js";

/** Runs `import` and prints what came of it. */
export const importCommand = (
  options: ImportOptions,
  json: boolean,
  session: CommandRun,
): Promise<void> =>
  withProgress(session, async (work) => {
    const result = await runImport({ ...options, ...work });
    session.out(json ? `${JSON.stringify(importJson(result), null, 2)}\n` : importReport(result));
  });
