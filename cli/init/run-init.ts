import { resolve } from "node:path";
import type { z } from "zod";
import { withoutSecretSettings } from "../../provider/service/settings.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import type { Printed } from "../printed.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import type { Progress } from "../terminal/progress.js";
import type { Ask } from "./ask.js";
import { type InitFlags, initAnswers } from "./init-answers.js";
import type { newProjectSchema } from "./init-schema.js";
import { makeStack } from "./make-stack.js";
import { nextSteps } from "./next-steps.js";
import { assertRoom, writeProject } from "./project-folder.js";
import { projectSteps } from "./project-step.js";
import { templateProject } from "./template-project.js";

export interface InitOptions extends InitFlags {
  readonly folder: string;
  /** Whether npm fetches the packages. */
  readonly install: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Left out: nobody is asked. */
  readonly ask?: Ask | undefined;
}

/** What was made, and what is left to do. */
export type NewProject = Printed<z.output<typeof newProjectSchema>>;

/** What npm gets: packages may run scripts of theirs, and those have no business with the secrets of a stack. */
const environmentOfPackages = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(withoutSecretSettings(env)).filter(
      ([name]) => !/^PULUMI_(ACCESS_TOKEN$|CONFIG_PASSPHRASE)/.test(name),
    ),
  );

/** Fetches the packages; the commands that are left to do so where it was not asked for or failed. */
const fetchPackages = async (
  folder: string,
  { env, install, progress }: InitOptions,
  packed: PackedPackage | undefined,
): Promise<readonly string[]> => {
  // npm says nothing of a network that it cannot get through, for minutes, unless it is told to.
  const fetch = ["install", "--no-fund", "--no-audit", "--loglevel=http"];
  const [commands, npm] = [[...(packed ? [packed.pack] : []), fetch], findProgram("npm", env.PATH)];
  const left = [...(packed ? [packed.command] : []), "npm install"];
  if (!install || !npm) return left;
  const doing = progress.step("Fetching packages (npm install)");
  const step = projectSteps(folder, environmentOfPackages(env), (line) =>
    doing.detail(line.replace(/^npm http \w+ /, "")),
  );
  for (const args of commands) {
    const reason = await step(npm, args);
    if (reason === undefined) continue;
    doing.failed(`npm ${args[0]} failed: ${reason}`);
    return left;
  }
  doing.done("Packages");
  return [];
};

/**
 * Makes a new Pulumi project with a conversation account: files, packages, stack and configuration.
 * What does not work is said and becomes a next step; what was made stays.
 *
 * @throws CommandFailure where a flag is wrong, the folder is not empty, or the person stops
 */
export const runInit = async (options: InitOptions): Promise<NewProject> => {
  const folder = resolve(options.folder);
  assertRoom(folder);
  const secret = options.emulator ? undefined : options.env.CONVERSATION_CLIENT_SECRET;
  const answers = await initAnswers(options, folder, secret, options.ask);
  const packed = packedPackage();
  const files = templateProject({
    ...answers,
    ...(packed ? { dependency: packed.dependency } : {}),
  });
  writeProject(folder, files);
  options.progress.note(`${files.length} files in ${folder}`);
  const { env, progress, emulator = false } = options;
  const packages = await fetchPackages(folder, options, packed);
  const standing = await makeStack(answers, {
    ...{ folder, progress },
    env: withoutSecretSettings(env),
  });
  const next = nextSteps(answers, { packages, stack: standing, emulator });
  const { name, stack } = answers;
  const paths = files.map(({ path }) => path);
  return { folder, name, stack, files: paths, stackMade: standing.configured, next };
};
