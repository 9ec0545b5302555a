import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type InitOptions, runInit } from "../../../cli/init/run-init.js";
import { progressOn } from "../../../cli/terminal/progress.js";

/** Each test has a folder of its own. */
export let folder: string;

/** Called once by each file of tests: hooks belong to the file that registers them. */
export const useInitSandbox = (): void => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "init-"));
  });
  afterEach(() => {
    for (const path of [folder, `${folder}-bin`]) rmSync(path, { recursive: true, force: true });
  });
};

export const made = (path: string): string => readFileSync(join(folder, path), "utf8");

/** A program on a PATH of its own that writes down how it was called, and with what input. */
export const calls = (name: string, exitCode = 0): (() => string) => {
  const log = `${folder}-bin/${name}.log`;
  mkdirSync(`${folder}-bin`, { recursive: true });
  const script = `#!/bin/sh\necho "$@" "<$(cat)>" >> ${log}\nexit ${exitCode}\n`;
  writeFileSync(join(`${folder}-bin`, name), script, { mode: 0o755 });
  return () => readFileSync(log, "utf8");
};

/** Nobody is asked, and nothing is on PATH. */
export const quiet = ({ env = { PATH: "" }, ...more }: Partial<InitOptions> = {}) => {
  let said = "";
  const progress = progressOn({
    write: (text) => {
      said += text;
    },
  });
  const options = { folder: join(folder, "shop"), install: true, progress };
  const everywhere = { XDG_CACHE_HOME: join(`${folder}-bin`, "cache"), ...env };
  return { done: runInit({ ...options, ...more, env: everywhere }), said: () => said };
};

/** The commands that fetch the packages, where this checkout is what is to be fetched. */
export const toFetch = [expect.stringMatching(/^npm pack \S+ --ignore-scripts/), "npm install"];
