import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { CommandFailure, messageOf } from "../../cli/command.js";
import {
  lockFolder,
  type Making,
  makeFolder,
  throwIfInterrupted,
} from "../../cli/get-pulumi/cached-folder.js";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import {
  buildGoPrograms,
  type FetchOptions,
  findGo,
  type GoProgram,
} from "../../cli/get-pulumi/go-modules.js";
import { cacheFolder, ownCacheFolder } from "../../cli/pulumi/own-folders.js";
import { runCommand } from "../../cli/pulumi/processes.js";
import { findProgram, hostLimits, isAtLeast, type PulumiCli } from "../../cli/pulumi/pulumi-cli.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { environmentOfPackages } from "../../provider/service/settings.js";

/*
 * Language hosts for programs that use the provider plugin. Pulumi's own release has them. For a Pulumi that was
 * built from Go modules they are built the same way, once per user: the one for YAML as it is published, those
 * for Python, for plugins that run on Node.js, and for the packages of Node.js and Go from published parts
 * (`built-hosts`). What Python programs import is fetched once, too. Go fetches into its own caches.
 */

/** Languages of programs, by the names of their language hosts. */
export type Language = "nodejs" | "python" | "go" | "yaml";

/** A language host, with what its programs need in their environment, or why there is none. */
export type LanguageHost =
  | { readonly path: string; readonly environment: Readonly<Record<string, string>> }
  | { readonly reason: string };

type LanguageHosts = Readonly<Record<Language, LanguageHost>>;

/** Where the setup leaves its results for the tests. */
const VARIABLE = "PULUMI_CONVERSATION_TEST_LANGUAGE_HOSTS";

const hostSchema = z.union([
  z.object({ path: z.string(), environment: z.record(z.string(), z.string()) }),
  z.object({ reason: z.string() }),
]);
const hostsSchema = z.object({
  nodejs: hostSchema,
  python: hostSchema,
  go: hostSchema,
  yaml: hostSchema,
});

const pulumi = `v${release.version}`;
const modules = {
  "github.com/pulumi/pulumi-yaml": "v1.38.0",
  "github.com/pulumi/pulumi/pkg/v3": pulumi,
  "github.com/pulumi/pulumi/sdk/v3": pulumi,
};
const { flags } = release.programs[0];
const source = join(packageRoot(), "test", "support", "built-hosts");

const programs: readonly GoProgram[] = [
  {
    name: "pulumi-language-yaml",
    modules,
    package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    flags,
  },
  {
    name: "pulumi-language-python",
    modules,
    package: { source },
    flags,
    beside: {
      module: "github.com/pulumi/pulumi/sdk/v3",
      file: "python/cmd/pulumi-language-python-exec",
    },
  },
  { name: "pulumi-language-nodejs", modules, package: { source }, flags },
  { name: "pulumi-language-go", modules, package: { source }, flags },
];

/** Changes with everything that the built hosts are made from. */
const builtFrom = createHash("sha256")
  .update(JSON.stringify({ modules, flags }))
  .update(
    readdirSync(source)
      .sort()
      .map((file) => readFileSync(join(source, file), "utf8"))
      .join(),
  )
  .digest("hex")
  .slice(0, 8);

const hostsFolder = (cache: string): string =>
  join(cache, "language-hosts", `${release.version}-${builtFrom}`);

/** The newest release of Python's SDK that PyPI has. */
const PYTHON_SDK = "3.272.0";

/** That SDK, what generated packages import, and what installs them. */
const requirements = [`pulumi==${PYTHON_SDK}`, "parver", "semver", "pip", "setuptools", "wheel"];
const LEAST_PYTHON = "3.10";

/** Compiled packages are those of one minor version of Python. */
const packagesFolder = (cache: string, python: string): string =>
  join(cache, "python-packages", `pulumi-${PYTHON_SDK}-python-${python}`);

/** The version of the Python on PATH, or why none can be used. */
const findPython = async (
  env: NodeJS.ProcessEnv,
): Promise<{ readonly python: string; readonly version: string } | { readonly reason: string }> => {
  const python = findProgram("python3", env.PATH);
  if (python === undefined) return { reason: "there is no python3 on PATH" };
  const script = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])";
  const ended = await runCommand(python, ["-c", script], { env, timeoutMs: 60_000 });
  const version = ended.stdout.trim();
  if (ended.code !== 0)
    return { reason: `${python} makes no virtual environments: ${ended.lastLines.at(-1)}` };
  if (!isAtLeast(version, LEAST_PYTHON))
    return { reason: `${python} is version ${version}, older than ${LEAST_PYTHON}` };
  return { python, version };
};

const LONGEST_DOWNLOAD_MS = 600_000;

/** Fetches what Python programs import into `packages` below `root`; returns the reason if that did not work. */
const fetchPackages = async (
  python: string,
  root: string,
  { progress, signal, env }: FetchOptions,
): Promise<string | undefined> => {
  const step = progress.step("Fetching the packages of Python programs");
  const [venv, target] = [join(root, "venv"), join(root, "packages")];
  const means = { env, signal, timeoutMs: LONGEST_DOWNLOAD_MS };
  const download = ["-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", target];
  const commands = [
    [python, "-m", "venv", venv],
    [join(venv, "bin", "python"), ...download, ...requirements],
  ] as const;
  for (const [program, ...args] of commands) {
    const ended = await runCommand(program, args, means);
    if (ended.code === 0) continue;
    step.failed();
    return `${args.slice(0, 3).join(" ")} failed: ${ended.lastLines.at(-1) ?? "no reason given"}`;
  }
  rmSync(venv, { recursive: true, force: true });
  step.done();
  return undefined;
};

