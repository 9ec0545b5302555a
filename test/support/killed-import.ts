import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { isRunning } from "../../provider/pulumi-cli/processes.js";
import type { CliProject } from "./cli-project.js";
import { descendants, killTree } from "./processes.js";
import type { StrictService } from "./strict-service.js";

const main = join(__dirname, "..", "..", "dist", "cli", "main.js");

/** When an import is killed, and what of it. */
export interface ImportKill {
  /** It lists the service, has started Pulumi or its converter, Pulumi has the lock, or has written the state. */
  readonly during: "list" | "engine" | "converter" | "lock" | "state";
  /** The command line alone, Pulumi alone, everything, or all of it by Ctrl-C. */
  readonly victim: "itself" | "engine" | "all" | "interrupted";
}

export const importKill: fc.Arbitrary<ImportKill> = fc.record({
  during: fc.constantFrom("list", "engine", "converter", "lock", "state"),
  victim: fc.constantFrom("itself", "engine", "all", "interrupted"),
});

export const importWords = ["import", "--apply", "--with-secrets"];

/** The locks of the stack `prod`. */
export const locksOf = ({ folder }: CliProject): readonly string[] => {
  const locks = join(folder, "backend", ".pulumi", "locks", "organization", "shop", "prod");
  return existsSync(locks) ? readdirSync(locks) : [];
};

/** An `import` that is killed. @returns whether it was, and the engine that it had started */
export const killedImport = async (
  project: CliProject,
  service: StrictService,
  { during, victim }: ImportKill,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly wasKilled: boolean; readonly engines: readonly number[] }> => {
  const [calls, state] = [service.calls.length, project.state()];
  const child = spawn(process.execPath, [main, ...importWords], {
    cwd: project.folder,
    env: { ...project.environment, ...environment },
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const under = (words: string) => descendants(child.pid ?? 0, words.replace(" ", "\0"));
  const reached: Readonly<Record<ImportKill["during"], () => boolean>> = {
    list: () => service.calls.length > calls,
    engine: () => under("import --from").length > 0,
    converter: () => under("converter.js").length > 0,
    lock: () => locksOf(project).length > 0,
    state: () => project.state() !== state,
  };
  while (child.exitCode === null && !reached[during]()) await pause(3);
  const wasKilled = child.exitCode === null;
  const engines = under("import --from");
  if (wasKilled && victim === "itself") child.kill("SIGKILL");
  if (wasKilled && victim === "all") killTree(child);
  if (wasKilled && victim === "interrupted") child.kill("SIGINT");
  if (victim === "engine")
    for (const pid of engines) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  await ended;
  return { wasKilled, engines };
};
