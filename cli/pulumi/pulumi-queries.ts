import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { isObject } from "../../provider/kernel/json.js";
import { type CommandOptions, type Ended, runCommand } from "./processes.js";

/** The Pulumi CLI to query, with its folder, environment, and stack. */
export interface PulumiPlace {
  /** Path of the CLI, or the name of a program on PATH. */
  readonly command: string;
  /** Project folder. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Name of the stack. Default: the selected stack. */
  readonly stack?: string;
}

/** The output of the CLI, or the reason why there is none. */
type PulumiAnswer = { readonly text: string } | { readonly reason: string };

const longestMs = 20_000;
/** A command that only reads needs no time to end. */
const reading = { timeoutMs: longestMs, stops: [{ signal: "SIGKILL", afterMs: 0 }] } as const;
const attempts = 3;
const againMs = 100;

/** Options that choose the stack may come from the environment; others would change the output. */
const kept = new Set(["PULUMI_OPTION_CWD", "PULUMI_OPTION_STACK"]);

/**
 * Returns the environment without variables that make the CLI log, trace, show secrets, or change
 * its output.
 */
export const quietEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => kept.has(name) || !/^PULUMI_(DEBUG|OPTION_|\w*OTLP_)/.test(name),
    ),
  ),
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
});

/** The last line of an error; the CLI uses no colors if it does not write to a terminal. */
const reasonIn = ({ lastLines }: Ended): string | undefined =>
  lastLines
    .findLast((line) => line.trim() !== "")
    ?.replace(/^error: /, "")
    .trim();

/** Runs the CLI on a stack to its end; its standard input is never written to disk. */
const execPulumi = (
  { command, folder, env, stack }: PulumiPlace,
  args: readonly string[],
  options: Pick<CommandOptions, "input" | "timeoutMs" | "stops">,
): Promise<Ended> => {
  const all = [...args, ...(stack ? ["--stack", stack] : []), "--non-interactive"];
  return runCommand(command, all, { cwd: folder, env: quietEnvironment(env), ...options });
};

/**
 * Runs a command that changes a stack, and returns whether it succeeded and what it printed.
 *
 * @throws Error if the command cannot be started
 */
export const runStackCommand = async (
  place: PulumiPlace,
  args: readonly string[],
  input = "",
): Promise<{ readonly ok: boolean; readonly said: string }> => {
  const { code, lastLines } = await execPulumi(place, args, { input });
  return {
    ok: code === 0,
    said: lastLines
      .join("\n")
      .replace(/^error: /gm, "")
      .trim(),
  };
};

/** Pulumi's file backend writes its files beside a state in place: a reader may see half of one. */
const isTorn = (reason: string): boolean => /\bEOF\b|unexpected end of JSON/.test(reason);

/**
 * Runs a CLI query that changes nothing. Never throws; retries a read that collided with a write.
 */
export const queryPulumi = async (
  place: PulumiPlace,
  args: readonly string[],
): Promise<PulumiAnswer> => {
  for (let attempt = 1; ; attempt += 1) {
    const ended = await execPulumi(place, args, reading).catch(() => undefined);
    if (!ended) return { reason: "pulumi is not on PATH" };
    if (ended.code === 0) return { text: ended.stdout };
    if (ended.timedOut) return { reason: `no response within ${longestMs / 1000} s` };
    const reason = reasonIn(ended) ?? "Pulumi gave no reason";
    if (!isTorn(reason) || attempt === attempts) return { reason };
    await pause(againMs);
  }
};

/**
 * Parses JSON that Pulumi printed, even a large state, without changing it; undefined if the text
 * is not JSON.
 */
export const printedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A stack in the backend's list. */
interface ListedStack {
  readonly name: string;
  readonly current: boolean;
  /** Only Pulumi Cloud reports it. */
  readonly updateInProgress?: boolean;
}

/** Parses the output of `pulumi stack ls --json`; undefined if it is not a list of stacks. */
export const stacksIn = (text: string): readonly ListedStack[] | undefined => {
  const list = printedJson(text);
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).flatMap(({ name, current, updateInProgress }) => {
    const progress = typeof updateInProgress === "boolean" ? { updateInProgress } : {};
    return typeof name === "string" ? [{ name, current: current === true, ...progress }] : [];
  });
};

/**
 * Whether a listed name may refer to the requested stack although the two names differ: either name
 * may omit the organization and project.
 */
export const mayBe = (name: string, asked: string): boolean =>
  name.endsWith(`/${asked}`) || asked.endsWith(`/${name}`);

/** Whether a listed stack is certainly the requested one. */
export const isListedAs = ({ name, current }: ListedStack, asked: string | undefined): boolean =>
  asked === undefined ? current : name === asked;

