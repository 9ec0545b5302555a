import { accessSync, constants, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runCommand, type Stops } from "./processes.js";

/** Oldest Pulumi CLI version that this package supports. */
export const LEAST_PULUMI = "3.254.0";

/**
 * Programs required beside `pulumi`, or on PATH, to run TypeScript programs with dynamic providers.
 */
const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"] as const;

/**
 * Returns the major, minor, and patch numbers of the first version in text such as `v3.259.0` or `go
 * version go1.26.8`; undefined if there is none.
 */
export const versionIn = (text: string): readonly number[] | undefined => {
  const match = /(?<!\d)(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
};

/**
 * Whether the first version in a string is at least `least`; false if the string contains no
 * version.
 */
export const isAtLeast = (text: string, least: string): boolean => {
  const [have, need] = [versionIn(text), versionIn(least)];
  if (!have || !need) return false;
  const different = have.findIndex((part, index) => part !== need[index]);
  return different === -1 || (have[different] ?? 0) > (need[different] ?? 0);
};

/** A Pulumi CLI that can run programs that use this package. */
export interface PulumiCli {
  /** Path of the `pulumi` program. */
  readonly command: string;
  /** The program's folder. */
  readonly bin: string;
  /** The version, such as `3.259.0`. */
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

/**
 * Returns the path of the first program with this name in a list of folders such as PATH; undefined
 * if there is none.
 */
export const findProgram = (name: string, path: string | undefined): string | undefined => {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, file)).find(isProgram);
};

/** The version that a `pulumi` program reports, or undefined if it does not run. */
const versionOf = async (command: string, env: NodeJS.ProcessEnv, signal?: AbortSignal) => {
  const options = { env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" }, signal, timeoutMs: 20_000 };
  const ended = await runCommand(command, ["version"], options).catch(() => undefined);
  return ended?.code === 0 ? versionIn(ended.stdout)?.join(".") : undefined;
};

/** A companion of a CLI: beside it, or on PATH. */
const companionOf = (
  command: string,
  name: (typeof companions)[number],
  env: NodeJS.ProcessEnv,
): string | undefined =>
  findProgram(
    name,
    [dirname(command), dirname(realpathSync(command)), env.PATH ?? ""].join(delimiter),
  );

/** The source path of the language host until release 3.68, as Go writes it into binaries. */
const oldHostPath = "path\tgithub.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs\n";

/**
 * Returns a readable sentence about the features that programs lack with this CLI; undefined if its
 * language host is newer than release 3.68. Newer hosts cannot be built from Go modules.
 */
export const hostLimits = (
  { command }: Pick<PulumiCli, "command">,
  env: NodeJS.ProcessEnv,
): string | undefined => {
  const host = companionOf(command, "pulumi-language-nodejs", env);
  if (host === undefined || !readFileSync(host).includes(oldHostPath)) return undefined;
  return "Its language host is from release 3.68, because this Pulumi was built from Go modules. Programs with resource hooks or transforms, and policy packs, fail; for these, install Pulumi itself: https://www.pulumi.com/docs/install/";
};

/**
 * Returns a `pulumi` program if it runs, is recent enough, and has its companion programs;
 * otherwise, the reason why it cannot be used.
 */
export const inspectPulumi = async (
  command: string,
  origin: PulumiCli["origin"],
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<{ readonly cli: PulumiCli } | { readonly unusable: string }> => {
  const version = await versionOf(command, env, signal);
  if (version === undefined) return { unusable: `${command} does not run` };
  if (!isAtLeast(version, LEAST_PULUMI))
    return { unusable: `${command} is version ${version}, older than ${LEAST_PULUMI}` };
  const bin = dirname(command);
  const missing = companions.filter((name) => companionOf(command, name, env) === undefined);
  if (missing.length > 0)
    return {
      unusable: `${command} is missing ${missing.join(" and ")}, which must be in its folder or on PATH`,
    };
  return { cli: { command, bin, version, origin } };
};

/**
 * Returns the environment in which this CLI finds its companion programs and does not use the
 * network.
 */
export const environmentFor = (cli: PulumiCli, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  PATH: [cli.bin, env.PATH ?? ""].join(delimiter),
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
});

/** The folders of a Pulumi that is separate from the user's. */
interface OwnPulumi {
  /** The content of Pulumi's home folder: credentials, plugins, logs, selected stacks. */
  readonly home: string;
  /** Folder of the states. */
  readonly backend: string;
  /** The states contain nothing that requires a better one. */
  readonly passphrase: string;
}

/** Returns the variables that make Pulumi use separate folders. */
export const ownPulumi = ({ home, backend, passphrase }: OwnPulumi) => ({
  PULUMI_HOME: home,
  PULUMI_BACKEND_URL: `file://${backend}`,
  PULUMI_CONFIG_PASSPHRASE: passphrase,
});

/** Returns Pulumi's home folder if PULUMI_HOME sets it; otherwise, undefined. */
export const pulumiHomeIn = (env: NodeJS.ProcessEnv): string | undefined =>
  env.PULUMI_HOME || undefined;

/**
 * Variables that make Pulumi write the state only once, at the end, because with a thousand
 * resources, writing it after every step takes longer than the steps themselves. Use them only for
 * runs that create nothing in the service, because a killed run leaves the state unchanged.
 */
export const writtenOnce = { PULUMI_SKIP_CHECKPOINTS: "true" } as const;

/**
 * The same for runs that need no stack traces. Pulumi's SDK reads the call stack for every promise,
 * which takes most of the time of a program with a thousand resources. With a small young generation
 * (in MiB), its processes take a fifth less memory in the same time.
 */
export const lightRun = ({ NODE_OPTIONS = "" }: NodeJS.ProcessEnv) => ({
  ...writtenOnce,
  NODE_OPTIONS: `--stack-trace-limit=0 --max-semi-space-size=2 ${NODE_OPTIONS}`.trim(),
});

/**
 * How to ask Pulumi to stop. The first signal makes it finish the operations in progress and
 * release the lock, the second cancels these operations, and the third kills it.
 */
export const pulumiStops: Stops = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGINT", afterMs: 3000 },
  { signal: "SIGKILL", afterMs: 8000 },
];

/** Variables of a shell about Pulumi, and about accounts of the service. */
const ofTheUser = /^(PULUMI|CONVERSATION)_/i;

/**
 * Returns the environment without any variables that lead to a stack, a backend, or a real account,
 * for separate temporary stacks. The caller must set the required variables again.
 */
export const isolatedEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ofTheUser.test(name)));
