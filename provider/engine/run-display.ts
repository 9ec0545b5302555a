import { openSync, writeSync } from "node:fs";
import { cliOfThisRun, type ProcessFacts } from "../stacks/pulumi-process.js";

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

/** Puts a text into the title of a terminal; the empty one brings back what stood there. */
type TerminalTitle = (text: string) => void;

const keep = "\x1b[22;2t";
const bringBack = "\x1b[23;2t";
const titled = (text: string): string => `\x1b]2;${text}\x07`;

/**
 * The title of the terminal that a process writes to, by `/proc` (Linux). At 80 columns the engine's
 * table has no room for messages, and the title is the only place left. Best effort: silent where the
 * terminal cannot be opened.
 */
const terminalTitle = (pid: number): TerminalTitle => {
  let terminal: number | undefined;
  let isShown = false;
  const write = (text: string): void => {
    terminal ??= openSync(`/proc/${pid}/fd/1`, "w");
    writeSync(terminal, text);
  };
  return (text) => {
    try {
      if (text !== "") write(`${isShown ? "" : keep}${titled(text)}`);
      else if (isShown) write(bringBack);
      isShown = text !== "";
    } catch {
      // A title that cannot be shown must not disturb the run.
    }
  };
};
