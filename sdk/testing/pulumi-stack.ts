import { existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
  LocalWorkspace,
  type OutputMap,
  type ProjectSettings,
  PulumiCommand,
  type PulumiFn,
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
import type { Emulator, EmulatorOptions } from "../../emulator/index.js";
import { isObject } from "../../provider/kernel/json.js";
import { describeSettings, settingNames } from "../../provider/service/settings.js";
import type { ConversationClient } from "../runtime/connect.js";
import type { CallbackHandlers } from "./callback-server.js";
import { errorText, type HubCall, type HubRecords, StackFailure } from "./checks.js";
import type { EmulatedTime } from "./test-conversation.js";

/** A value in the stack's configuration: plain text, or a secret. */
export type StackConfigValue = string | { readonly value: string; readonly secret: boolean };

/** Objects that handlers can use to reply. */
export interface HandlerContext {
  /** A client for the emulator. */
  readonly client: ConversationClient;
  /** The emulator itself. */
  readonly emulator: Emulator;
}

/** Options for setting up a stack for a test. */
export interface EmulatedStackOptions {
  /**
   * The program: a function for the Automation API, or a Pulumi project's folder. The project file
   * is used, but stack configuration files are not.
   */
  readonly program: PulumiFn | string;
  /** Stack configuration; keys without a namespace belong to the project. Default: none. */
  readonly config?: Readonly<Record<string, StackConfigValue>>;
  /**
   * Handlers for the account's callbacks. For any other callback that is not on this machine, the
   * test responds with 202, so that no message leaves the machine. Default: none.
   */
  readonly callbacks?: CallbackHandlers | ((context: HandlerContext) => CallbackHandlers);
  /**
   * Options for the emulator. Default: no rate limits, and a manual clock. The clock follows real
   * time while Pulumi runs or a conversation waits, and is otherwise stopped. Over HTTP, the
   * control interface requires a random secret.
   */
  readonly emulator?: Omit<EmulatorOptions, "callbackRoute">;
  /** Profiles that the program uses, all of which connect to the emulator. Default: no profile. */
  readonly profiles?: readonly string[];
  /** Additional environment variables for the run. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
}

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

const howToGetPulumi = `Install the Pulumi CLI, ${LEAST_PULUMI} or later (https://www.pulumi.com/docs/install/), and add its folder to PATH.`;

/** @throws StackFailure if there is no Pulumi CLI that can run the programs of this package */
const findPulumi = async (): Promise<string> => {
  const command = findProgram("pulumi", process.env.PATH);
  if (command === undefined) throw cannot(`pulumi is not on PATH. ${howToGetPulumi}`);
  const found = await inspectPulumi(resolve(command), "PATH", process.env);
  if ("unusable" in found) throw cannot(`${found.unusable}. ${howToGetPulumi}`);
  return found.cli.command;
};

/**
 * The environment in which the given profiles reach the emulator and nothing else: what the
 * environment of this process says of a tenant is covered.
 */
const coverEnvironment = (
  emulator: Emulator,
  { profiles = [], emulator: { plan = "none", switches } = {} }: EmulatedStackOptions,
): Record<string, string> => {
  const { baseUrl, tokenUrl, clientId, clientSecret } = emulator;
  const access = new Map(Object.entries({ baseUrl, tokenUrl, clientId, clientSecret }));
  const further = new Map(
    Object.entries({ plan: plan === "none" ? "" : plan, platformName: switches?.platformName }),
  );
  const ours = Object.keys(process.env).filter((name) => name.startsWith("CONVERSATION_"));
  const environment = Object.fromEntries(ours.map((name) => [name, ""]));
  for (const { key } of describeSettings()) {
    const value = access.get(key) ?? further.get(key) ?? "";
    for (const profile of [undefined, ...profiles])
      environment[settingNames(key, profile).environment] = value;
  }
  return environment;
};

/** The project file of a folder, so that it can be used from another one. */
const readProject = async (
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
  /** Runs a command while the emulator's clock follows real time. */
  readonly run: typeof runPulumi;
  remove(): void;
}

/** Creates a stack with private state for a program. */
export const createPulumiStack = async (
  emulator: Emulator,
  options: EmulatedStackOptions,
): Promise<PulumiStack> => {
  const { program } = options;
  const stackName = "test";
  const command = await findPulumi();
  const bin = dirname(command);
  // The Automation API finds a CLI in a folder `bin`, or on PATH.
  const pulumiCommand = await PulumiCommand.get(
    basename(bin) === "bin" ? { root: dirname(bin) } : {},
  );
  const { project: workDir, state, home, remove } = createStackFolder();
  try {
    const given: ProjectSettings =
      typeof program === "string"
        ? await readProject(resolve(program), pulumiCommand)
        : { name: "test", runtime: "nodejs", main: process.cwd() };
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
        ...coverEnvironment(emulator, options),
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
    return { stack, run: runPulumi, remove };
  } catch (error) {
    remove();
    throw error;
  }
};

const sections = /^(Diagnostics|Outputs|Resources|Duration|Policies|Previewing update|Updating)\b/;

/** What Pulumi says was wrong: its diagnostics; if it printed none, all that it printed last. */
const readDiagnostics = (printed: string): string => {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  const from = lines.lastIndexOf("Diagnostics:");
  const rest = from < 0 ? lines.slice(-20) : lines.slice(from + 1);
  const end = from < 0 ? -1 : rest.findIndex((line) => sections.test(line));
  const kept = (end < 0 ? rest : rest.slice(0, end)).filter((line) => line.trim() !== "");
  return kept.join("\n");
};

/**
 * A program whose failure is reported by Pulumi alone. One that throws within the Automation API also
 * leaves a rejection that nobody handles, for which test runners fail tests that have nothing to do
 * with it.
 *
 * @param failed called with what the program threw
 */
const guardedProgram =
  (program: PulumiFn, failed: (error: unknown) => void): PulumiFn =>
  async () => {
    try {
      return await program();
    } catch (error) {
      failed(error);
      // An error in the log fails the run, and deletes nothing that was not declared any more.
      await pulumi.log.error(`The program failed: ${errorText(error)}`);
      return undefined;
    }
  };

/**
 * Has Pulumi run an inline program, and closes its connections afterwards. The SDK leaves them open,
 * and that of a failed run goes on trying: a later engine at the same port cannot be reached, and its
 * program counts as one that declares nothing.
 *
 * @throws StackFailure if the run ended without beginning the program
 */
export const runInline = async <T>(
  program: PulumiFn,
  run: (program: PulumiFn) => Promise<T>,
): Promise<T> => {
  const connections: unknown[] = [];
  const connected: PulumiFn = () => {
    connections.push(pulumi.runtime.getEngine(), pulumi.runtime.getMonitor());
    return program();
  };
  try {
    const result = await run(connected);
    if (connections.length > 0) return result;
    throw new StackFailure(
      "Pulumi ended without running the program, as if it declared nothing. Start the stack again, in a new process.",
    );
  } finally {
    for (const each of connections)
      if (isObject(each) && typeof each.close === "function") each.close();
  }
};

/** The result of a Pulumi run. */
export interface StackRun {
  /** Number of resources per operation, such as `{ create: 8, same: 1 }`, including the stack itself. */
  readonly changes: Readonly<Record<string, number>>;
  /** Calls to the service during the run, in order; the last 10,000. */
  readonly calls: readonly HubCall[];
  /** Pulumi's output, without colors. */
  readonly printed: string;
}

/** The Pulumi commands that a test can run. */
export type PulumiCommandName = "up" | "preview" | "refresh" | "destroy";

/** What a run needs of its stack; `signal` aborts it when the stack is closed. */
interface RunMeans {
  readonly stack: Stack;
  readonly records: HubRecords;
  readonly time: EmulatedTime;
  readonly signal: AbortSignal;
}

const runPulumi = async (
  command: PulumiCommandName,
  { stack, records, time, signal }: RunMeans,
  program: PulumiFn | undefined = stack.workspace.program,
): Promise<StackRun & { readonly outputs: OutputMap }> => {
  const first = await records.nextCall();
  let printed = "";
  let thrown: unknown;
  const add = (text: string): void => {
    printed += text;
  };
  const guarded = program && guardedProgram(program, (error) => (thrown = error));
  const output = { color: "never", onOutput: add, onError: add, signal } as const;
  const run = async (program?: PulumiFn) => {
    const options = program ? { ...output, program } : output;
    if (command === "preview")
      return { changes: (await stack.preview(options)).changeSummary, outputs: {} };
    if (command === "up") {
      const { summary, outputs } = await stack.up({ ...options, showSecrets: true });
      return { changes: summary.resourceChanges, outputs };
    }
    return { changes: (await stack[command](options)).summary.resourceChanges, outputs: {} };
  };
  // A refresh and a destroy do not run the program.
  const isInlineRun = guarded && (command === "up" || command === "preview");
  const done = time.during(() => (isInlineRun ? runInline(guarded, run) : run(guarded)));
  const { changes, outputs } = await done.catch((error: unknown) => {
    if (error instanceof StackFailure) throw error;
    const cause = thrown ?? error;
    throw signal.aborted
      ? new StackFailure(
          `Could not finish pulumi ${command}: the stack was closed while the command was running.`,
        )
      : new StackFailure(`pulumi ${command} failed. Pulumi reports:\n${readDiagnostics(printed)}`, {
          cause,
        });
  });
  const calls = await records.calls(first);
  return { changes: { ...changes }, calls, printed, outputs };
};
