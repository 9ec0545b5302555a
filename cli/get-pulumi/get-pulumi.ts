import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isOwnFolder } from "../../provider/kernel/files.js";
import { cacheFolder, ownCacheFolder, tryLock } from "../../provider/pulumi-cli/own-folders.js";
import { type Ended, runCommand, type Stops } from "../../provider/pulumi-cli/processes.js";
import {
  findProgram,
  inspectPulumi,
  isAtLeast,
  LEAST_PULUMI,
  type PulumiCli,
} from "../../provider/pulumi-cli/pulumi-cli.js";
import { environmentOfPackages } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import type { Progress, ProgressStep } from "../terminal/progress.js";

/** The release that is fetched if none is found, and what building it from its Go modules takes. */
export const release = {
  version: "3.259.0",
  installer: "https://get.pulumi.com/install.sh",
  leastGo: "1.26",
  programs: [
    {
      name: "pulumi",
      module: "github.com/pulumi/pulumi/pkg/v3",
      version: "v3.259.0",
      package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
      flags: [
        "-tags",
        "osusergo,grpcnotrace",
        "-ldflags",
        "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.259.0",
      ],
    },
    {
      // Later releases of the language host have no tagged module; this one works with the engine above.
      name: "pulumi-language-nodejs",
      module: "github.com/pulumi/pulumi/sdk/v3",
      version: "v3.68.0",
      package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
      flags: ["-ldflags", "-s -w"],
    },
  ],
} as const;

type GoProgram = (typeof release.programs)[number];

/** The means that a way of getting the CLI may use. */
interface FetchOptions {
  readonly progress: Progress;
  /** Aborting ends the work under way. */
  readonly signal: AbortSignal | undefined;
  readonly env: NodeJS.ProcessEnv;
}

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
    ? `no end within ${LONGEST_INSTALLATION_MS / 60_000} minutes`
    : (ended.lastLines.at(-1) ?? "no reason given");
  step.failed(`Official installer: ${reason}`);
  return reason;
};

const LONGEST_BUILD_MS = 1_800_000;
/** Where Go's installation instructions put it, for a PATH that lacks it. */
const USUAL_FOLDER = "/usr/local/go/bin";

/** Go removes its working files when interrupted. */
const STOPS: Stops = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGKILL", afterMs: 4000 },
];

/** The Go toolchain, or why there is none to build with. */
const findGo = async (env: NodeJS.ProcessEnv): Promise<{ go: string } | { missing: string }> => {
  const go = findProgram("go", [env.PATH ?? "", USUAL_FOLDER].join(delimiter));
  if (go === undefined) return { missing: "Go is not installed" };
  const { stdout } = await runCommand(go, ["version"], { env, timeoutMs: 60_000 });
  if (isAtLeast(stdout, release.leastGo)) return { go };
  return { missing: `${stdout.trim() || go} is older than Go ${release.leastGo}` };
};

/** A line that names a package, as `go build -v` and `go list` print it. */
const isPackage = (line: string): boolean => /^[\w.-]+(\/[\w.~-]+)*$/.test(line);

/** Counts Go's progress lines, so that a long build visibly advances. */
const follow = (step: ProgressStep, toCompile = 0): ((line: string) => void) => {
  const counts = { downloaded: 0, compiled: 0 };
  return (line) => {
    if (line.startsWith("go: downloading")) {
      counts.downloaded += 1;
      step.detail(`${counts.downloaded} modules downloaded`);
    } else if (toCompile > 0 && isPackage(line)) {
      counts.compiled += 1;
      step.detail(`package ${counts.compiled} of ${toCompile}, ${line}`);
    }
  };
};

/**
 * The environment of Go: its caches lie in the build's folder and are removed with it. The user's
 * own caches stay untouched, and a user without Go is left with none.
 */
export const goEnvironment = (folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  CGO_ENABLED: "0",
  GOWORK: "off",
  GOTMPDIR: folder,
  GOPATH: join(folder, "go"),
  GOMODCACHE: join(folder, "go", "modules"),
  GOCACHE: join(folder, "go", "cache"),
  // Otherwise module folders are read-only, and only root could remove them.
  GOFLAGS: "-buildvcs=false -modcacherw",
});

/** Builds one program in its own module; Go's checksum database vouches for the downloads. */
const build = async (
  go: string,
  program: GoProgram,
  root: string,
  step: ProgressStep,
  { env, signal }: FetchOptions,
): Promise<Ended> => {
  const folder = join(root, "build");
  const cwd = join(folder, program.name);
  mkdirSync(cwd, { recursive: true });
  const requirement = `require ${program.module} ${program.version}`;
  writeFileSync(join(cwd, "go.mod"), `module build\n\ngo ${release.leastGo}\n\n${requirement}\n`);
  const flags = ["-mod=mod", "-trimpath", ...program.flags];
  const options = {
    cwd,
    env: goEnvironment(folder, env),
    signal,
    stops: STOPS,
    timeoutMs: LONGEST_BUILD_MS,
  };
  const stale = ["list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"];
  const listed = await runCommand(go, [...stale, ...flags, program.package], {
    ...options,
    onLine: follow(step),
  });
  if (listed.code !== 0) return listed;
  const toCompile = listed.stdout.split("\n").filter(isPackage).length;
  const output = join(root, "bin", program.name);
  return runCommand(go, ["build", "-v", ...flags, "-o", output, program.package], {
    ...options,
    onLine: follow(step, toCompile),
  });
};

/**
 * Builds the CLI and the language host from their published Go modules into a folder.
 *
 * @returns why it did not work; undefined if it did
 */
const buildFromGoModules = async (
  root: string,
  options: FetchOptions,
): Promise<string | undefined> => {
  const found = await findGo(options.env);
  if ("missing" in found) return found.missing;
  options.progress.note(
    `Building Pulumi ${release.version} from its Go modules: about 4 minutes, once per user.`,
  );
  for (const program of release.programs) {
    const step = options.progress.step(`Building ${program.name}`);
    const ended = await build(found.go, program, root, step, options);
    if (ended.code !== 0) {
      step.failed();
      const last = ended.lastLines.slice(-5).join("\n  ");
      return `go build of ${program.package} failed:\n  ${last}`;
    }
    step.done(`Built ${program.name}`);
  }
  rmSync(join(root, "build"), { recursive: true, force: true });
  return undefined;
};

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
    ? `Use the one that this package fetched: export PATH="${dirname(cached)}:$PATH"`
    : `Install Pulumi ${LEAST_PULUMI} or newer: https://www.pulumi.com/docs/install/`;
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
      `Looking for the Pulumi CLI (${LEAST_PULUMI} or newer): none could be obtained.`,
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

/** Tries every way in a folder beside the cache's, which is renamed to it only when complete. */
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
  throwIfAborted(options.signal);
  const unlock = await lockCache(`${cached}.lock`, options);
  try {
    return (await cachedCli(cached, options)) ?? (await fill(cached, options, tried));
  } finally {
    unlock();
  }
};
