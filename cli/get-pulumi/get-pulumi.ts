import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isOwnFolder } from "../../provider/kernel/files.js";
import { environmentOfPackages } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { cacheFolder, ownCacheFolder } from "../pulumi/own-folders.js";
import { runCommand } from "../pulumi/processes.js";
import { findProgram, inspectPulumi, LEAST_PULUMI, type PulumiCli } from "../pulumi/pulumi-cli.js";
import type { Progress } from "../terminal/progress.js";
import { lockFolder, makeFolder, throwIfInterrupted } from "./cached-folder.js";
import { buildGoPrograms, type FetchOptions, type GoProgram, LEAST_GO } from "./go-modules.js";

/** The release that is fetched if none is found, and what building it from its Go modules takes. */
export const release = {
  version: "3.276.0",
  installer: "https://get.pulumi.com/install.sh",
  programs: [
    {
      name: "pulumi",
      modules: { "github.com/pulumi/pulumi/pkg/v3": "v3.276.0" },
      package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
      flags: [
        "-tags",
        "osusergo,grpcnotrace",
        "-ldflags",
        "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.276.0",
      ],
      isWithoutClouds: true,
    },
    {
      // Later releases of the language host have no tagged module; this one works with the engine above.
      name: "pulumi-language-nodejs",
      modules: { "github.com/pulumi/pulumi/sdk/v3": "v3.68.0" },
      package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
      flags: ["-ldflags", "-s -w"],
    },
  ],
} as const satisfies { readonly programs: readonly GoProgram[]; readonly [name: string]: unknown };

const LONGEST_INSTALLATION_MS = 600_000;

/**
 * Installs Pulumi's own release into a folder, with the installer of the Automation API. It runs in
 * its own process, so that it can be ended at any time.
 *
 * @returns why it did not work; undefined if it did
 */
const installOfficially = async (
  root: string,
  { progress, signal, env }: FetchOptions,
): Promise<string | undefined> => {
  const step = progress.step(`Installing Pulumi ${release.version} with the official installer`);
  const script = join(__dirname, "installer-process.js");
  const ended = await runCommand(process.execPath, [script, root], {
    env: { ...env, NODE_USE_ENV_PROXY: "1" },
    signal,
    timeoutMs: LONGEST_INSTALLATION_MS,
  });
  if (ended.code === 0) {
    step.done(`Installed Pulumi ${release.version} with the official installer`);
    return undefined;
  }
  const reason = ended.timedOut
    ? `it did not finish within ${LONGEST_INSTALLATION_MS / 60_000} minutes`
    : (ended.lastLines.at(-1) ?? "no reason given");
  // No failure yet: another way comes next, and if none works, the reason is given then.
  step.end();
  progress.note(`The official Pulumi installer could not be used: ${reason}.`);
  return reason;
};

/**
 * Builds the CLI and the language host from their published Go modules into a folder.
 *
 * @returns why it did not work; undefined if it did
 */
const buildFromGoModules = (root: string, options: FetchOptions): Promise<string | undefined> => {
  const note = `Building Pulumi ${release.version} from its Go modules, without cloud storage, cloud keys, and the commands api and neo. This takes a few minutes, once per user.`;
  return buildGoPrograms(release.programs, root, { ...options, note });
};

/** What is got, for messages. */
const CLI = "the Pulumi CLI";

/** Where this package keeps Pulumi CLIs that it fetched, one folder per version. */
const pulumiFolder = "pulumi";

/** The `pulumi` that this package fetched earlier; undefined if none. */
export const cachedPulumi = (env: NodeJS.ProcessEnv): string | undefined => {
  const cache = cacheFolder(env);
  if (!isOwnFolder(cache)) return undefined;
  return findProgram("pulumi", join(cache, pulumiFolder, release.version, "bin"));
};

/** What a person can do if there is no `pulumi` on PATH. */
export const missingPulumiAdvice = (env: NodeJS.ProcessEnv): string => {
  const cached = cachedPulumi(env);
  return cached
    ? `To use the Pulumi that this package installed, run: export PATH="${dirname(cached)}:$PATH"`
    : `Install Pulumi ${LEAST_PULUMI} or later: https://www.pulumi.com/docs/install/`;
};