/** Whether a run is using a stack, if the backend shows that. */
export type StackLock =
  | { readonly state: "free" }
  /** `by`: the holder, if known. */
  | { readonly state: "locked"; readonly by?: string }
  | { readonly state: "unknown"; readonly why: string };

/** A function that reads the current lock on one stack each time it is called. */
export type LockReader = () => Promise<StackLock>;

const free: StackLock = { state: "free" };
const unknown = (why: string): StackLock => ({ state: "unknown", why });

/**
 * Returns the folder of a `file://` backend. The path in the URL may be relative to the home folder
 * or to the project folder.
 */
export const backendFolder = (url: string, folder: string, home = homedir()): string => {
  const path = url.slice("file://".length).split("?")[0] ?? "";
  const whole = /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path;
  return resolve(folder, whole.replace(/^\/(?=[A-Za-z]:)/, ""));
};

/** The run that holds a lock, as described in the lock file. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /**
   * Time when the run took the lock, in milliseconds since 1970; NaN if the lock file does not
   * contain it.
   */
  readonly since: number;
  /** A description of the holder for messages. */
  readonly by: string;
}

/** Reads a lock file; undefined if it is not JSON, for example because it is incomplete. */
export const lockHolderIn = (text: string): LockHolder | undefined => {
  const lock = printedJson(text);
  if (!isObject(lock)) return undefined;
  const { username, hostname: host, pid, timestamp } = lock;
  const since = Date.parse(String(timestamp));
  const when = Number.isNaN(since) ? "" : `, since ${new Date(since).toISOString().slice(0, 19)}Z`;
  const by = `${username}@${host}, process ${pid}${when}`;
  return { pid: Number(pid), host: String(host), since, by };
};

/** Whether the error means that a file or folder does not exist. */
const isNotThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** The content of a folder; empty if it does not exist. @throws if it cannot be read */
const namesInFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isNotThere(error)) return [];
    throw error;
  }
};

/**
 * Returns a stack's lock files in a file backend, one for each run.
 *
 * @throws if a folder cannot be read
 */
export const lockFiles = async (
  backend: string,
  project: string,
  stack: string,
): Promise<readonly string[]> => {
  const locks = join(backend, ".pulumi", "locks");
  // The second is for backends that were created before stacks belonged to projects.
  const folders = [join(locks, "organization", project, stack), join(locks, stack)];
  const files = folders.map(async (folder) =>
    (await namesInFolder(folder)).map((name) => join(folder, name)),
  );
  return (await Promise.all(files)).flat().filter((file) => file.endsWith(".json"));
};

const lockInFiles = async (backend: string, project: string, stack: string): Promise<StackLock> => {
  try {
    if ((await namesInFolder(join(backend, ".pulumi"))).length === 0)
      return unknown(`${backend} contains no Pulumi state`);
    const [file] = await lockFiles(backend, project, stack);
    if (file === undefined) return free;
    const by = lockHolderIn(readPlainFile(file) ?? "")?.by;
    return { state: "locked", ...(by ? { by } : {}) };
  } catch (error) {
    return unknown(error instanceof Error ? error.message : "its folder cannot be read");
  }
};

const progressOf = async ({ stack, ...place }: PulumiPlace): Promise<StackLock> => {
  const answer = await queryPulumi(place, ["stack", "ls", "--json"]);
  if ("reason" in answer) return unknown(answer.reason);
  const listed = stacksIn(answer.text) ?? [];
  const found =
    listed.find((each) => isListedAs(each, stack)) ??
    listed.find(({ name }) => mayBe(name, stack ?? ""));
  if (found?.updateInProgress === undefined)
    return unknown("Pulumi does not report whether an update is in progress");
  return found.updateInProgress ? { state: "locked" } : free;
};

const backendUrl = (text: string): string | undefined => {
  const answer = printedJson(text);
  return isObject(answer) && typeof answer.url === "string" ? answer.url : undefined;
};

/**
 * Determines how to read the lock on a stack: file backends keep it in a folder, Pulumi Cloud shows
 * updates in progress, and other backends do not show locks.
 *
 * @param stack short name
 */
export const lockReader = async (
  place: PulumiPlace,
  project: string,
  stack: string,
): Promise<LockReader> => {
  const { stack: _, ...anyStack } = place;
  const answer = await queryPulumi(anyStack, ["whoami", "--verbose", "--json"]);
  if ("reason" in answer) return async () => unknown(answer.reason);
  const url = backendUrl(answer.text);
  if (url?.startsWith("file://")) {
    const folder = backendFolder(url, place.folder);
    return () => lockInFiles(folder, project, stack);
  }
  if (url && /^https?:/.test(url)) return () => progressOf(place);
  return async () => unknown(`the backend ${url?.split(":")[0] ?? ""} does not expose its locks`);
};
