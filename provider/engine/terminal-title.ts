import { openSync, writeSync } from "node:fs";

/** Puts a text into the title of a terminal; the empty one brings back what stood there. */
export type TerminalTitle = (text: string) => void;

const keep = "\x1b[22;2t";
const bringBack = "\x1b[23;2t";
const titled = (text: string): string => `\x1b]2;${text}\x07`;

/**
 * The title of the terminal that a process writes to, by `/proc` (Linux). At 80 columns the engine's
 * table has no room for messages, and the title is the only place left. Best effort: silent where the
 * terminal cannot be opened.
 */
export const terminalTitle = (pid: number): TerminalTitle => {
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
