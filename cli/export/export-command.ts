import type { CommandRun } from "../command.js";
import { type CommandWork, withProgress } from "../terminal/command-progress.js";
import { exportJson, exportReport } from "./export-report.js";
import type { Proof } from "./prove/prove.js";
import { type ExportOptions, type ExportResult, runExport } from "./run-export.js";

/** What the command line asked for. */
export interface ExportRequest extends Omit<ExportOptions, "progress" | "signal"> {
  readonly prove?: true;
  readonly json?: true;
}

const proofOf = async (result: ExportResult, work: CommandWork): Promise<Proof> => {
  const { accountCopy } = await import("./prove/account-copy.js");
  const { prove } = await import("./prove/prove.js");
  const { texts, names, settings, source, objects, plan, wholeImport } = result;
  return prove({
    files: new Map([...texts, ["import.json", wholeImport]]),
    isEmpty: plan.declared.length === 0,
    stack: names.stack,
    secrets: source.secrets.map(({ key }) => key),
    copy: accountCopy(objects, settings),
    settings,
    ...work,
  });
};

/** Exit code of an export that would change something when it is imported. */
const notProved = 4;

/** Runs `export` and prints what came of it. */
export const exportCommand = async (
  { prove, json, ...options }: ExportRequest,
  session: CommandRun,
): Promise<void> =>
  withProgress(session, async (work) => {
    const result = await runExport({ ...options, ...work });
    const proof = prove ? await proofOf(result, work) : undefined;
    session.out(
      json
        ? `${JSON.stringify(exportJson(result, proof), null, 2)}\n`
        : exportReport(result, proof),
    );
    session.exitCode = proof && !proof.ok ? notProved : 0;
  });
