import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { emulatorLineSchema } from "../../cli/emulator-schema.js";

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

/** The emulator in a process of its own, once it has printed its first line; ended with the test. */
export const emulatorProcess = async (...options: readonly string[]) => {
  const child = startTool(["emulator", "--json", "--port", "0", ...options]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...emulatorLineSchema.parse(JSON.parse(String(line))) };
};
