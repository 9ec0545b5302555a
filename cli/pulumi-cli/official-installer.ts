import { join } from "node:path";
import { runCommand } from "../process/run-command.js";
import type { Attempt, Surroundings } from "./attempt.js";
import { release } from "./releases.js";

const LONGEST_MS = 600_000;

/**
 * Installs Pulumi's own release into a folder, with the installer that the Automation API carries.
 * In a process of its own, so that it can be ended at any time.
 */
export const installOfficially = async (
  root: string,
  { progress, signal, env }: Surroundings,
): Promise<Attempt> => {
  const step = progress.step(`Installing Pulumi ${release.version} with the official installer`);
  const ended = await runCommand(
    process.execPath,
    [join(__dirname, "installer-process.js"), root],
    {
      env: { ...env, NODE_USE_ENV_PROXY: "1" },
      signal,
      timeoutMs: LONGEST_MS,
    },
  );
  if (ended.code === 0) {
    step.done(`Installed Pulumi ${release.version} with the official installer`);
    return { ok: true };
  }
  const reason = ended.timedOut
    ? `no end within ${LONGEST_MS / 60_000} minutes`
    : (ended.lastLines.at(-1) ?? "no reason given");
  step.failed(`Official installer: ${reason}`);
  return { ok: false, reason };
};
