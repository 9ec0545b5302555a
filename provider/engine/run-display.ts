import { cliOfThisRun, type ProcessFacts } from "../stacks/pulumi-process.js";
import { type TerminalStatus, terminalStatus } from "./terminal-status.js";

/** How the engine shows what a provider tells in passing. */
export interface RunDisplay {
  /** A table that is redrawn; else every message becomes a line of a log. */
  readonly isLive: boolean;
  /** Time between two messages on how far the run is, in milliseconds. */
  readonly everyMs: number;
  /** What is always in sight in a terminal, where there is one. */
  readonly status?: TerminalStatus;
}

const table = { isLive: true, everyMs: 1000 } as const satisfies RunDisplay;
const log: RunDisplay = { isLive: false, everyMs: 30_000 };
/** Often enough for a person, and not too much for a log. */
const either: RunDisplay = { isLive: false, everyMs: 10_000 };

/** What makes the CLI print something else than the table. */
const otherViews = /^(-j|--(non-interactive|json|diff|suppress-progress)(=true)?)$/;

const isPlain = ({ args, env }: Pick<ProcessFacts, "args" | "env">): boolean =>
  args.some((arg) => otherViews.test(arg)) || env.TERM === "dumb" || (env.CI ?? "") !== "";

/** How the command line that this process runs under shows its progress, as far as that can be seen. */
export const displayOfThisRun = (cli = cliOfThisRun()): RunDisplay => {
  if (!cli) return isPlain({ args: [], env: process.env }) ? log : either;
  return cli.isTerminal && !isPlain(cli) ? { ...table, status: terminalStatus(cli.pid) } : log;
};
