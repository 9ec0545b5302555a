import { setTimeout as pause } from "node:timers/promises";
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
export type PulumiAnswer = { readonly text: string } | { readonly reason: string };

const longestMs = 20_000;
/** A command that only reads needs no time to end. */
const reading = { timeoutMs: longestMs, stops: [{ signal: "SIGKILL", afterMs: 0 }] } as const;
const attempts = 3;
const againMs = 100;

/**
 * Returns the environment without variables that make the CLI log, trace, show secrets, or change
 * its output.
 */
export const quietEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^PULUMI_(DEBUG|OPTION_|\w*OTLP_)/.test(name)),
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
