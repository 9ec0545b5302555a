import { styleText } from "node:util";
import { inertOutput } from "../../provider/kernel/text.js";
import type { Session } from "../command.js";
import { untilSignal } from "../interruption.js";
import { shortened, wantsColour } from "./columns.js";

/** Where progress is shown: a terminal, or a file or pipe that gets whole lines. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A step that takes a while. */
export interface ProgressStep {
  /** Shows what it is currently doing. */
  detail(text: string): void;
  /** Prints a line that stays. */
  print(line: string): void;
  /** Reports success; `text` replaces the description. */
  done(text?: string): void;
  /** Reports failure; `text` replaces the description. */
  failed(text?: string): void;
  /** Ends the step without a message. */
  end(): void;
}

/** Shows the person what is being done, and for how long. */
export interface Progress {
  step(doing: string): ProgressStep;
  /** Only shows that it is alive while it is busy, and prints the output. */
  alive(doing: string): Pick<ProgressStep, "print" | "end">;
  note(text: string): void;
}

type Colour = "green" | "red" | "dim" | "cyan";

const redrawMs = 250;
/**
 * Without a terminal, a dot at this interval shows that it is alive: the longest silence is 2
 * seconds.
 */
const dotMs = 1_900;
/** After so many dots, about half a minute, a line says how far it is. */
const dotsPerLine = 16;
const clearLine = "\r\x1b[K";

/** How a step shows that it is alive: on a terminal in one line that is redrawn, elsewhere by dots. */
const signOfLife = (stream: ProgressStream, status: () => string, paint: Paint) => {
  const live = stream.isTTY === true;
  let dots = 0;
  const width = () => (stream.columns ?? 80) - 1;
  const draw = () => {
    if (live) stream.write(`${clearLine}${paint("cyan", "·")} ${shortened(status(), width() - 2)}`);
    else if (dots < dotsPerLine) stream.write(".");
    else {
      stream.write(`\n  ${status()}\n`);
      dots = 0;
      return;
    }
    dots += 1;
  };
  let timer = setInterval(draw, live ? redrawMs : dotMs);
  /** Removes the redrawn line, or ends the line of dots. */
  const over = () => {
    if (live) stream.write(clearLine);
    else if (dots > 0) stream.write("\n");
    dots = 0;
  };
  if (live) draw();
  return {
    stop: () => {
      clearInterval(timer);
      over();
    },
    print: (line: string) => {
      over();
      stream.write(`${inertOutput(line, wantsColour(stream))}\n`);
      timer = timer.refresh();
    },
  };
};

type Paint = (colour: Colour, text: string) => string;

/** Progress that redraws one line on a terminal, and elsewhere prints a dot at least every 2 seconds. */
export const progressOn = (stream: ProgressStream): Progress => {
  const coloured = wantsColour(stream);
  const paint: Paint = (colour, text) =>
    coloured ? styleText(colour, text, { validateStream: false }) : text;

  const begun = (doing: string) => {
    const started = Date.now();
    const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
    let detail = "";
    const status = () => `${doing} … ${seconds()}${detail && `, ${detail}`}`;
    const life = signOfLife(stream, status, paint);
    const say = (text: string) => {
      detail = text;
    };
    return { life, seconds, say };
  };

  const step = (doing: string): ProgressStep => {
    if (stream.isTTY !== true) stream.write(`${doing} …\n`);
    const { life, seconds, say } = begun(doing);
    const end = (sign: string, text: string) => {
      life.stop();
      stream.write(`${sign} ${inertOutput(text, false)} ${paint("dim", `(${seconds()})`)}\n`);
    };
    return {
      detail: say,
      print: life.print,
      done: (text = doing) => end(paint("green", "✓"), text),
      failed: (text = doing) => end(paint("red", "✗"), text),
      end: life.stop,
    };
  };
  const alive: Progress["alive"] = (doing) => {
    const { life } = begun(doing);
    return { print: life.print, end: life.stop };
  };

  return { step, alive, note: (text) => void stream.write(`${inertOutput(text, coloured)}\n`) };
};

/** The context of a long command: where it reports progress, and what ends it. */
export interface CommandWork {
  /** On standard error, so that the output stays the command's own. */
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The work of a command, as one step that shows that it is alive. */
interface CommandStep {
  /** Prints a line of what it does. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Progress on standard error, in lines that are redrawn if a person sees them. */
export const sessionProgress = (session: Session): Progress => {
  const isTTY = session.coloured && process.stderr.isTTY === true;
  const columns = process.stderr.columns ?? 80;
  return progressOn({ isTTY, columns, write: session.redraw ?? session.err });
};

/** Runs a command that takes a while; a signal ends it, with exit code 130. */
export const withProgress = <T>(
  session: Session,
  work: (work: CommandWork) => Promise<T>,
  left?: string,
): Promise<T> =>
  untilSignal((signal) => work({ progress: sessionProgress(session), signal }), left);

/** The same for a command that only says lines of what it does. */
export const withLines = <T>(
  { err }: Session,
  work: (means: CommandStep) => Promise<T>,
  left?: string,
): Promise<T> => untilSignal((signal) => work({ say: (line) => err(`${line}\n`), signal }), left);

/**
 * The same for a command that is one step. Its end is not reported: the output shows it.
 *
 * @param doing shown to the person at once
 * @param left shown if a signal ends it
 */
export const withStep = <T>(
  session: Session,
  doing: string,
  work: (step: CommandStep) => Promise<T>,
  left?: string,
): Promise<T> =>
  withProgress(
    session,
    async ({ progress, signal }) => {
      const step = progress.step(doing);
      try {
        return await work({ say: step.print, signal });
      } finally {
        step.end();
      }
    },
    left,
  );
