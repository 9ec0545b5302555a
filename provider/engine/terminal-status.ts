import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Shows a text beside the engine's table; the empty one takes it away. */
export type TerminalStatus = (text: string) => void;

/** Where the table fills the screen, the engine draws over the line below it once a second. */
const againMs = 250;

const titleKept = "\x1b[22;2t";
const titleBack = "\x1b[23;2t";
const titled = (text: string): string => `\x1b]2;${text}\x07`;

/**
 * A text where the engine leaves the cursor: on the line below its table. In one write, with the cursor
 * and the colours as they were and no wrapping, so that it may come between any two of the engine's own.
 */
const lineOf = (text: string): string => `\x1b7\x1b[0m\r\x1b[?7l${text}\x1b[?7h\x1b8`;

/** The engine's terminal may refuse more for a moment, and must not hold up the run. */
const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * A line below the engine's table, and the title of the terminal, for the terminal that a process writes
 * to, by `/proc` (Linux). The rows of the table have no room for messages at 80 columns, and the row of
 * the stack is out of sight in a long one. Best effort: silent where the terminal cannot be opened.
 */
export const terminalStatus = (pid: number): TerminalStatus => {
  let shown = "";
  let again: NodeJS.Timeout | undefined;
  const write = (text: string): void => {
    try {
      // Opened each time: it must not outlive the process that it belongs to.
      const terminal = openSync(`/proc/${pid}/fd/1`, flags);
      try {
        writeSync(terminal, text);
      } finally {
        closeSync(terminal);
      }
    } catch {
      // A text that cannot be shown must not disturb the run.
    }
  };
  return (text) => {
    const over = lineOf(text.padEnd(shown.length));
    if (text !== "") write(`${shown === "" ? titleKept : ""}${titled(text)}${over}`);
    else if (shown !== "") write(`${titleBack}${over}`);
    shown = text;
    clearInterval(again);
    if (text !== "") again = setInterval(() => write(lineOf(text)), againMs).unref();
  };
};
