import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, onTestFinished, type TestContext } from "vitest";

const made = (whenOver: (remove: () => void) => void): string => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-conversation-test-"));
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/**
 * A folder that is gone after the test.
 *
 * @param context of a test that others run beside
 */
export const temporaryFolder = (context?: Pick<TestContext, "onTestFinished">): string =>
  made(context?.onTestFinished ?? onTestFinished);

/** A folder that is gone after the tests of a file. */
export const folderOfFile = (): string => made(afterAll);

/** Writes a shell script that can be run, and gives its path. */
export const shellScript = (path: string, ...lines: string[]): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(path, 0o755);
  return path;
};

/** A folder with something that looks like a Pulumi CLI of some version, and its companions. */
export const fakePulumi = (folder: string, version: string): string => {
  for (const name of ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"])
    shellScript(join(folder, name), "exit 0");
  return shellScript(join(folder, "pulumi"), `echo v${version}`);
};
