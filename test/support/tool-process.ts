import { spawn } from "node:child_process";
import { join } from "node:path";

/** The command line as it was built. */
export const toolMain = join(__dirname, "..", "..", "dist", "cli", "main.js");

/** The same as the beginning of a line of a shell. */
export const toolLine = `"${process.execPath}" "${toolMain}"`;

/** Starts `pulumi-conversation` and leaves it to the caller; what nobody reads of its output is dropped. */
export const startTool = (
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) => {
  const child = spawn(process.execPath, [toolMain, ...args], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.resume();
  child.stderr.resume();
  return child;
};
