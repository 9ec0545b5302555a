import { writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { type AskedStack, CommandFailure, sameStackCommand } from "../command.js";
import { omittedSentences } from "../export/program-files.js";
import { printedResource } from "../export/program-plan.js";
import { type AccountOptions, readAccountInputs } from "../inventory/open-account.js";
import { type OpenStack, openStack } from "../inventory/open-stack.js";
import { privateFolder } from "../pulumi/own-folders.js";
import { type Ended, runCommand } from "../pulumi/processes.js";
import { lightRun, pulumiStops } from "../pulumi/pulumi-cli.js";
import { quietEnvironment } from "../pulumi/pulumi-queries.js";
import { textTable, withCount, wrapped } from "../terminal/columns.js";
import { notReadLines, textReport } from "../terminal/report.js";
import { type ImportPlan, type PlanImportOptions, planImport } from "./import-entries.js";

const object = {
  kind: z.string(),
  id: z.string(),
  name: z.string().describe("Logical name of the resource"),
};

/** Shape of what `import --json` prints. */
export const importSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  applied: z.boolean(),
  objects: z.array(z.strictObject(object)).describe("Objects that are, or would be, imported"),
  left: z.array(z.strictObject({ ...object, reason: z.string() })),
  notes: z.array(z.string()).describe("What the command could not read"),
});

export interface ImportOptions extends AccountOptions, PlanImportOptions {
  /** Import, not only show. */
  readonly apply?: boolean;
}

export interface ImportResult extends Omit<ImportPlan, "file"> {
  readonly names: OpenStack["names"];
  readonly applied: boolean;
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
}

const flags = [
  ...["--generate-code=false", "--protect=false", "--yes", "--skip-preview"],
  // If an import fails, Pulumi writes its entries into the project.
  ...["--generate-resources", devNull],
];

const failureOf = (
  { code, lastLines }: Ended,
  asked: AskedStack,
  isInterrupted: boolean,
): CommandFailure => {
  const again =
    "The state contains what was imported so far, or nothing if the import was killed or the stack is locked. " +
    `To clean up, run ${sameStackCommand("repair", asked)}; then import again.`;
  if (isInterrupted) return new CommandFailure(`Interrupted. ${again}`, 130);
  if (code === undefined) return new CommandFailure(`pulumi import was killed. ${again}`);
  return new CommandFailure(`pulumi import failed. ${again}\n${lastLines.slice(-15).join("\n")}`);
};

/**
 * Runs Pulumi's own import.
 *
 * @throws CommandFailure if it fails
 */
const importFile = async (
  { place, env }: OpenStack,
  text: string,
  options: ImportOptions,
): Promise<void> => {
  const { signal } = options;
  const { folder, remove } = privateFolder("conversation-import-");
  const file = join(folder, "resources.json");
  const stack = place.stack ? ["--stack", place.stack] : [];
  try {
    writeFileSync(file, text);
    const args = ["import", "--file", file, ...flags, "--non-interactive", ...stack];
    const ended = await runCommand(place.command, args, {
      cwd: place.folder,
      signal,
      env: { ...quietEnvironment(env), ...lightRun(env) },
      stops: pulumiStops,
    });
    if (ended.code !== 0) throw failureOf(ended, options, signal?.aborted === true);
  } finally {
    remove();
  }
};

/**
 * Imports objects of an account into the state of a stack, by Pulumi's own import. Shows only,
 * unless `apply` is given. Makes list calls only and never writes to the service.
 *
 * @throws CommandFailure if the import fails; ConversationError if the account cannot be read
 */
export const runImport = async (options: ImportOptions): Promise<ImportResult> => {
  const { progress, signal } = options;
  const stack = await openStack(options);
  const { objects, notes: gaps } = await readAccountInputs(options);
  // Read after the account: by then the states hold what a run has made or taken over in between.
  const states = await stack.readStates("all");
  const unseen = "some stacks in the backend, which may contain objects listed here.";
  const notes = states.complete ? gaps : [...gaps, unseen];
  const { taken, left, file } = planImport(objects, stack.names, states, options);
  const applied = options.apply === true && taken.length > 0;
  if (applied) {
    if (signal?.aborted) throw new CommandFailure("Interrupted. Nothing was imported.", 130);
    const count = withCount(taken.length, "object");
    const step = progress?.step(`Importing ${count}`);
    try {
      await importFile(stack, file, options);
      step?.done(`Imported ${count}`);
    } catch (error) {
      step?.failed();
      throw error;
    }
  }
  return { taken, left, names: stack.names, applied, notes };
};

export const importJson = ({
  names,
  applied,
  taken,
  left,
  notes,
}: ImportResult): Printed<z.output<typeof importSchema>> => ({
  ...names,
  applied,
  objects: taken.map(printedResource),
  left: left.map((each) => ({ ...printedResource(each), reason: each.reason })),
  notes,
});

const nextStep = ({ names, applied, taken }: ImportResult, asked: AskedStack): string => {
  const stack = `${names.project}/${names.stack}`;
  if (taken.length === 0) return `Nothing is left to import into ${stack}. Nothing was changed.`;
  const counted = taken.length === 1 ? "this object" : `these ${taken.length} objects`;
  if (!applied) return `Nothing was imported. To import ${counted} into ${stack}, add --apply.`;
  const marked = taken.filter(({ object }) => object.mark).length;
  const except = marked > 0 ? ` (except of what carries this stack's mark: ${marked})` : "";
  return (
    `The objects are in the state of ${stack}. Declare them in the program under these names before the next pulumi up, ` +
    `which would otherwise delete them in the service. To write the code${except}, run: ${sameStackCommand("export --out <folder>", asked)}. ` +
    "Then pulumi preview shows the differences, and the first pulumi up writes the dependencies into the state."
  );
};

export const importReport = (result: ImportResult, asked: AskedStack = {}): string => {
  const { taken, left, notes } = result;
  const omitted = omittedSentences(left).flatMap((sentence) => wrapped(sentence, 80));
  const rows = taken.map(({ object, logical }) => [object.definition.kind, object.id, logical]);
  return textReport(
    rows.length > 0 ? textTable(["kind", "id", "resource"], rows, { whole: ["kind", "id"] }) : [],
    [...omitted, ...notReadLines(notes), ...wrapped(nextStep(result, asked), 80)],
  );
};
