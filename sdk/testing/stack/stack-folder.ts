import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "conversation-test-";

const longestMs = 600_000;

const owner = (): string => `${process.pid} on ${hostname()}`;

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** Without its owner: Pulumi was just ending, and wrote into a folder that had been removed. */
const isOld = (folder: string): boolean => {
  const { mtimeMs = Date.now() } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > longestMs;
};

/** Whether the test of a folder on this machine has ended without removing it: it was killed. */
const isAbandoned = (folder: string): boolean => {
  try {
    const [pid, , host] = readFileSync(join(folder, "owner"), "utf8").split(" ");
    return host === hostname() && !isRunning(Number(pid));
  } catch {
    return isOld(folder);
  }
};

const remove = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

const removeAbandoned = (): void => {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    if (isAbandoned(folder)) remove(folder);
  }
};

/** A folder of its own for the stack of a test. */
export interface StackFolder {
  /** Where Pulumi runs. */
  readonly project: string;
  /** Where the state is. */
  readonly state: string;
  /** What Pulumi keeps in the home folder otherwise: credentials, logs, selected stacks. */
  readonly home: string;
  remove(): void;
}

/** Makes it, and removes those of tests that were killed. */
export const createStackFolder = (): StackFolder => {
  removeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), prefix));
  writeFileSync(join(folder, "owner"), owner());
  const made = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const home = made("home");
  const plugins = join(process.env.PULUMI_HOME || join(homedir(), ".pulumi"), "plugins");
  mkdirSync(plugins, { recursive: true });
  symlinkSync(plugins, join(home, "plugins"), "junction");
  return { project: made("project"), state: made("state"), home, remove: () => remove(folder) };
};
