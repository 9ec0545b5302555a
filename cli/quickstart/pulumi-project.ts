import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isKeyOf } from "../../provider/kernel/json.js";
import { CommandFailure } from "../command.js";
import { type Ended, runCommand } from "../pulumi/processes.js";
import {
  environmentFor,
  isolatedEnvironment,
  ownPulumi,
  type PulumiCli,
  pulumiStops,
} from "../pulumi/pulumi-cli.js";
import type { Progress } from "../terminal/progress.js";

const STACK = "quickstart";

/**
 * The projects that are set up, in this order: their names, and the locations of their project
 * files in the checkout.
 */
const PROJECTS = { "default-account": ".", "orders-bot": "examples/orders-bot" } as const;

type ProjectName = keyof typeof PROJECTS;

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

const projectState = (root: string, state: string, name: ProjectName) => {
  const folder = join(state, name);
  const locks = join(state, ".pulumi", "locks", "organization", name, STACK);
  return {
    name,
    /** Folder of the project file in the checkout. */
    source: join(root, PROJECTS[name]),
    /** Folder with a copy of the project file, for commands that write beside it. */
    folder,
    /** Configuration of the stack, kept out of the sources. */
    configFile: join(folder, `Pulumi.${STACK}.yaml`),
    /** Whether a stack was made that has not been taken down. */
    hasStack: (): boolean => existsSync(join(state, ".pulumi", "stacks", name, `${STACK}.json`)),
    /** Whether an interrupted run of Pulumi left its lock behind. */
    hasStaleLock: (): boolean => filesIn(locks).some((file) => file.endsWith(".json")),
  } as const;
};

type ProjectState = ReturnType<typeof projectState>;

/** Everything that the quick start of a checkout keeps between runs, in one folder that git ignores. */
export const stateFolder = (root: string) => {
  const folder = join(root, ".quickstart");
  const project = (name: ProjectName): ProjectState => projectState(root, folder, name);
  const projects = Object.keys(PROJECTS)
    .filter((name) => isKeyOf(PROJECTS, name))
    .map(project);
  return {
    root,
    folder,
    /** Objects of the emulator. */
    data: join(folder, "emulator.json"),
    /** Held while a quick start runs. */
    lock: join(folder, "running"),
    projects,
    project,
    /** Makes the folder, with copies of the project files. */
    prepare: (): void => {
      for (const { source, folder: copies } of projects) {
        mkdirSync(copies, { recursive: true });
        copyFileSync(join(source, "Pulumi.yaml"), join(copies, "Pulumi.yaml"));
      }
    },
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  } as const;
};

export type StateFolder = ReturnType<typeof stateFolder>;

