import { Failure } from "../failure.js";
import { endProcessesWith } from "../process/process-group.js";
import { type Ended, runCommand, type Stops } from "../process/run-command.js";
import { environmentFor, type PulumiCli } from "../pulumi-cli/pulumi-cli.js";
import { compact } from "./compact-output.js";
import { STACK, type StateFolder } from "./state-folder.js";

/** Runs Pulumi on the example, with everything it writes in the state folder. */
export interface PulumiProject {
  /** Makes the stack where it does not exist, and clears what an interrupted run left. */
  ready(): Promise<void>;
  /** Runs a command and shows what it says. */
  show(...args: string[]): Promise<void>;
  /** Removes the empty stack. */
  removeStack(): Promise<void>;
}

export interface ProjectOptions {
  readonly cli: PulumiCli;
  readonly state: StateFolder;
  /** Settings of the service, for the program and its providers. */
  readonly settings: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly coloured: boolean;
}

/** Once: what is under way is finished and saved. Twice: it is given up. */
const STOPS: Stops = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGINT", afterMs: 10_000 },
  { signal: "SIGKILL", afterMs: 20_000 },
];

const LONGEST_MS = 600_000;

/** Marks every process that Pulumi starts for the quick start of one checkout. */
const OWNER = "PULUMI_CONVERSATION_QUICKSTART";

const environment = ({ cli, state, settings }: ProjectOptions): NodeJS.ProcessEnv => ({
  ...environmentFor(cli, process.env),
  PULUMI_HOME: `${state.folder}/home`,
  PULUMI_BACKEND_URL: `file://${state.folder}`,
  // The state of a demo is no secret.
  PULUMI_CONFIG_PASSPHRASE: "quickstart",
  [OWNER]: state.folder,
  ...settings,
});

export const interrupted = (): Failure =>
  new Failure("Interrupted. Nothing is left running; npm run quickstart goes on from here.", 130);

const howItEnded = ({ code, timedOut }: Ended): string => {
  if (timedOut) return `did not end within ${LONGEST_MS / 60_000} minutes`;
  return code === undefined ? "was ended by a signal" : `failed (exit code ${code})`;
};

const failed = (command: string, ended: Ended, shown: boolean): Failure => {
  const said = shown ? ["What it said is above."] : ended.lastLines;
  const next =
    "Run npm run quickstart again to go on, or remove the folder .quickstart to start afresh.";
  return new Failure([`pulumi ${command} ${howItEnded(ended)}.`, ...said, next].join("\n"));
};

/** Pulumi on the example of this checkout, its state in the state folder. */
export const pulumiProject = (options: ProjectOptions): PulumiProject => {
  const { cli, state, signal, print, coloured } = options;
  const env = environment(options);

  const run = async (cwd: string, args: readonly string[], onLine?: (line: string) => void) => {
    const all = [
      ...args,
      "--stack",
      STACK,
      "--non-interactive",
      "--color",
      coloured ? "always" : "never",
    ];
    const limits = { signal, stops: STOPS, timeoutMs: LONGEST_MS };
    const ended = await runCommand(cli.command, all, {
      cwd,
      env,
      ...limits,
      ...(onLine ? { onLine } : {}),
    });
    if (signal.aborted) throw interrupted();
    if (ended.code !== 0) throw failed(args[0] ?? "", ended, onLine !== undefined);
  };
  const show = (withoutPlan: boolean) => (line: string) => {
    const shown = compact(line, { withoutPlan });
    if (shown !== undefined) print(shown);
  };

  return {
    ready: async () => {
      endProcessesWith(OWNER, state.folder);
      // In the state folder, since this writes the stack's configuration beside the project file.
      if (!state.hasStack()) await run(state.folder, ["stack", "init", "--no-select"]);
      if (!state.hasStaleLock()) return;
      print("  An interrupted run left its lock behind: clearing it (pulumi cancel).");
      await run(state.root, ["cancel", "--yes"]);
    },
    show: (...args) =>
      run(state.root, [...args, "--config-file", state.configFile], show(args[0] === "up")),
    removeStack: () => run(state.folder, ["stack", "rm", "--yes"]),
  };
};