interface EnsureOptions {
  readonly progress: Progress;
  /** Aborting ends the work under way and leaves nothing half-made. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** How a missing CLI is fetched. Default: the official installer, then a build from Go modules. */
  readonly ways?: readonly Way[];
}

/** A way to put a CLI into the folder `bin` below `root`; returns the reason if it did not work. */
export interface Way {
  readonly origin: PulumiCli["origin"];
  readonly get: (root: string, options: FetchOptions) => Promise<string | undefined>;
}

const usualWays: readonly Way[] = [
  { origin: "official installer", get: installOfficially },
  { origin: "Go modules", get: buildFromGoModules },
];

/** The script that starts the process of dynamic providers comes with the Node SDK. */
const addProviderScript = (bin: string): void => {
  const name = "pulumi-resource-pulumi-nodejs";
  const target = join(bin, name);
  if (existsSync(target)) return;
  const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
  copyFileSync(join(sdk, name), target);
  chmodSync(target, 0o755);
};

const giveUp = (tried: readonly string[]): CommandFailure =>
  new CommandFailure(
    [
      `Cannot find or install the Pulumi CLI (${LEAST_PULUMI} or later):`,
      ...tried.map((line) => `  - ${line}`),
      "Do one of the following, and then try again:",
      "  - install Pulumi (https://www.pulumi.com/docs/install/) and add its folder to PATH;",
      `  - allow access to ${release.installer}, so that this package can install Pulumi;`,
      `  - install Go ${LEAST_GO} or later, so that this package can build Pulumi.`,
    ].join("\n"),
  );

/** Tries every way until one fills the cache's folder. */
const fill = async (
  cached: string,
  options: Required<EnsureOptions>,
  tried: string[],
): Promise<PulumiCli> => {
  for (const { origin, get } of options.ways) {
    const make = async (draft: string): Promise<string | undefined> => {
      const failure = await get(draft, options);
      throwIfInterrupted(CLI, options.signal);
      if (failure === undefined) addProviderScript(join(draft, "bin"));
      return failure;
    };
    const reason = await makeFolder(cached, make, options.progress);
    if (reason !== undefined) {
      tried.push(`${origin}: ${reason}`);
      continue;
    }
    const command = join(cached, "bin", "pulumi");
    const inspected = await inspectPulumi(command, origin, options.env, options.signal);
    if ("cli" in inspected) return inspected.cli;
    tried.push(`${origin}: ${inspected.unusable}`);
  }
  throw giveUp(tried);
};

const cachedCli = async (cached: string, { env, signal }: Required<EnsureOptions>) => {
  const command = join(cached, "bin", "pulumi");
  if (!existsSync(command)) return undefined;
  const inspected = await inspectPulumi(command, "cache", env, signal);
  return "cli" in inspected ? inspected.cli : undefined;
};

/** @throws CommandFailure if the cache holds nothing that may be run and cannot be filled */
const cacheToFill = (env: NodeJS.ProcessEnv, tried: readonly string[]): string => {
  try {
    return ownCacheFolder(env);
  } catch (error) {
    throw giveUp([...tried, `the cache folder: ${messageOf(error)}`]);
  }
};

/**
 * Returns a Pulumi CLI that can run this package's programs: the one on PATH if it is new enough,
 * else the one in the user's cache, which the official installer or a build from Go modules fills.
 *
 * @throws CommandFailure that names every way tried and what the person can do
 */
export const ensurePulumi = async (given: EnsureOptions): Promise<PulumiCli> => {
  const env = environmentOfPackages(given.env ?? process.env);
  const options = { signal: undefined, ways: usualWays, ...given, env };
  const tried: string[] = [];
  const onPath = findProgram("pulumi", options.env.PATH);
  if (onPath === undefined) tried.push("PATH: no pulumi");
  else {
    const inspected = await inspectPulumi(onPath, "PATH", options.env, options.signal);
    if ("cli" in inspected) return inspected.cli;
    tried.push(`PATH: ${inspected.unusable}`);
  }
  const cached = join(cacheToFill(options.env, tried), pulumiFolder, release.version);
  const kept = await cachedCli(cached, options);
  if (kept) return kept;
  throwIfInterrupted(CLI, options.signal);
  const unlock = await lockFolder(cached, { ...options, what: CLI });
  try {
    return (await cachedCli(cached, options)) ?? (await fill(cached, options, tried));
  } finally {
    unlock();
  }
};
