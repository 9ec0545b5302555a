import { existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import {
  LocalWorkspace,
  type ProjectSettings,
  PulumiCommand,
  type Stack,
} from "@pulumi/pulumi/automation/index.js";
import { privateFolder } from "../../cli/pulumi/own-folders.js";
import {
  findProgram,
  inspectPulumi,
  LEAST_PULUMI,
  ownPulumi,
  pulumiHomeIn,
  writtenOnce,
} from "../../cli/pulumi/pulumi-cli.js";
import type { Emulator } from "../../emulator/index.js";
import { describeSettings, settingNames } from "../../provider/service/settings.js";
import { type EmulatedStackOptions, StackFailure } from "./pulumi-runs.js";

/** A folder of its own for the stack of a test; removes those of tests that were killed. */
const createStackFolder = () => {
  const { folder, remove } = privateFolder("conversation-test-");
  const made = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const home = made("home");
  const plugins = join(pulumiHomeIn(process.env) ?? join(homedir(), ".pulumi"), "plugins");
  mkdirSync(plugins, { recursive: true });
  symlinkSync(plugins, join(home, "plugins"), "junction");
  return {
    /** Where Pulumi runs. */
    project: made("project"),
    /** Where the state is. */
    state: made("state"),
    /** What Pulumi keeps in the home folder otherwise: credentials, logs, selected stacks. */
    home,
    remove,
  };
};

const cannot = (why: string): StackFailure =>
  new StackFailure(`Could not set up a stack for a test: ${why}`);

const howToGetPulumi = `Install the Pulumi CLI, ${LEAST_PULUMI} or later (https://www.pulumi.com/docs/install/), and add its folder to PATH, or set the pulumi option to the program's path.`;

/** @throws StackFailure if there is no Pulumi CLI that can run the programs of this package */
const pulumiProgram = async (named: string | undefined): Promise<string> => {
  const command = named ?? findProgram("pulumi", process.env.PATH);
  if (command === undefined) throw cannot(`pulumi is not on PATH. ${howToGetPulumi}`);
  const found = await inspectPulumi(resolve(command), "PATH", process.env);
  if ("unusable" in found) throw cannot(`${found.unusable}. ${howToGetPulumi}`);
  return found.cli.command;
};

/** The four settings that say which account is reached, and all others. */
const reaching = new Set(["baseUrl", "tokenUrl", "clientId", "clientSecret"]);

/**
 * The environment in which every profile reaches the emulator and nothing else: what the environment
 * of this process says of a tenant is covered, the profiles that it names included.
 */
const emulatorOnly = (
  emulator: Emulator,
  { profiles = [], emulator: { plan = "none", switches } = {} }: EmulatedStackOptions,
): Record<string, string> => {
  const ours = Object.keys(process.env).filter((name) => name.startsWith("CONVERSATION_"));
  const access = Object.entries({
    baseUrl: emulator.baseUrl,
    tokenUrl: emulator.tokenUrl,
    clientId: emulator.clientId,
    clientSecret: emulator.clientSecret,
    plan: plan === "none" ? undefined : plan,
    platformName: switches?.platformName,
  });
  const environment = Object.fromEntries(ours.map((name) => [name, ""]));
  for (const { key } of describeSettings()) {
    const [, value] = access.find(([name]) => name === key) ?? [];
    for (const profile of [undefined, ...profiles])
      environment[settingNames(key, profile).environment] = value ?? "";
    if (!reaching.has(key) || value === undefined) continue;
    const suffix = settingNames(key).environment.replace(/^CONVERSATION_/, "_");
    for (const name of ours) if (name.endsWith(suffix)) environment[name] = value;
  }
  return environment;
};

/** The project file of a folder, so that it can be used from another one. */
const projectIn = async (
  folder: string,
  pulumiCommand: PulumiCommand,
): Promise<ProjectSettings> => {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw cannot(
      `there is no folder ${folder}. The program option must be a function or a folder.`,
    );
  const workspace = await LocalWorkspace.create({ workDir: folder, pulumiCommand });
  const settings = await workspace.projectSettings().catch((error: unknown) => {
    const [why] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw cannot(`${folder} has no readable Pulumi.yaml: ${why}`);
  });
  return { ...settings, main: resolve(folder, settings.main ?? ".") };
};

/** A stack with its own backend, in a folder that is removed with the stack. */
export interface PulumiStack {
  readonly stack: Stack;
  remove(): void;
}

/** Creates a stack with private state for a program. */
export const createPulumiStack = async (
  emulator: Emulator,
  options: EmulatedStackOptions,
): Promise<PulumiStack> => {
  const { program, projectName = "test", stackName = "test" } = options;
  const command = await pulumiProgram(options.pulumi);
  const bin = dirname(command);
  // The Automation API finds a CLI in a folder `bin`, or on PATH.
  const pulumiCommand = await PulumiCommand.get(
    basename(bin) === "bin" ? { root: dirname(bin) } : {},
  );
  const { project: workDir, state, home, remove } = createStackFolder();
  try {
    const given: ProjectSettings =
      typeof program === "string"
        ? await projectIn(resolve(program), pulumiCommand)
        : { name: projectName, runtime: "nodejs", main: process.cwd() };
    const settings = {
      workDir,
      pulumiCommand,
      projectSettings: { ...given, backend: { url: `file://${state}` } },
      envVars: {
        PATH: [bin, process.env.PATH ?? ""].join(delimiter),
        // Leads to the folder of the test, and to nothing that belongs to the user. Of the
        // environment, or else of the project file: the first of them wins.
        ...ownPulumi({ home, backend: state, passphrase: "test" }),
        // What it makes goes with it.
        ...writtenOnce,
        PULUMI_SKIP_UPDATE_CHECK: "true",
        ...emulatorOnly(emulator, options),
        ...options.environment,
      },
    };
    const stack =
      typeof program === "function"
        ? await LocalWorkspace.createStack(
            { stackName, projectName: given.name, program },
            settings,
          )
        : await LocalWorkspace.createStack({ stackName, workDir }, settings);
    const values = Object.entries(options.config ?? {}).map(([key, value]) => [
      key,
      typeof value === "string" ? { value } : value,
    ]);
    if (values.length > 0) await stack.setAllConfig(Object.fromEntries(values));
    return { stack, remove };
  } catch (error) {
    remove();
    throw error;
  }
};
