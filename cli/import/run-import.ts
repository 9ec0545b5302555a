import { chmodSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { delimiter, join } from "node:path";
import { quietEnvironment } from "../../provider/stacks/pulumi-queries.js";
import { type AccountOptions, readAccountInputs } from "../account/open-account.js";
import { CommandFailure } from "../command.js";
import { type PrivateFolder, privateFolder } from "../process/private-folder.js";
import { type Ended, runCommand } from "../process/run-command.js";
import { writtenOnce } from "../pulumi-cli/pulumi-cli.js";
import { type OpenStack, openStack } from "../stack/open-stack.js";
import { withCount } from "../terminal/columns.js";
import { entriesVariable, handOver } from "./entry-handover.js";
import { type ImportPlan, type PlanImportOptions, planImport } from "./plan-import.js";
import { assertImports } from "./pulumi-version.js";

export interface ImportOptions extends AccountOptions, PlanImportOptions {
  /** Import, not only show. */
  readonly apply?: boolean;
}

/** What was, or would be, imported. */
export interface ImportResult extends Omit<ImportPlan, "entries"> {
  readonly names: OpenStack["names"];
  /** Whether it was done. */
  readonly applied: boolean;
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
}

/** A folder with the converter under the name that Pulumi looks for. */
const converterFolder = (): PrivateFolder => {
  const { folder, remove } = privateFolder("conversation-converter-");
  const main = join(__dirname, "..", "converter.js");
  const windows = process.platform === "win32";
  const file = join(folder, `pulumi-converter-conversation${windows ? ".cmd" : ""}`);
  const line = `"${process.execPath}" "${main}"`;
  writeFileSync(file, windows ? `@${line} %*\r\n` : `#!/bin/sh\nexec ${line} "$@"\n`);
  chmodSync(file, 0o700);
  return { folder, remove };
};

const flags = [
  ...["--generate-code=false", "--protect=false", "--yes", "--skip-preview"],
  // Where an import fails, Pulumi writes what it was given into the project, secrets in clear.
  ...["--generate-resources", devNull],
];

const lockedFailure = ({ names }: OpenStack, by?: string): CommandFailure =>
  new CommandFailure(
    `Nothing was imported: the stack ${names.project}/${names.stack} is locked${by ? ` (${by})` : ""}, so a run may be at work on it. ` +
      "Wait until it has ended; if it was killed, run: pulumi-conversation repair. Then import again.",
  );

/** @throws CommandFailure where a run holds the lock: Pulumi would refuse, too, only later and in other words */
const assertUnlocked = async (stack: OpenStack): Promise<void> => {
  const lock = await stack.readLock();
  if (lock.state === "locked") throw lockedFailure(stack, lock.by);
};

/** What Pulumi says where a run took the lock after it was looked at, such as a second import. */
const aboutLock = /stack is currently locked by|another update is currently in progress/i;

const again =
  "What was imported by then is in the state, of a killed import nothing. Run pulumi-conversation repair, which takes away what was left, " +
  "then import the rest with --skip-managed.";

const aboutFile = /^Generated import file written out/;

/** How an import that did not end well ended. */
const failureOf = (
  { code, lastLines }: Ended,
  stack: OpenStack,
  isInterrupted: boolean,
): CommandFailure => {
  if (lastLines.some((line) => aboutLock.test(line))) return lockedFailure(stack);
  if (isInterrupted) return new CommandFailure(`Interrupted. ${again}`, 130);
  if (code === undefined) return new CommandFailure(`pulumi import was killed. ${again}`);
  const said = lastLines.filter((line) => !aboutFile.test(line)).slice(-15);
  return new CommandFailure(`pulumi import failed. ${again}\n${said.join("\n").trim()}`);
};

const runPulumi = async (
  opened: OpenStack,
  plan: ImportPlan,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { place, env } = opened;
  const { folder, remove } = converterFolder();
  const { url, close } = await handOver(plan.entries);
  const stack = place.stack ? ["--stack", place.stack] : [];
  const args = ["import", "--from", "conversation", ...flags, "--non-interactive", ...stack];
  try {
    const ended = await runCommand(place.command, args, {
      cwd: place.folder,
      signal,
      env: {
        ...quietEnvironment(env),
        ...writtenOnce,
        PATH: [folder, env.PATH ?? ""].join(delimiter),
        [entriesVariable]: url,
      },
      stops: [
        { signal: "SIGINT", afterMs: 0 },
        { signal: "SIGKILL", afterMs: 6000 },
      ],
    });
    if (ended.code !== 0) throw failureOf(ended, opened, signal?.aborted === true);
  } finally {
    await close();
    remove();
  }
};

/**
 * Imports objects of an account into the state of a stack, by Pulumi's own import. Shows only, unless
 * it is told to apply. Makes list calls alone, and never writes to the service.
 *
 * @throws CommandFailure where Pulumi is too old, an object may not be taken over, or the import fails;
 *   ConversationError where the account cannot be read
 */
export const runImport = async (options: ImportOptions): Promise<ImportResult> => {
  const stack = await openStack(options);
  await assertImports(stack.place, "converter");
  const { objects, notes } = await readAccountInputs(options);
  // After the account: what a run makes or takes over in between is held by then.
  const states = await stack.readStates("all");
  const plan = planImport(objects, { names: stack.names, states }, options);
  const { apply = false, progress, signal } = options;
  if (apply && plan.taken.length > 0) {
    await assertUnlocked(stack);
    if (signal?.aborted) throw new CommandFailure("Interrupted. Nothing was imported.", 130);
    const count = withCount(plan.taken.length, "object");
    const step = progress?.step(`Importing ${count}`);
    try {
      await runPulumi(stack, plan, signal);
      step?.done(`Imported ${count}`);
    } catch (error) {
      step?.failed();
      throw error;
    }
  }
  const { taken, left } = plan;
  return { taken, left, names: stack.names, applied: apply && taken.length > 0, notes };
};
