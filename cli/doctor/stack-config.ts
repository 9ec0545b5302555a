import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../../provider/kernel/json.js";
import { runCommand } from "../process/run-command.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import { stackAdvice } from "../pulumi-cli/stack-advice.js";
import { type CheckResult, ok, skipped, warn } from "./check.js";
import { settingOf } from "./config-keys.js";

/** One entry of a stack's configuration. */
export interface ConfigEntry {
  /** Undefined where it is encrypted and cannot be read. */
  readonly text?: string;
  readonly secret: boolean;
}

/** Configuration of the selected stack by full key, such as `conversation:baseUrl`, and how it was had. */
export interface StackConfig {
  readonly values: ReadonlyMap<string, string>;
  /** Texts or not; empty where the configuration could not be read. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
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

const without = (check: CheckResult): StackConfig => ({
  values: new Map(),
  entries: new Map(),
  check,
});

const unread = (reason: string): StackConfig =>
  without(
    warn(
      NAME,
      `the stack's configuration could not be read: ${reason}`,
      `${stackAdvice(reason)} Only the environment was looked at.`,
    ),
  );

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

const entryOf = (entry: unknown): ConfigEntry | undefined =>
  isObject(entry)
    ? {
        ...(typeof entry.value === "string" ? { text: entry.value } : {}),
        secret: entry.secret === true,
      }
    : undefined;

/** What `pulumi config --json` prints: `{ key: { value, secret } }`; undefined where that is no JSON. */
export const configEntries = (json: string): ReadonlyMap<string, ConfigEntry> | undefined => {
  const config = parsed(json);
  if (!isObject(config)) return undefined;
  return new Map(
    Object.entries(config).flatMap(([key, value]): [string, ConfigEntry][] => {
      const entry = entryOf(value);
      return entry ? [[key, entry]] : [];
    }),
  );
};

const textsOf = (entries: ReadonlyMap<string, ConfigEntry>): ReadonlyMap<string, string> =>
  new Map(
    [...entries].flatMap(([key, { text }]): [string, string][] =>
      text === undefined ? [] : [[key, text]],
    ),
  );

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
  if (ended.code !== 0)
    return unread((ended.lastLines.at(-1) ?? "no reason given").replace(/^error: /, ""));
  const entries = configEntries(ended.stdout);
  if (!entries) return unread("pulumi config printed no JSON");
  const own = [...entries.keys()].filter((key) => settingOf(key) !== undefined).length;
  return {
    values: textsOf(entries),
    entries,
    check: ok(NAME, `${own} of our keys set in ${stack ?? "the selected stack"}`),
  };
};
