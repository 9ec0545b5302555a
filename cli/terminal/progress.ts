import { styleText } from "node:util";

/** Where progress is shown: a terminal, or a file or pipe that gets whole lines. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** One thing that takes a while. */
export interface ProgressStep {
  /** What it is busy with at the moment. */
  detail(text: string): void;
  /** It is done; `text` replaces what was being done. */
  done(text?: string): void;
  /** It did not work. */
  failed(text?: string): void;
}

/** Tells the person what is being done, and for how long. */
export interface Progress {
  step(doing: string): ProgressStep;
  note(text: string): void;
}

type Colour = "green" | "red" | "dim" | "cyan";

const REDRAW_MS = 250;
/** Without a terminal a line at least this often shows that it is alive. */
const LINE_MS = 15_000;

/** Progress that redraws one line on a terminal, and elsewhere prints a line every 15 seconds. */
export const progressOn = (stream: ProgressStream, now: () => number = Date.now): Progress => {
  const live = stream.isTTY === true;
  const colour = (name: Colour, text: string) =>
    live ? styleText(name, text, { validateStream: false }) : text;
  const width = () => (stream.columns ?? 80) - 1;

  const step = (doing: string): ProgressStep => {
    const started = now();
    const seconds = () => `${Math.round((now() - started) / 1000)} s`;
    let detail = "";
    const status = () => `${doing} … ${seconds()}${detail && `, ${detail}`}`;
    const draw = () =>
      stream.write(
        live
          ? `\r\x1b[K${colour("cyan", "·")} ${status().slice(0, width() - 2)}`
          : `  ${status()}\n`,
      );
    const timer = setInterval(draw, live ? REDRAW_MS : LINE_MS);
    if (live) draw();
    else stream.write(`${doing} …\n`);
    const end = (sign: string, text: string) => {
      clearInterval(timer);
      stream.write(`${live ? "\r\x1b[K" : ""}${sign} ${text} ${colour("dim", `(${seconds()})`)}\n`);
    };
    return {
      detail: (text) => {
        detail = text;
      },
      done: (text = doing) => end(colour("green", "✓"), text),
      failed: (text = doing) => end(colour("red", "✗"), text),
    };
  };
  return { step, note: (text) => void stream.write(`${text}\n`) };
};
