import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { leakingFiles } from "../support/left-behind.js";
import { oddAccount, oddCanary } from "../support/odd-account.js";
import { descendants, isRunning, killTree } from "../support/processes.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

const main = join(__dirname, "..", "..", "dist", "cli", "main.js");

/** When an import is killed, and what of it. */
interface ImportKill {
  /** It lists the service, has started Pulumi, Pulumi has the lock, or has written the state. */
  readonly during: "list" | "engine" | "lock" | "state";
  /** The command line alone, Pulumi alone, everything, or all of it by Ctrl-C. */
  readonly victim: "itself" | "engine" | "all" | "interrupted";
}

const importKill: fc.Arbitrary<ImportKill> = fc.record({
  during: fc.constantFrom("list", "engine", "lock", "state"),
  victim: fc.constantFrom("itself", "engine", "all", "interrupted"),
});

const importWords = ["import", "--apply"];

/** The locks of the stack `prod`. */
const locksOf = ({ folder }: CliProject): readonly string[] => {
  const locks = join(folder, "backend", ".pulumi", "locks", "organization", "shop", "prod");
  return existsSync(locks) ? readdirSync(locks) : [];
};

/** An `import` that is killed. @returns whether it was, and the engine that it had started */
const killedImport = async (
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
    engine: () => under("import --file").length > 0,
    lock: () => locksOf(project).length > 0,
    state: () => project.state() !== state,
  };
  while (child.exitCode === null && !reached[during]()) await pause(3);
  const wasKilled = child.exitCode === null;
  const engines = under("import --file");
  if (wasKilled && victim === "itself") child.kill("SIGKILL");
  if (wasKilled && victim === "all") killTree(child);
  if (wasKilled && victim === "interrupted") child.kill("SIGINT");
  if (victim === "engine")
    for (const pid of engines) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  await ended;
  return { wasKilled, engines };
};

/** How many imports are killed: more on demand. */
const rounds = Number(process.env.IMPORT_KILLS ?? 1);
const seed = Number(process.env.IMPORT_SEED ?? 20_261_124);

let project: CliProject;
let service: StrictService;

afterEach(async () => {
  project?.remove();
  await service?.close();
});

const latest = () => JSON.parse(project.state()).checkpoint.latest ?? {};

/** What the state holds of the service, and what it notes as under way. */
const held = () => {
  const { resources = [], pending_operations: pending } = latest();
  const ids: string[] = resources.flatMap(({ id }: { id?: string }) => id ?? []);
  return { ids: ids.filter((id) => /^(\d)\1{7}-/.test(id)).sort(), pending: pending ?? [] };
};

/** Imports what is left, and repairs where it is told to, as a person would. */
const brought = async (at: string, environment: Readonly<Record<string, string>>) => {
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    const { code, errors } = await project.tool(importWords, environment);
    if (code === 0 || errors.includes("There is nothing to import")) return attempt;
    const advice = /pulumi cancel|conversation repair/;
    expect({ at, errors }).toEqual({ at, errors: expect.stringMatching(advice) });
    expect({ at, errors }).not.toEqual({ at, errors: expect.stringMatching(/^ {4}at /m) });
    await project.release();
    await project.tool(["repair", "--apply"], environment);
  }
  throw new Error(`${at}: never done`);
};

test(`${rounds} killed imports: nothing is lost, nothing is there twice, no secret is on disk`, {
  timeout: rounds * 600_000,
}, async () => {
  service = await startStrictService("echo");
  const account = oddAccount(2);
  for (const [collection, list] of Object.entries(account))
    for (const object of list) service.plant(collection, { ...object, id: String(object.id) });
  const free = { CONVERSATION_PLAN: "enterprise", ...withoutPace };
  project = await cliProject("", { ...service.environment, ...free });
  const TMPDIR = join(project.folder, "tmp");
  mkdirSync(TMPDIR);
  const ids = Object.values(account)
    .flatMap((list) => list.map(({ id }) => String(id)))
    .sort();
  const kills = fc.sample(importKill, { numRuns: rounds, seed });
  for (const [round, kill] of kills.entries()) {
    const at = `seed ${seed}, round ${round + 1}: ${JSON.stringify(kill)}`;
    await project.succeed(["stack", "rm", "prod", "--yes", "--force"]);
    await project.succeed(["stack", "init", "prod"]);
    const { engines } = await killedImport(project, service, kill, { TMPDIR });
    const attempts = await brought(at, { TMPDIR });
    // A Pulumi whose command was killed ends soon after it, by itself or not, and leaves no work half done.
    while (engines.some(isRunning)) await pause(50);
    expect({ at, ...held() }).toEqual({ at, ids, pending: [] });
    // One that was too slow to end by itself leaves its lock.
    await project.release();
    // What a killed command left goes with the next import that has something to do.
    const [one] = latest().resources.filter(({ id }: { id?: string }) => ids.includes(id ?? ""));
    await project.succeed(["state", "delete", one.urn, "--yes"]);
    expect(await project.tool(importWords, { TMPDIR })).toMatchObject({
      code: 0,
    });
    expect({ at, ...held() }).toEqual({ at, ids, pending: [] });
    const { code, output } = await project.tool(["drift", "--json"]);
    expect({ at, code, output: code === 0 ? "" : output }).toEqual({ at, code: 0, output: "" });
    expect(leakingFiles(project.folder, [oddCanary])).toEqual([]);
    expect(readdirSync(TMPDIR).filter((name) => name.startsWith("conversation-"))).toEqual([]);
    console.log(`${at}: ${attempts} more`);
  }
  expect(service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});