const buildHosts = (root: string, options: FetchOptions): Promise<string | undefined> => {
  const note = "Building language hosts for other languages: about 2 minutes, once per user.";
  return buildGoPrograms(programs, root, { ...options, note });
};

/** The hosts that are beside this Pulumi or were built before. */
const findLanguageHosts = async (
  { command, bin }: Pick<PulumiCli, "command" | "bin">,
  env: NodeJS.ProcessEnv,
): Promise<LanguageHosts> => {
  const cache = cacheFolder(env);
  const built = join(hostsFolder(cache), "bin");
  const host = (language: Language, environment = {}, folders = [bin, built]): LanguageHost => {
    const path = findProgram(`pulumi-language-${language}`, folders.join(delimiter));
    if (path === undefined) return { reason: "its language host was not built" };
    const PATH = [dirname(path), bin, env.PATH ?? ""].join(delimiter);
    return { path, environment: { PATH, ...environment } };
  };
  const pythonHost = async (): Promise<LanguageHost> => {
    const found = await findPython(env);
    if ("reason" in found) return found;
    const packages = join(packagesFolder(cache, found.version), "packages");
    if (!existsSync(packages)) return { reason: "the packages of its programs were not fetched" };
    return host("python", { PIP_NO_INDEX: "1", PIP_FIND_LINKS: packages });
  };
  const goHost = async (): Promise<LanguageHost> => {
    const found = await findGo(env);
    if ("missing" in found) return { reason: found.missing };
    const made = host("go");
    if ("reason" in made) return made;
    const PATH = [made.environment.PATH, dirname(found.go)].join(delimiter);
    return { ...made, environment: { PATH } };
  };
  // The one beside a Pulumi that was built from Go modules runs programs, but generates no packages.
  const generating = hostLimits({ command }, env) === undefined ? [bin] : [built];
  return {
    nodejs: host("nodejs", {}, generating),
    python: await pythonHost(),
    go: await goHost(),
    yaml: host("yaml"),
  };
};

/** Makes a folder unless it is there, once for all processes; returns the reason if that did not work. */
const keptFolder = async (
  folder: string,
  make: (draft: string) => Promise<string | undefined>,
  making: Making,
): Promise<string | undefined> => {
  const unlock = await lockFolder(folder, making);
  try {
    if (existsSync(folder)) return undefined;
    const reason = await makeFolder(folder, make, making.progress);
    throwIfInterrupted(making.what, making.signal);
    return reason;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    return messageOf(error);
  } finally {
    unlock();
  }
};

interface EnsureOptions extends Omit<FetchOptions, "signal" | "env"> {
  readonly signal?: AbortSignal;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Finds the language hosts, and makes what can be made and is missing. What cannot be had is no failure: the
 * tests that need it are skipped with the reason.
 *
 * @throws CommandFailure with exit code 130 if the work was aborted
 */
export const ensureLanguageHosts = async (
  cli: Pick<PulumiCli, "command" | "bin">,
  given: EnsureOptions,
): Promise<LanguageHosts> => {
  const env = environmentOfPackages(given.env ?? process.env);
  const options = { signal: undefined, ...given, env };
  const found = await findLanguageHosts(cli, env);
  const isComplete = !("reason" in found.yaml) && !("reason" in found.python);
  if (isComplete) return found;
  let cache: string;
  try {
    cache = ownCacheFolder(env);
  } catch (error) {
    const reason = messageOf(error);
    return { ...found, yaml: { reason }, python: { reason } };
  }
  const hosts =
    "reason" in found.yaml
      ? await keptFolder(hostsFolder(cache), (draft) => buildHosts(draft, options), {
          ...options,
          what: "the language hosts",
        })
      : undefined;
  const python = await findPython(env);
  const packages =
    "reason" in python
      ? python.reason
      : await keptFolder(
          packagesFolder(cache, python.version),
          (draft) => fetchPackages(python.python, draft, options),
          { ...options, what: "the packages of Python programs" },
        );
  const made = await findLanguageHosts(cli, env);
  return {
    ...made,
    yaml: hosts === undefined ? made.yaml : { reason: hosts },
    python:
      packages === undefined && hosts === undefined
        ? made.python
        : { reason: packages ?? hosts ?? "" },
  };
};

/** What the tests find these hosts by. */
export const languageHostEnvironment = (hosts: LanguageHosts): NodeJS.ProcessEnv => ({
  [VARIABLE]: JSON.stringify(hosts),
});

/**
 * The language host for programs in a language. `npm test` makes what is missing; without it, only what was
 * made before is found.
 */
export const languageHost = async (language: Language): Promise<LanguageHost> => {
  const known = process.env[VARIABLE];
  if (known !== undefined) return hostsSchema.parse(JSON.parse(known))[language];
  const bin = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";
  return (await findLanguageHosts({ command: join(bin, "pulumi"), bin }, process.env))[language];
};
