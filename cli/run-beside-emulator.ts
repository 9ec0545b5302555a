import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { CommandFailure } from "./command.js";
import { missingPulumiAdvice } from "./get-pulumi/get-pulumi.js";

const passedOn = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

const notStarted = (name: string, error: unknown): CommandFailure => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isMissing = code === "ENOENT";
  const reason = isMissing ? "the command does not exist" : `the command did not start (${code})`;
  const advice =
    isMissing && name === "pulumi"
      ? missingPulumiAdvice(process.env)
      : "Check the command's name. Put emulator options before the --.";
  // As in shells: 127 not found, 126 not executable.
  return new CommandFailure(`Running ${name}: ${reason}. ${advice}`, isMissing ? 127 : 126, {
    cause: error,
  });
};

/**
 * Runs a command on the streams of this process, passes signals on, and waits for its end.
 *
 * @returns its exit code; 128 plus the signal number if a signal ended it
 * @throws CommandFailure with the exit code 127 or 126 if it cannot be started
 */
export const runBesideEmulator = async (
  [name = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> => {
  let child: ChildProcess | undefined;
  const pass = (signal: NodeJS.Signals): void => {
    // Ctrl-C at a terminal reaches the command anyway; passing it on would count as a second one.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child?.kill(signal);
  };
  // Before it starts: somebody may wait for its first line and then send a signal.
  for (const signal of passedOn) process.on(signal, pass);
  try {
    const started = spawn(name, args, {
      stdio: "inherit",
      env: { ...process.env, ...environment },
      shell: process.platform === "win32",
    });
    child = started;
    return await new Promise<number>((resolve, reject) => {
      started.once("error", (error) => reject(notStarted(name, error)));
      started.once("exit", (code, signal) =>
        resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)),
      );
    });
  } finally {
    for (const signal of passedOn) process.off(signal, pass);
  }
};
