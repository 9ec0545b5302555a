import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { runCommand } from "../process/run-command.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import { type CheckResult, ok, skipped, warn } from "./check.js";

/** Configuration of the selected stack by full key, such as `conversation:baseUrl`, and how it was had. */
export interface StackConfig {
  readonly values: ReadonlyMap<string, string>;
  readonly check: CheckResult;
}

const NAME = "stack-config";
const LONGEST_MS = 20_000;
const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml"];

const projectFolder = (folder: string): string | undefined => {
  if (PROJECT_FILES.some((name) => existsSync(join(folder, name)))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : projectFolder(parent);
};

const without = (check: CheckResult): StackConfig => ({ values: new Map(), check });

const unread = (reason: string): StackConfig =>
  without(
    warn(
      NAME,
      `the stack's configuration could not be read: ${reason}`,
      "Select a stack (pulumi stack select) or name one with --stack; only the environment was looked at.",
    ),
  );

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

const textOf = (entry: unknown): string | undefined =>
  entry !== null && typeof entry === "object" && "value" in entry && typeof entry.value === "string"
    ? entry.value
    : undefined;

/** Texts of the JSON that `pulumi config --json` prints: `{ key: { value, secret } }`. */
export const configValues = (json: string): ReadonlyMap<string, string> | undefined => {
  const config = parsed(json);
  if (typeof config !== "object" || config === null) return undefined;
  return new Map(
    Object.entries(config).flatMap(([key, entry]): [string, string][] => {
      const text = textOf(entry);
      return text === undefined ? [] : [[key, text]];
    }),
  );
};

/** Reads the stack's configuration through the Pulumi CLI; without one only the environment counts. */
export const readStackConfig = async (
  folder: string,
  env: NodeJS.ProcessEnv,
  stack?: string,
): Promise<StackConfig> => {
  const project = projectFolder(folder);
  if (project === undefined)
    return without(
      skipped(NAME, "no Pulumi project in this folder: only the environment is looked at"),
    );
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    return without(skipped(NAME, "no pulumi on PATH: only the environment is looked at"));
  const args = ["config", "--json", "--show-secrets", "--non-interactive"];
  const ended = await runCommand(command, [...args, ...(stack ? ["--stack", stack] : [])], {
    cwd: project,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeoutMs: LONGEST_MS,
  });
  if (ended.timedOut) return unread(`no answer within ${LONGEST_MS / 1000} s`);
  if (ended.code !== 0) return unread(ended.lastLines.at(-1) ?? "no reason given");
  const values = configValues(ended.stdout);
  if (!values) return unread("pulumi config printed no JSON");
  const own = [...values.keys()].filter((key) => key.startsWith("conversation:")).length;
  return { values, check: ok(NAME, `${own} of our keys set in ${stack ?? "the selected stack"}`) };
};
