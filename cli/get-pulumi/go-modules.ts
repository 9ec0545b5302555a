import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Ended, runCommand, type Stops } from "../pulumi/processes.js";
import { findProgram, isAtLeast } from "../pulumi/pulumi-cli.js";
import type { Progress, ProgressStep } from "../terminal/progress.js";
import { placeStubs, readDownloads, withoutClouds } from "./without-clouds.js";

/** Oldest Go toolchain that builds Pulumi's modules. */
export const LEAST_GO = "1.26";

/** A program that is built from published Go modules. */
export interface GoProgram {
  /** File name of the program. */
  readonly name: string;
  /** The modules that it is built from, by path, each with its version. */
  readonly modules: Readonly<Record<string, string>>;
  /** Import path of its package, or the folder with its Go source. */
  readonly package: string | { readonly source: string };
  /** Further flags of `go build`. */
  readonly flags: readonly string[];
  readonly isWithoutClouds?: true;
}

/** The means that a way of getting programs may use. */
export interface FetchOptions {
  readonly progress: Progress;
  /** Aborting ends the work under way. */
  readonly signal: AbortSignal | undefined;
  readonly env: NodeJS.ProcessEnv;
}

const LONGEST_DOWNLOAD_MS = 1_800_000;
/** A slow machine that is busy, too, compiles for more than half an hour. */
const LONGEST_BUILD_MS = 10_800_000;
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
  if (isAtLeast(stdout, LEAST_GO)) return { go };
  return { missing: `${stdout.trim() || go} is older than Go ${LEAST_GO}` };
};

/** A line that names a package, as `go build -v` and `go list` print it. */
const isPackage = (line: string): boolean => /^[\w.-]+(\/[\w.~-]+)*$/.test(line);

/** Go's template for a package that has to be compiled: its path. */
const STALE = "{{if .Stale}}{{.ImportPath}}{{end}}";

/**
 * No inlining outside of Go's own library, and no debug symbols: half of the compiler's time. What
 * is built starts as fast, and runs a tenth slower.
 */
const COMPILE_FAST = ["-gcflags=all=-l -dwarf=false", "-gcflags=std=-dwarf=false"];

/** Shows how many modules Go has downloaded. */
const followDownloads = (step: ProgressStep): ((line: string) => void) => {
  let count = 0;
  return (line) => {
    if (!line.startsWith("go: downloading")) return;
    count += 1;
    step.detail(`${count} modules downloaded`);
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

/** The module that a program is built in; returns what `go build` is to build there. */
const prepareModule = (program: GoProgram, cwd: string): string => {
  mkdirSync(cwd, { recursive: true });
  const requirements = Object.entries(program.modules).map(
    ([path, version]) => `\t${path} ${version}`,
  );
  const lines = ["module build", `go ${LEAST_GO}`, ["require (", ...requirements, ")"].join("\n")];
  writeFileSync(join(cwd, "go.mod"), `${lines.join("\n\n")}\n`);
  if (typeof program.package === "string") return program.package;
  const { source } = program.package;
  for (const file of readdirSync(source).filter((name) => name.endsWith(".go")))
    copyFileSync(join(source, file), join(cwd, file));
  return ".";
};

/** Builds one program in a module of its own; Go's checksum database vouches for the downloads. */
const build = async (
  go: string,
  program: GoProgram,
  root: string,
  step: ProgressStep,
  { env, signal }: FetchOptions,
): Promise<Ended> => {
  const folder = join(root, "build");
  const cwd = join(folder, program.name);
  const target = prepareModule(program, cwd);
  const flags = ["-mod=mod", "-trimpath", ...COMPILE_FAST, ...program.flags];
  const options = { cwd, env: goEnvironment(folder, env), signal, stops: STOPS };
  if (program.isWithoutClouds) {
    const modules = [...new Set(withoutClouds.map(({ module }) => module))];
    const downloaded = await runCommand(go, ["mod", "download", "-json", ...modules], {
      ...options,
      timeoutMs: LONGEST_DOWNLOAD_MS,
    });
    if (downloaded.code !== 0) return downloaded;
    placeStubs(withoutClouds, readDownloads(downloaded.stdout));
  }
  const listed = await runCommand(go, ["list", "-deps", "-f", STALE, ...flags, target], {
    ...options,
    timeoutMs: LONGEST_DOWNLOAD_MS,
    onLine: followDownloads(step),
  });
  if (listed.code !== 0) return listed;
  const total = listed.stdout.split("\n").filter(isPackage).length;
  let compiled = 0;
  const output = join(root, "bin", program.name);
  return runCommand(go, ["build", "-v", ...flags, "-o", output, target], {
    ...options,
    timeoutMs: LONGEST_BUILD_MS,
    onLine: (line) => {
      if (!isPackage(line)) return;
      compiled += 1;
      step.detail(`package ${compiled} of ${total}`);
    },
  });
};

/**
 * Builds programs from published Go modules into the folder `bin` below `root`. What they share is
 * compiled once.
 *
 * @param options with the `note` that says at the start how long it takes
 * @returns why it did not work; undefined if it did
 */
export const buildGoPrograms = async (
  programs: readonly GoProgram[],
  root: string,
  { note, ...options }: FetchOptions & { readonly note: string },
): Promise<string | undefined> => {
  const found = await findGo(options.env);
  if ("missing" in found) return found.missing;
  options.progress.note(note);
  try {
    return await buildAll(found.go, programs, root, options);
  } finally {
    // An interruption has only seconds: whoever made the folder then removes all of it, without a pause.
    if (!options.signal?.aborted) await removeBuild(root, options.progress);
  }
};

const buildAll = async (
  go: string,
  programs: readonly GoProgram[],
  root: string,
  options: FetchOptions,
): Promise<string | undefined> => {
  for (const program of programs) {
    const step = options.progress.step(`Building ${program.name}`);
    const ended = await build(go, program, root, step, options);
    if (ended.code !== 0) {
      step.failed();
      const last = ended.lastLines.slice(-5).join("\n  ");
      const failure = ended.timedOut ? "took too long" : "failed";
      return `go build of ${program.name} ${failure}:\n  ${last}`;
    }
    step.done(`Built ${program.name}`);
  }
  return undefined;
};

/** Gigabytes in many files: on a busy disk this takes minutes, and shows that it is alive. */
const removeBuild = async (root: string, progress: Progress): Promise<void> => {
  const sign = progress.alive("Removing files that only the build needed");
  await rm(join(root, "build"), { recursive: true, force: true });
  sign.end();
};
