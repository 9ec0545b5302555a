import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Stands in the environment of whatever commands start, and is handed on by it: so it is found also
 * where it has left its group, as the plugins of Pulumi do.
 */
export const startedVariable = "PULUMI_CONVERSATION_STARTED_BY";

/** Names this process, whatever its id is. */
const run = randomBytes(8).toString("hex");

/** What asks only, and is not reported, has no number. */
const question = "question";

export const startedBy = (by: string, which: string): string => `${by}-${which}`;
export const questionsOf = (by: string): string => startedBy(by, question);

/** Said where this process ends in good order: whatever was started has ended. */
export const inGoodOrder = "done";

let watcher: ChildProcess | undefined;
let count = 0;

/**
 * Another process that ends what is left where this one is killed: it sees that by the end of its input.
 * It is out of reach of a terminal's signals, and carries no mark itself.
 */
const startWatcher = (): ChildProcess | undefined => {
  const script = join(__dirname, "child-watcher.js");
  if (process.platform === "win32" || !existsSync(script)) return undefined;
  const started = spawn(process.execPath, [script, run], {
    ...{ cwd: "/", env: {}, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  });
  const lost = () => {
    if (watcher === started) watcher = undefined;
  };
  started.on("error", lost).on("exit", lost).unref();
  const input = started.stdin;
  input?.on("error", lost);
  if (input && "unref" in input && typeof input.unref === "function") input.unref();
  process.once("exit", () => input?.write(`${inGoodOrder}\n`));
  return started;
};

const report = (line: string): void => {
  watcher ??= startWatcher();
  watcher?.stdin?.write(`${line}\n`);
};

/** A command that is watched from before it starts. */
export interface WatchedCommand {
  /** To be set in its environment. */
  readonly mark: Readonly<Record<string, string>>;
  readonly started: (pid: number | undefined) => void;
  /** It has ended, and what it left behind with it. */
  readonly ended: () => void;
}

/** Has a command, and whatever it starts, end with this process, however that ends. */
export const watchCommand = (): WatchedCommand => {
  count += 1;
  const which = String(count);
  report(`+${which}`);
  return {
    mark: { [startedVariable]: startedBy(run, which) },
    started: (pid) => report(`+${which} ${pid ?? ""}`),
    ended: () => report(`-${which}`),
  };
};

/** The mark for commands that only ask, and soon end: they need not be reported one by one. */
export const watchQuestions = (): WatchedCommand["mark"] => {
  watcher ??= startWatcher();
  return { [startedVariable]: questionsOf(run) };
};
