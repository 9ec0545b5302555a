/** What a terminal of so many columns and rows shows of what is written to it. */
export interface TerminalScreen {
  write(text: string): void;
  /** Its rows from top to bottom, without the space at their ends. */
  lines(): readonly string[];
}

interface Cursor {
  readonly row: number;
  readonly column: number;
}

/** One piece of what a program sends: a sequence for the terminal, a control character, or a character. */
const piece =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal acts on
  /\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b([78])|[\r\n]|[^\x1b]/gu;

/** As much of a terminal as Pulumi's table needs: lines, cursor up, erasing, wrapping, scrolling. */
export const terminalScreen = (columns: number, rows: number): TerminalScreen => {
  const cells = Array.from({ length: rows }, () => Array<string>(columns).fill(" "));
  let at: Cursor = { row: 0, column: 0 };
  let saved = at;
  let wraps = true;
  let unread = "";
  const down = (): void => {
    if (at.row < rows - 1) at = { ...at, row: at.row + 1 };
    else cells.push(...cells.splice(0, 1).map((row) => row.fill(" ")));
  };
  const sequence = (numbers: string, letter: string): void => {
    const count = Number(numbers) || 1;
    if (letter === "A") at = { ...at, row: Math.max(0, at.row - count) };
    if (letter === "K") cells[at.row]?.fill(" ", at.column);
    if (numbers === "?7") wraps = letter === "h";
  };
  const print = (character: string): void => {
    if (at.column === columns && wraps) {
      down();
      at = { ...at, column: 0 };
    }
    const column = Math.min(at.column, columns - 1);
    cells[at.row]?.splice(column, 1, character);
    at = { ...at, column: column + 1 };
  };
  const act = ([text, numbers, letter, store]: RegExpExecArray): void => {
    if (letter) sequence(numbers ?? "", letter);
    else if (store === "7") saved = at;
    else if (store === "8") at = saved;
    else if (text === "\r") at = { ...at, column: 0 };
    else if (text === "\n") down();
    else if (text.length <= 2 && !text.startsWith("\x1b")) print(text);
  };
  return {
    write: (text) => {
      const all = unread + text;
      // What is cut off in the middle waits for its other part.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these begin and end what a terminal acts on
      const whole = all.replace(/\x1b(\[[?\d;]*|\][^\x07]*)?$/, "");
      unread = all.slice(whole.length);
      for (const match of whole.matchAll(piece)) act(match);
    },
    lines: () => cells.map((row) => row.join("").trimEnd()),
  };
};
