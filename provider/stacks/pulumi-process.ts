import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { PulumiPlace } from "./pulumi-queries.js";

/** The CLI that runs, and the stack that its command line names. */
export interface RunningPulumi extends Omit<PulumiPlace, "stack"> {
  readonly given?: string;
}

/** A process as `/proc` shows it. */
export interface ProcessFacts {
  readonly parent: number;
  readonly exe: string;
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person types and reads: input and output are a terminal. */
  readonly isTerminal?: boolean;
}

const deepest = 12;

const listIn = (text: string): readonly string[] => text.split("\0").slice(0, -1);

const environmentIn = (text: string): NodeJS.ProcessEnv =>
  Object.fromEntries(
    listIn(text).map((entry) => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );

const readable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const isTerminal = (path: string): boolean => /^\/dev\/(pts\/|tty|console)/.test(path);

/** Reads a process of this machine; undefined where it is gone or somebody else's (Linux only). */
export const processFacts = (pid: number): ProcessFacts | undefined =>
  readable(() => {
    const of = (name: string): string => `/proc/${pid}/${name}`;
    const status = readFileSync(of("status"), "utf8");
    return {
      parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]),
      exe: readlinkSync(of("exe")),
      folder: readlinkSync(of("cwd")),
      args: listIn(readFileSync(of("cmdline"), "utf8")),
      env: readable(() => environmentIn(readFileSync(of("environ"), "utf8"))) ?? process.env,
      isTerminal: ["fd/0", "fd/1"].every((name) => isTerminal(readlinkSync(of(name)))),
    };
  });

/** `pulumi`; some packagers wrap it under another name. */
export const isPulumi = ({ exe }: Pick<ProcessFacts, "exe">): boolean =>
  /^\.?pulumi(-wrapped)?_?( \(deleted\))?$/.test(basename(exe));

/** The value of `--stack NAME`, `--stack=NAME`, `-s NAME` or `-sNAME`. */
export const stackAmong = (args: readonly string[]): string | undefined => {
  const at = args.findIndex((arg) => arg === "--stack" || arg === "-s");
  if (at >= 0) return args[at + 1];
  return args.map((arg) => /^(?:--stack=|-s=?)(.+)$/.exec(arg)?.[1]).find(Boolean);
};

const ancestor = (
  pid: number,
  facts: (pid: number) => ProcessFacts | undefined,
  depth = 0,
): (ProcessFacts & { readonly pid: number }) | undefined => {
  const found = pid > 1 && depth < deepest ? facts(pid) : undefined;
  if (!found || isPulumi(found)) return found && { ...found, pid };
  return ancestor(found.parent, facts, depth + 1);
};

/** The Pulumi CLI that this process runs under; undefined where that cannot be seen. */
export const cliOfThisRun = (
  facts: (pid: number) => ProcessFacts | undefined = processFacts,
): (ProcessFacts & { readonly pid: number }) | undefined => ancestor(process.ppid, facts);

/** `pulumi destroy` and its other names. */
const destroyWords = ["destroy", "down", "dn"];

/** Whether the Pulumi CLI that this process runs under was asked to destroy the stack; false where that cannot be seen. */
export const isDestroying = (): boolean =>
  cliOfThisRun()?.args.some((word) => destroyWords.includes(word)) ?? false;

/**
 * The Pulumi CLI that this process runs under, with its folder and its environment. Where that
 * cannot be seen, the one on PATH, in the folder of this process.
 */
export const pulumiOfThisRun = (
  facts: (pid: number) => ProcessFacts | undefined = processFacts,
): RunningPulumi => {
  const found = cliOfThisRun(facts);
  if (!found) return { command: "pulumi", folder: process.cwd(), env: process.env };
  // Its folder is already the one that --cwd asked for.
  const { PULUMI_OPTION_CWD: _, ...env } = found.env;
  const given = stackAmong(found.args);
  const command = found.exe.endsWith(" (deleted)") ? "pulumi" : found.exe;
  return { command, folder: found.folder, env, ...(given ? { given } : {}) };
};
