import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isOwnFolder } from "../../provider/kernel/files.js";
import { CommandFailure, messageOf } from "../command.js";
import { cacheFolder, ownCacheFolder } from "../process/cache-folder.js";
import { tryLock } from "../process/file-lock.js";
import type { Progress } from "../terminal/progress.js";
import {
  buildFromGoModules,
  type FetchOptions,
  installOfficially,
  release,
} from "./fetch-pulumi.js";
import { findProgram, inspectPulumi, LEAST_PULUMI, type PulumiCli } from "./pulumi-cli.js";

/** Where this package keeps Pulumi CLIs that it fetched, one folder per version. */
const pulumiFolder = "pulumi";

/** The `pulumi` that this package fetched earlier; undefined where it never did. */
export const cachedPulumi = (env: NodeJS.ProcessEnv): string | undefined => {
  const cache = cacheFolder(env);
  if (!isOwnFolder(cache)) return undefined;
  return findProgram("pulumi", join(cache, pulumiFolder, release.version, "bin"));
};

/** What a person can do where there is no `pulumi` on PATH. */
export const missingPulumiAdvice = (env: NodeJS.ProcessEnv): string => {
  const cached = cachedPulumi(env);
  return cached
    ? `Use the one that this package fetched: export PATH="${dirname(cached)}:$PATH"`
    : `Install Pulumi ${LEAST_PULUMI} or newer: https://www.pulumi.com/docs/install/`;
};

export interface EnsureOptions {
  readonly progress: Progress;
  /** Aborting ends what is under way and leaves nothing half-made. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** How a missing CLI is fetched. Default: the official installer, then a build from Go modules. */
  readonly ways?: readonly Way[];
}

/** A way to put a CLI into the folder `bin` below `root`; gives the reason where it did not work. */
export interface Way {
  readonly origin: PulumiCli["origin"];
  readonly get: (root: string, options: FetchOptions) => Promise<string | undefined>;
}

const usualWays: readonly Way[] = [
  { origin: "official installer", get: installOfficially },
  { origin: "Go modules", get: buildFromGoModules },
];

const LOOK_EVERY_MS = 500;

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
      `Looking for the Pulumi CLI (${LEAST_PULUMI} or newer): none could be had.`,
      ...tried.map((line) => `  - ${line}`),
      "Do one of these, then try again:",
      "  - install it: https://www.pulumi.com/docs/install/ (its folder must be on PATH);",
      `  - let the network reach ${release.installer}, so that it is installed for you;`,
      `  - install Go ${release.leastGo} or newer, so that it is built for you.`,
    ].join("\n"),
  );

const throwIfAborted = (signal: AbortSignal | undefined): void => {
  const message = "Getting the Pulumi CLI: interrupted; nothing half-made was kept.";
  if (signal?.aborted) throw new CommandFailure(message, 130);
};

/** Waits until no other process is filling the cache. */
const lockCache = async (
  path: string,
  { progress, signal }: EnsureOptions,
): Promise<() => void> => {
  let attempt = tryLock(path);
  if (attempt.release) return attempt.release;
  const step = progress.step(`Waiting for ${attempt.heldBy}, which is getting Pulumi`);
  while (!attempt.release) {
    await pause(LOOK_EVERY_MS);
    if (signal?.aborted) step.failed();
    throwIfAborted(signal);
    attempt = tryLock(path);
  }
  step.done("The other process is done");
  return attempt.release;
};

/** Tries every way in a folder beside the cache's, which gets its name only when it is complete. */
const fill = async (
  cached: string,
  options: Required<EnsureOptions>,
  tried: string[],
): Promise<PulumiCli> => {
  const draft = join(dirname(cached), `.making-${release.version}`);
  for (const { origin, get } of options.ways) {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(join(draft, "bin"), { recursive: true });
    try {
      const reason = await get(draft, options);
      throwIfAborted(options.signal);
      if (reason !== undefined) {
        tried.push(`${origin}: ${reason}`);
        continue;
      }
      addProviderScript(join(draft, "bin"));
      rmSync(cached, { recursive: true, force: true });
      renameSync(draft, cached);
    } finally {
      rmSync(draft, { recursive: true, force: true });
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

/** @throws CommandFailure where nothing that is there may be run, and nothing be put there */
const cacheToFill = (env: NodeJS.ProcessEnv, tried: readonly string[]): string => {
  try {
    return ownCacheFolder(env);
  } catch (error) {
    throw giveUp([...tried, `the cache folder: ${messageOf(error)}`]);
  }
};

/**
 * Gives a Pulumi CLI that can run this package's programs: the one on PATH where it is new enough,
 * else the one in the user's cache, which the official installer or a build from Go modules fills.
 *
 * @throws CommandFailure that names every way tried and what the person can do.
 */
export const ensurePulumi = async (given: EnsureOptions): Promise<PulumiCli> => {
  const options = { signal: undefined, env: process.env, ways: usualWays, ...given };
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
  throwIfAborted(options.signal);
  const unlock = await lockCache(`${cached}.lock`, options);
  try {
    return (await cachedCli(cached, options)) ?? (await fill(cached, options, tried));
  } finally {
    unlock();
  }
};
