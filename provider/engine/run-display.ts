import { cliOfThisRun, type ProcessFacts } from "../stacks/pulumi-process.js";
import { type TerminalTitle, terminalTitle } from "./terminal-title.js";

/** How the engine shows what a provider tells in passing. */
export interface RunDisplay {
  /** A table that is redrawn; else every message becomes a line of a log. */
  readonly isLive: boolean;
  /** Time between two messages on how far the run is, in milliseconds. */
  readonly everyMs: number;
  /** The title of the terminal, where there is one. */
  readonly title?: TerminalTitle;
}

const table = { isLive: true, everyMs: 1000 } as const satisfies RunDisplay;
const log: RunDisplay = { isLive: false, everyMs: 30_000 };
/** Often enough for a person, and not too much for a log. */
const either: RunDisplay = { isLive: false, everyMs: 10_000 };

const isPlain = ({ args, env }: Pick<ProcessFacts, "args" | "env">): boolean =>
  args.includes("--non-interactive") || env.TERM === "dumb" || (env.CI ?? "") !== "";

/** How the command line that this process runs under shows its progress, as far as that can be seen. */
export const displayOfThisRun = (cli = cliOfThisRun()): RunDisplay => {
  if (!cli) return isPlain({ args: [], env: process.env }) ? log : either;
  return cli.isTerminal && !isPlain(cli) ? { ...table, title: terminalTitle(cli.pid) } : log;
};