/** Lines of Pulumi's display that mean nothing to somebody who sees it for the first time. */
const noise = [
  /^\s*$/,
  /^@ /,
  /^\s*(Outputs|Resources):$/,
  /^ {2,4}([+~-] )?(?!error|warning)\w+ *: +["[]/,
  // A step under way; the same line comes again when it is done.
  /\b(creating|updating|deleting|reading|refreshing) \(\d/,
  /^The resources in the stack have been deleted, but/,
  /^If you want to remove the stack completely/,
  // The row of the program itself, unless it says more.
  /pulumi:pulumi:Stack \S+(\s+(create|delete|created|deleted|running)( \([\d.]+s\))?)?\s*$/,
];

/** A row of the plan that `pulumi up` shows first; the same row comes again when it is done. */
const planned = /:[^\s:]+ \S+ (create|update|delete|replace)( \[diff: .*\])?\s*$/;

/**
 * A line of Pulumi's own output as the quick start shows it; undefined if it shows nothing.
 *
 * @param withoutPlan omits the rows of the plan
 */
export const compact = (line: string, withoutPlan: boolean): string | undefined => {
  const plain = stripVTControlCharacters(line);
  const hidden = withoutPlan ? [...noise, planned] : noise;
  if (hidden.some((pattern) => pattern.test(plain))) return undefined;
  return `  ${line.trimEnd().replace(/(pulumi-nodejs:dynamic\/conversation|conversation:index):/, "")}`;
};

type Values = Readonly<Record<string, string>>;

export interface ProjectOptions {
  readonly cli: PulumiCli;
  /** The state folder: where the backend is. */
  readonly folder: string;
  /** Settings of the service, for the program and its providers. */
  readonly settings: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  /** Shows that it is alive while something runs. */
  readonly alive: Progress["alive"];
  readonly coloured: boolean;
}

const LONGEST_MS = 600_000;

const environment = ({ cli, folder, settings }: ProjectOptions): NodeJS.ProcessEnv => ({
  ...environmentFor(cli, isolatedEnvironment(process.env)),
  ...ownPulumi({ home: `${folder}/home`, backend: folder, passphrase: "quickstart" }),
  ...settings,
});

export const interrupted = (): CommandFailure =>
  new CommandFailure(
    "Interrupted. No process is left running. To continue, run: npm run quickstart",
    130,
  );

const howItEnded = ({ code, timedOut }: Ended): string => {
  if (timedOut) return `did not end within ${LONGEST_MS / 60_000} minutes`;
  return code === undefined ? "ended because of a signal" : `failed (exit code ${code})`;
};

const failed = (command: string, ended: Ended, shown: boolean): CommandFailure => {
  const said = shown ? ["See its output above."] : ended.lastLines;
  const next =
    "To continue, run npm run quickstart again. To start over, remove the .quickstart folder first.";
  return new CommandFailure([`pulumi ${command} ${howItEnded(ended)}.`, ...said, next].join("\n"));
};

/** Pulumi on one example of this checkout, with everything it writes in the state folder. */
export const pulumiProject = (state: ProjectState, options: ProjectOptions) => {
  const { cli, signal, print, alive, coloured } = options;
  const limits = { env: environment(options), signal, stops: pulumiStops, timeoutMs: LONGEST_MS };
  const everywhere = ["--stack", STACK, "--non-interactive"];
  const colour = ["--color", coloured ? "always" : "never"];
  const configFile = ["--config-file", state.configFile];

  /**
   * @param shownLine what to show of a line that Pulumi prints. Default: nothing
   * @param input what it reads from standard input
   */
  const run = async (
    cwd: string,
    args: readonly string[],
    shownLine?: (line: string) => string | undefined,
    input = "",
  ) => {
    const life = alive(`pulumi ${args[0]}`);
    const onLine = (line: string) => {
      const shown = shownLine?.(line);
      if (shown !== undefined) life.print(shown);
    };
    const ended = await runCommand(cli.command, [...args, ...everywhere, ...colour], {
      ...{ ...limits, cwd, onLine, input },
    }).finally(life.end);
    if (signal.aborted) throw interrupted();
    if (ended.code !== 0) throw failed(args[0] ?? "", ended, shownLine !== undefined);
    return ended.stdout;
  };

  return {
    state,
    /** Makes the stack if it does not exist, and clears what an interrupted run left. */
    ready: async (): Promise<void> => {
      // In the state folder, since this writes the stack's configuration beside the project file.
      if (!state.hasStack()) await run(state.folder, ["stack", "init", "--no-select"]);
      if (!state.hasStaleLock()) return;
      print("  An interrupted run left its lock behind. Removing it (pulumi cancel).");
      await run(state.source, ["cancel", "--yes"]);
    },
    /** Runs a command and shows its output. */
    show: async (...args: string[]): Promise<void> => {
      await run(state.source, [...args, ...configFile], (line) => compact(line, args[0] === "up"));
    },
    /** Sets values of the stack's configuration, in plain text and encrypted. */
    configure: async (plain: Values, secret: Values): Promise<void> => {
      const values = Object.entries(plain).flatMap((pair) => ["--plaintext", pair.join("=")]);
      await run(state.source, ["config", "set-all", ...values, ...configFile]);
      // Every process of the machine can read a command line, but not standard input.
      for (const [key, value] of Object.entries(secret)) {
        const args = ["config", "set", key, "--secret", ...configFile];
        await run(state.source, args, undefined, value);
      }
    },
    outputs: () => run(state.source, ["stack", "output", "--json", "--show-secrets"]),
    removeStack: async (): Promise<void> => {
      await run(state.folder, ["stack", "rm", "--yes"]);
    },
  };
};

export type PulumiProject = ReturnType<typeof pulumiProject>;
