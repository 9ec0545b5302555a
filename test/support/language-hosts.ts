import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { CommandFailure, messageOf } from "../../cli/command.js";
import { lockFolder, makeFolder } from "../../cli/get-pulumi/cached-folder.js";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import {
  buildGoPrograms,
  type FetchOptions,
  type GoProgram,
} from "../../cli/get-pulumi/go-modules.js";
import { cacheFolder, ownCacheFolder } from "../../cli/pulumi/own-folders.js";
import { findProgram, hostLimits, type PulumiCli } from "../../cli/pulumi/pulumi-cli.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { environmentOfPackages } from "../../provider/service/settings.js";

/*
 * Language hosts for programs that use the provider plugin. Pulumi's own release has them. For a Pulumi that was
 * built from Go modules they are built the same way, once per user: the one for YAML as it is published, and one for
 * Node.js, which runs plugins of a folder and generates packages, from published parts (`built-hosts`).
 */

type Cli = Pick<PulumiCli, "command" | "bin">;

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
  { name: "pulumi-language-nodejs", modules, package: { source }, flags },
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

/** The folder of each host. The one beside a Pulumi that was built from Go modules generates no packages. */
const findHosts = ({ command, bin }: Cli, env: NodeJS.ProcessEnv): readonly string[] => {
  const built = join(hostsFolder(cacheFolder(env)), "bin");
  const isOwn = hostLimits({ command }, env) === undefined;
  const places = { nodejs: isOwn ? bin : built, yaml: [bin, built].join(delimiter) };
  return Object.entries(places).flatMap(([language, path]) => {
    const found = findProgram(`pulumi-language-${language}`, path);
    return found === undefined ? [] : [join(found, "..")];
  });
};

/**
 * Makes the language hosts that are missing, once for all processes. What cannot be had is no failure: the tests
 * that need it are skipped.
 *
 * @returns why they could not be made
 * @throws CommandFailure with exit code 130 if the work was aborted
 */
export const ensureLanguageHosts = async (
  cli: Cli,
  given: Omit<FetchOptions, "env">,
): Promise<string | undefined> => {
  const env = environmentOfPackages(process.env);
  const options = { ...given, env };
  const areThere = () => findHosts(cli, env).length === programs.length;
  if (areThere()) return undefined;
  try {
    const folder = hostsFolder(ownCacheFolder(env));
    const unlock = await lockFolder(folder, { ...options, what: "the language hosts" });
    try {
      if (areThere()) return undefined;
      const note = "Building language hosts for other languages: about 2 minutes, once per user.";
      const make = (root: string) => buildGoPrograms(programs, root, { ...options, note });
      return await makeFolder(folder, make, options.progress);
    } finally {
      unlock();
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    return messageOf(error);
  }
};

/** The environment in which Pulumi finds its language hosts, or why it would not. */
export const languageHosts = ():
  | { readonly environment: { readonly PATH: string } }
  | { readonly reason: string } => {
  const bin = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";
  const found = findHosts({ command: join(bin, "pulumi"), bin }, process.env);
  if (found.length < programs.length) return { reason: "the language hosts were not built" };
  return { environment: { PATH: [...found, bin, process.env.PATH].join(delimiter) } };
};
