import { closeSync, constants, openSync, writeSync } from "node:fs";
import { inertOutput } from "../kernel/text.js";
import { type ProcessFacts, parentPulumi } from "../pulumi-cli/pulumi-queries.js";
import { isConstructor, methodOf, propertyOf, sdkModule } from "./sdk-module.js";

/**
 * How to show a message: `passing` shows it until the next one replaces it; otherwise, the message
 * remains in the diagnostics.
 */
export type Showing = "passing" | "info" | "warning";

/** Shows a message in a resource's row, or in the stack's row if no resource is known. */
export type StatusLine = (message: string, urn?: string, showing?: Showing) => void;

/** A message for the engine. */
export interface Line {
  readonly message: string;
  readonly urn: string | undefined;
  readonly showing: Showing;
}

/** Sends a message to the engine, and calls `onAnswered` when the engine has responded. */
export type Send = (line: Line, onAnswered: () => void) => void;

/**
 * Sends a message for a row only after the previous one was accepted: the engine takes concurrent
 * calls in any order, and a row would keep a message that should be removed.
 */
const inOrder = (send: Send): ((line: Line) => void) => {
  const waiting = new Map<string | undefined, readonly Line[]>();
  const sendNow = (line: Line, rest: readonly Line[]): void => {
    waiting.set(line.urn, rest);
    send(line, () => {
      const [next, ...later] = waiting.get(line.urn) ?? [];
      if (next) sendNow(next, later);
      else waiting.delete(line.urn);
    });
  };
  return (line) => {
    const earlier = waiting.get(line.urn);
    if (!earlier) return sendNow(line, []);
    const lasting = earlier.filter(({ showing }) => showing !== "passing");
    waiting.set(line.urn, [...lasting, line]);
  };
};

/**
 * Returns the engine's address, the last argument of a provider process; undefined if there is
 * none.
 */
export const engineAddress = (): string | undefined => process.argv.slice(2).at(-1);

const severityOf = (messages: unknown, showing: Showing): unknown =>
  propertyOf(propertyOf(messages, "LogSeverity"), showing === "warning" ? "WARNING" : "INFO");

const bufferOf = (bytes: unknown): Buffer =>
  bytes instanceof Uint8Array ? Buffer.from(bytes) : Buffer.alloc(0);

const connectBySdk = (): Send | undefined => {
  const grpc = sdkModule("@grpc/grpc-js");
  const services = sdkModule("../../proto/engine_grpc_pb.js");
  const messages = sdkModule("../../proto/engine_pb.js");
  const client = propertyOf(services, "EngineClient");
  const request = propertyOf(messages, "LogRequest");
  const address = engineAddress();
  const credentials = methodOf(propertyOf(grpc, "credentials"), "createInsecure")?.call(undefined);
  if (!isConstructor(client) || !isConstructor(request) || !address || !credentials)
    return undefined;
  const engine = new client(address, credentials);
  const serialise = (line: unknown): Buffer =>
    bufferOf(methodOf(line, "serializeBinary")?.call(line));
  return ({ message, urn, showing }, onAnswered) => {
    const line = new request();
    const set = (name: string, value: unknown): unknown => methodOf(line, name)?.call(line, value);
    set("setSeverity", severityOf(messages, showing));
    set("setMessage", message);
    set("setEphemeral", showing === "passing");
    if (urn) set("setUrn", urn);
    // Not with the client's own method: that would read the empty answer with the very function
    // that detects the engine's Cancel call.
    const send = methodOf(engine, "makeUnaryRequest");
    send?.call(engine, logMethod, serialise, ignored, line, onAnswered);
  };
};

const logMethod = "/pulumirpc.Engine/Log";

const ignored = (): undefined => undefined;

/**
 * Returns a function that shows messages through the engine that runs this process, and does
 * nothing if the engine cannot be reached.
 *
 * @param connect called for the first line; returns undefined if the engine cannot be reached
 */
export const engineStatusLine = (connect: () => Send | undefined): StatusLine => {
  let send: ((line: Line) => void) | undefined | null = null;
  return (message, urn, showing = "passing") => {
    try {
      if (send === null) {
        const connection = connect();
        send = connection && inOrder(connection);
      }
      send?.({ message: inertOutput(message, false), urn, showing });
    } catch {
      // A line that cannot be shown must not disturb the run.
    }
  };
};

/**
 * Returns a function that shows messages through Pulumi's SDK, for a process that the SDK runs for
 * dynamic resources.
 */
export const sdkStatusLine = (): StatusLine => engineStatusLine(connectBySdk);

/** How the engine shows temporary messages from a provider. */
export interface RunDisplay {
  /** Whether the engine redraws a table; if not, every message becomes a log line. */
  readonly isLive: boolean;
  /** Minimum time between two progress messages, in milliseconds. */
  readonly everyMs: number;
  /** Shows text on a permanent line in the terminal; absent if there is no terminal. */
  readonly status?: TerminalStatus;
}

const table = { isLive: true, everyMs: 1000 } as const satisfies RunDisplay;

const log: RunDisplay = { isLive: false, everyMs: 30_000 };

/** Often enough for a person, and not too often for a log. */
const either: RunDisplay = { isLive: false, everyMs: 10_000 };

/** Options that make the CLI print something other than the table. */
const otherViews = /^(-j|--(non-interactive|json|diff|suppress-progress)(=true)?)$/;

const isPlain = ({ args, env }: Pick<ProcessFacts, "args" | "env">): boolean =>
  args.some((arg) => otherViews.test(arg)) || env.TERM === "dumb" || (env.CI ?? "") !== "";

/** Returns how the command that started this process displays progress, or a default if unknown. */
export const displayOfThisRun = (cli = parentPulumi()): RunDisplay => {
  if (!cli) return isPlain({ args: [], env: process.env }) ? log : either;
  return cli.isTerminal && !isPlain(cli) ? { ...table, status: terminalStatus(cli.pid) } : log;
};

/** Shows a text beside the engine's table; empty text removes it. */
type TerminalStatus = (text: string) => void;

/** If the table fills the screen, the engine draws over the line below it once a second. */
const againMs = 250;

const titleKept = "\x1b[22;2t";

const titleBack = "\x1b[23;2t";

const titled = (text: string): string => `\x1b]2;${text}\x07`;

/**
 * A text at the position where the engine leaves the cursor: the line below its table. Sent in one
 * write that restores cursor and colors and does not wrap, so that it may come between any two
 * writes of the engine.
 */
const lineOf = (text: string): string => `\x1b7\x1b[0m\r\x1b[?7l${text}\x1b[?7h\x1b8`;

/** The engine's terminal may be unable to accept more for a moment, and must not block the run. */
const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * A line below the engine's table, and the title of the terminal, for the terminal that a process
 * writes to, by `/proc` (Linux). At 80 columns the rows of the table have no room for messages, and
 * in a long table the row of the stack is out of sight. Best effort: silent if the terminal cannot
 * be opened.
 */
const terminalStatus = (pid: number): TerminalStatus => {
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
