import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { isObject } from "../kernel/json.js";

/** Where and as whom the Pulumi CLI is asked. */
export interface PulumiPlace {
  /** Path of the CLI, or its name, to be looked up on PATH. */
  readonly command: string;
  /** Folder of the project. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default: the selected stack. */
  readonly stack?: string;
}

/** What the CLI printed, or why there is nothing. */
export type PulumiAnswer = { readonly text: string } | { readonly reason: string };

const longestMs = 20_000;
const attempts = 3;
const againMs = 100;
const largestBytes = 512 * 1024 * 1024;

/** Options that choose the stack may come from the environment; others would change what is printed. */
const kept = new Set(["PULUMI_OPTION_CWD", "PULUMI_OPTION_STACK"]);

/** The environment without what makes the CLI log, show secrets or print something else. */
export const quietEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(env).filter(([name]) => kept.has(name) || !/^PULUMI_(DEBUG|OPTION_)/.test(name)),
  ),
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
});

/** The last line of an error; the CLI colours nothing where it does not write to a terminal. */
const reasonIn = (stderr: string): string | undefined =>
  stderr
    .trim()
    .split("\n")
    .findLast((line) => line.trim() !== "")
    ?.replace(/^error: /, "")
    .trim();

const once = ({ command, folder, env }: PulumiPlace, args: readonly string[]) =>
  new Promise<PulumiAnswer>((resolve) => {
    const options = {
      cwd: folder,
      env: quietEnvironment(env),
      timeout: longestMs,
      // Whatever is asked here only reads.
      killSignal: "SIGKILL",
      maxBuffer: largestBytes,
      windowsHide: true,
    } as const;
    execFile(command, [...args, "--non-interactive"], options, (error, stdout, stderr) => {
      if (!error) return resolve({ text: stdout });
      const late = `no answer within ${longestMs / 1000} s`;
      const missing = error.code === "ENOENT" ? "there is no pulumi on PATH" : "no reason given";
      resolve({ reason: error.killed ? late : (reasonIn(stderr) ?? missing) });
    });
  });

/** Pulumi's file backend writes in place what it keeps beside a state: a reader may see half of it. */
const isTorn = (reason: string): boolean => /\bEOF\b|unexpected end of JSON/.test(reason);

/** Asks the CLI something that changes nothing. Never throws; a read that met a write is repeated. */
export const queryPulumi = async (
  place: PulumiPlace,
  args: readonly string[],
): Promise<PulumiAnswer> => {
  const { stack } = place;
  const all = stack === undefined ? args : [...args, "--stack", stack];
  for (let attempt = 1; ; attempt += 1) {
    const answer = await once(place, all);
    if ("text" in answer || !isTorn(answer.reason) || attempt === attempts) return answer;
    await pause(againMs);
  }
};

/** JSON that Pulumi printed, a large state among it, read as it is; undefined where the text is none. */
export const printedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A stack in the list of the backend. */
export interface ListedStack {
  readonly name: string;
  readonly current: boolean;
  /** Only Pulumi Cloud says. */
  readonly updateInProgress?: boolean;
}

/** What `pulumi stack ls --json` printed; undefined where that is no list of stacks. */
export const stacksIn = (text: string): readonly ListedStack[] | undefined => {
  const list = printedJson(text);
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).flatMap(({ name, current, updateInProgress }) => {
    const progress = typeof updateInProgress === "boolean" ? { updateInProgress } : {};
    return typeof name === "string" ? [{ name, current: current === true, ...progress }] : [];
  });
};

/** Whether a name of the list stands for the stack asked about: one may leave organisation and project out. */
export const mayBe = (name: string, asked: string): boolean =>
  name.endsWith(`/${asked}`) || asked.endsWith(`/${name}`);

/** Whether a stack of the list is surely the one asked about. */
export const isListedAs = ({ name, current }: ListedStack, asked: string | undefined): boolean =>
  asked === undefined ? current : name === asked;
