import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runCommand } from "../process/run-command.js";
import { isAtLeast, versionIn } from "../version-number.js";
import { companions, LEAST_PULUMI } from "./releases.js";

/** A Pulumi CLI that can run the programs of this package. */
export interface PulumiCli {
  /** Path of the `pulumi` program. */
  readonly command: string;
  /** Its folder. */
  readonly bin: string;
  /** Such as `3.259.0`. */
  readonly version: string;
  readonly origin: "PATH" | "cache" | "official installer" | "Go modules";
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The first program of a name in a list of folders such as PATH holds. */
export const findProgram = (name: string, path: string | undefined): string | undefined => {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, file)).find(isProgram);
};

/** The version that a `pulumi` program reports, or undefined where it does not run. */
export const versionOf = async (
  command: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<string | undefined> => {
  const quiet = { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const ended = await runCommand(command, ["version"], {
    env: quiet,
    signal,
    timeoutMs: 20_000,
  }).catch(() => undefined);
  return ended?.code === 0 ? versionIn(ended.stdout)?.join(".") : undefined;
};

/** Why a program that was found cannot be used, or the CLI. */
export type Inspection = { readonly cli: PulumiCli } | { readonly unusable: string };

/** Looks at one `pulumi` program: does it run, is it new enough, does it have its companions? */
export const inspectPulumi = async (
  command: string,
  origin: PulumiCli["origin"],
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Inspection> => {
  const version = await versionOf(command, env, signal);
  if (version === undefined) return { unusable: `${command} does not run` };
  if (!isAtLeast(version, LEAST_PULUMI))
    return { unusable: `${command} is version ${version}, older than ${LEAST_PULUMI}` };
  const bin = dirname(command);
  const folders = [bin, dirname(realpathSync(command)), env.PATH ?? ""].join(delimiter);
  const missing = companions.filter((name) => findProgram(name, folders) === undefined);
  if (missing.length > 0)
    return { unusable: `${command} lacks ${missing.join(" and ")} beside it and on PATH` };
  return { cli: { command, bin, version, origin } };
};

/** The environment in which this CLI finds its companions and leaves the network alone. */
export const environmentFor = (cli: PulumiCli, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  PATH: [cli.bin, env.PATH ?? ""].join(delimiter),
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
});
