import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markedProcesses } from "../../cli/process/process-group.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { withSlowness } from "../support/slowness.js";

/** How often each command is killed: more on demand. */
const rounds = Number(process.env.KILL_ROUNDS ?? 4);
const seed = Number(process.env.KILL_SEED ?? 20_261_125);

const program = `
const { Authentication, Channel } = require("pulumi-conversation");
const authentication = new Authentication("auth", { basicAuth: { username: "hub", password: "pw" } });
for (const name of ["a", "b", "c"])
  new Channel(name, { type: "custom." + name, displayName: name + (process.env.CHANGED ?? ""), icon: "aVZC" });
`;

const variable = "KILLED_ROUND";

let project: EmulatedProject;
let saved: string;

const backend = (): string => join(project.folder, "backend");

beforeAll(async () => {
  project = await emulatedProject(program);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  await project.byHand("POST", "/channels", {
    ...{ type: "custom.other", displayName: "Other", icon: "aVZC" },
  });
  saved = join(project.folder, "saved");
  cpSync(backend(), saved, { recursive: true });
});

afterAll(() => project?.close());

/** As it was before, whatever a command that writes has done. */
const restore = (): void => {
  rmSync(backend(), { recursive: true });
  cpSync(saved, backend(), { recursive: true });
};

interface Killed {
  readonly args: readonly string[];
  /** Exit code of the next run. */
  readonly code: number;
  /** Whether it may write into the state. */
  readonly writes?: true;
}

const commands: Readonly<Record<string, Killed>> = {
  rehearse: { args: ["rehearse"], code: 0 },
  // Somebody made a channel by hand, which a rebuilt account would not have.
  drill: { args: ["drill"], code: 4 },
  forecast: { args: ["forecast"], code: 0 },
  drift: { args: ["drift", "--preview"], code: 2 },
  "export --prove": { args: ["export", "--out", "exported", "--prove"], code: 0 },
  "import --apply": { args: ["import", "--apply", "--skip-managed"], code: 0, writes: true },
  repair: { args: ["repair", "--apply"], code: 0, writes: true },
  orphans: { args: ["orphans", "--delete"], code: 0, writes: true },
};

const longestMs = 5000;

const started = (mark: string): readonly number[] => markedProcesses(variable, new Set([mark]));

/** Milliseconds until nothing is left of what was started, as on a machine at rest. */
const timeOfEnd = async (mark: string): Promise<number> => {
  const { result, slowness } = await withSlowness(async () => {
    const start = performance.now();
    while (started(mark).length > 0 && performance.now() - start < 60_000) await pause(20);
    return performance.now() - start;
  });
  return result / slowness;
};

/** When a command is killed: after some milliseconds, or later, when it has started something. */
interface Moment {
  readonly ms: number;
  readonly whenStarted: boolean;
}

/** Kills a command. @returns how many processes it had started then, and how long it took if it had ended before */
const kill = async ({ args }: Killed, { ms, whenStarted }: Moment, TMPDIR: string) => {
  const mark = randomUUID();
  const child = project.startTool(args, { TMPDIR, CHANGED: "!", [variable]: mark });
  const begun = performance.now();
  const ended = once(child, "exit");
  await Promise.race([pause(ms), ended]);
  while (whenStarted && child.exitCode === null && started(mark).length < 2) await pause(3);
  const count = started(mark).length - 1;
  const tookMs = child.exitCode === null ? undefined : performance.now() - begun;
  child.kill("SIGKILL");
  await ended;
  return { mark, count, tookMs };
};

/** Kills a command when a part of its time is over. The first run takes longer than those that follow. */
const killAt = async (
  command: Killed,
  part: number,
  whole: { ms: number },
  { TMPDIR, whenStarted }: { readonly TMPDIR: string; readonly whenStarted: boolean },
) => {
  for (;;) {
    restore();
    const ms = Math.round(part * whole.ms);
    const killed = await kill(command, { ms, whenStarted }, TMPDIR);
    if (killed.tookMs === undefined) return { ...killed, ms };
    whole.ms = Math.min(killed.tookMs, whole.ms * 0.9);
  }
};

/** Runs the command to its end, after a repair where it asks for one. */
const rerun = async ({ args, writes }: Killed, TMPDIR: string) => {
  const first = await project.tool(args, { TMPDIR, CHANGED: "!" });
  if (!writes || !first.errors.includes("conversation repair")) return first;
  await project.tool(["repair", "--apply"], { TMPDIR });
  return project.tool(args, { TMPDIR, CHANGED: "!" });
};

test.each(Object.keys(commands))(
  `${rounds} times kill -9: nothing that it started outlives it, and the next run is clean: %s`,
  { timeout: rounds * 120_000 },
  async (name) => {
    const command = commands[name];
    if (!command) throw new Error(name);
    const TMPDIR = join(project.folder, `tmp-${name.replaceAll(/\W+/g, "-")}`);
    mkdirSync(TMPDIR);
    restore();
    const before = project.state();
    const begun = performance.now();
    expect(await rerun(command, TMPDIR)).toMatchObject({ code: command.code });
    const whole = { ms: performance.now() - begun };
    let most = 0;
    // Each moment of the run is as likely as any other.
    const part = fc
      .noBias(fc.integer({ min: 20, max: 980 }))
      .map((thousandths) => thousandths / 1000);
    const parts = fc.sample(part, { numRuns: rounds, seed });
    for (const [round, part] of parts.entries()) {
      const how = { TMPDIR, whenStarted: round === 0 };
      const { mark, count, ms } = await killAt(command, part, whole, how);
      const at = `seed ${seed}, round ${round + 1}, after ${ms} ms`;
      most = Math.max(most, count);
      const goneMs = await timeOfEnd(mark);
      expect({ at, count, gone: goneMs < longestMs ? true : goneMs }).toEqual({
        ...{ at, count, gone: true },
      });
      if (!command.writes) expect({ at, state: project.state() }).toEqual({ at, state: before });
    }
    const { code, output, errors } = await rerun(command, TMPDIR);
    expect({ code, said: code === command.code ? "" : output + errors }).toEqual({
      code: command.code,
      said: "",
    });
    expect(most).toBeGreaterThan(0);
    expect(readdirSync(TMPDIR).filter((each) => /conversation-/.test(each))).toEqual([]);
  },
);
