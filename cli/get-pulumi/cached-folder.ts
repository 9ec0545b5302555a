import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CommandFailure } from "../command.js";
import { tryLock } from "../pulumi/own-folders.js";
import type { Progress } from "../terminal/progress.js";

/*
 * What is made once per user and kept: programs that take minutes to build. One process at a time makes a
 * folder, and nobody sees it before it is complete.
 */

const LOOK_EVERY_MS = 500;

export interface Making {
  /** What is being got, such as `the Pulumi CLI`. */
  readonly what: string;
  readonly progress: Progress;
  /** Aborting ends the work under way. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws CommandFailure with exit code 130 if the work was aborted */
export const throwIfInterrupted = (what: string, signal: AbortSignal | undefined): void => {
  const message = `Interrupted while installing ${what}. No incomplete files were kept.`;
  if (signal?.aborted) throw new CommandFailure(message, 130);
};

/**
 * Waits until no other process is filling a folder; a process that was killed does not count.
 *
 * @returns what lets the next process in
 */
export const lockFolder = async (
  folder: string,
  { what, progress, signal }: Making,
): Promise<() => void> => {
  const path = `${folder}.lock`;
  let release = tryLock(path);
  if (release) return release;
  const step = progress.step(`Waiting for another process, which is installing ${what}`);
  while (!release) {
    await pause(LOOK_EVERY_MS);
    if (signal?.aborted) step.failed();
    throwIfInterrupted(what, signal);
    release = tryLock(path);
  }
  step.done("The other process has finished");
  return release;
};

/**
 * Makes a folder beside its place, and puts it there only when it is complete. Whatever happens, no
 * draft is left; one that a killed process left is removed first. Hold its lock.
 *
 * @param make fills the folder, whose subfolder `bin` exists; returns the reason if that did not work
 * @returns that reason
 */
export const makeFolder = async (
  folder: string,
  make: (draft: string) => Promise<string | undefined>,
  progress: Progress,
): Promise<string | undefined> => {
  const draft = join(dirname(folder), `.making-${basename(folder)}`);
  if (existsSync(draft)) {
    const sign = progress.alive("Removing incomplete files from an earlier run");
    await rm(draft, { recursive: true, force: true }).finally(sign.end);
  }
  mkdirSync(join(draft, "bin"), { recursive: true });
  try {
    const reason = await make(draft);
    if (reason !== undefined) return reason;
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};
