import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { endWith, goneWith, markedWith, markVariable } from "../support/processes.js";
import { withSlowness } from "../support/slowness.js";

/** How often each command is killed, and how often it is stopped: more on demand, each later than the first. */
const rounds = Number(process.env.KILL_ROUNDS ?? 1);
/** In short runs a command is killed, the next one is stopped, and the next one is stopped twice. */
const isShort = process.env.KILL_ROUNDS === undefined;
const seed = Number(process.env.KILL_SEED ?? 20_261_125);

const program = `
const { Authentication, Channel } = require("pulumi-conversation");
const authentication = new Authentication("auth", { basicAuth: { username: "hub", password: "pw" } });
for (const name of ["a", "b", "c"])
  new Channel(name, { type: "custom." + name, displayName: name + (process.env.CHANGED ?? ""), icon: "aVZC" });
`;

let project: EmulatedProject;
const saved = () => join(project.folder, "saved");
const backend = () => join(project.folder, "backend");

beforeAll(async () => {
  project = await emulatedProject(program);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  await project.byHand("POST", "/channels", {
    ...{ type: "custom.other", displayName: "Other", icon: "aVZC" },
  });
  cpSync(backend(), saved(), { recursive: true });
});

afterAll(() => project?.close());

/** As it was before, whatever a command that writes has done. */
const restore = (): void => {
  rmSync(backend(), { recursive: true });
  cpSync(saved(), backend(), { recursive: true });
  // An export writes into a new folder only.
  rmSync(join(project.folder, "exported"), { recursive: true, force: true });
};

interface Interrupted {
  readonly args: readonly string[];
  /** Exit code of the next run. */
  readonly code: number;
  /** Whether it may write into the state. */
  readonly writes?: true;
}

const commands: Readonly<Record<string, Interrupted>> = {
  rehearse: { args: ["rehearse"], code: 0 },
  drift: { args: ["drift"], code: 2 },
  "export --prove": { args: ["export", "--out", "exported", "--prove"], code: 0 },
  "import --apply": { args: ["import", "--apply"], code: 0, writes: true },
  repair: { args: ["repair", "--apply"], code: 0, writes: true },
};

/** How long a command may take to end that is asked once, and after it was asked twice. */
const stopMs = 10_000;
const secondStopMs = 4000;
/** Signals that come sooner after one another count as one. */
const sameSignalMs = 300;

/** Starts a command, and goes on so many milliseconds after it has started another process, if it still runs. */
const started = async ({ args }: Interrupted, afterMs: number, TMPDIR: string) => {
  const mark = randomUUID();
  const child = project.startTool(args, { TMPDIR, CHANGED: "!", [markVariable]: mark });
  const errors = text(child.stderr);
  const ended = once(child, "exit");
  while (child.exitCode === null && markedWith(mark).length < 2) await pause(3);
  await Promise.race([pause(afterMs), ended]);
  return { child, ended, errors, mark };
};

type Started = Awaited<ReturnType<typeof started>>;

/** What it started may run to its end, and nothing is lost by it. */
const kill = async ({ writes }: Interrupted, { child, ended, mark }: Started): Promise<void> => {
  child.kill("SIGKILL");
  await ended;
  if (writes) await goneWith(mark);
  await endWith(mark);
};

/** It ends in time, at once after the second signal, and takes what it started with it. */
const stop =
  (signal: NodeJS.Signals, twice: boolean) =>
  async (command: Interrupted, { child, ended, errors, mark }: Started): Promise<void> => {
    child.kill(signal);
    // More often than twice: a busy process may see two signals as one.
    const again = setInterval(() => twice && child.kill(signal), sameSignalMs + 50);
    const { result: took, slowness } = await withSlowness(async () => {
      const begun = performance.now();
      await ended;
      return performance.now() - begun;
    });
    clearInterval(again);
    expect(took / slowness).toBeLessThan(twice ? secondStopMs : stopMs);
    expect(markedWith(mark)).toEqual([]);
    // Without a code: before it could listen. With its own: the signal came when all was done.
    expect([null, 130, command.code], await errors).toContain(child.exitCode);
    expect(await errors).not.toMatch(/^ +at .+:\d+/m);
  };

const ways = [kill, stop("SIGTERM", false), stop("SIGINT", true)];

/** Runs the command to its end, after what it asks for: no lock, and a repair. */
const rerun = async ({ args, writes }: Interrupted, TMPDIR: string) => {
  const first = await project.tool(args, { TMPDIR, CHANGED: "!" });
  if (!writes || !/pulumi cancel|conversation repair/.test(first.errors)) return first;
  await project.release();
  await project.tool(["repair", "--apply"], { TMPDIR });
  return project.tool(args, { TMPDIR, CHANGED: "!" });
};

test.each(Object.entries(commands))(
  `killed, or stopped once or twice, ${rounds} times each: the next run is clean: %s`,
  { timeout: rounds * 600_000 },
  async (name, command) => {
    const TMPDIR = join(project.folder, `tmp-${name.replaceAll(/\W+/g, "-")}`);
    mkdirSync(TMPDIR);
    const index = Object.keys(commands).indexOf(name);
    const delays = fc.sample(fc.noBias(fc.integer({ min: 0, max: 4000 })), {
      numRuns: rounds,
      seed,
    });
    for (const [round, delay] of delays.entries())
      for (const way of isShort ? ways.slice(index % 3).slice(0, 1) : ways) {
        restore();
        const before = project.state();
        await way(command, await started(command, round === 0 ? 0 : delay, TMPDIR));
        if (!command.writes) expect(project.state(), `seed ${seed}, ${delay} ms`).toBe(before);
      }
    rmSync(join(project.folder, "exported"), { recursive: true, force: true });
    const { code, output, errors } = await rerun(command, TMPDIR);
    expect(code, output + errors).toBe(command.code);
    expect(readdirSync(TMPDIR).filter((each) => /conversation-/.test(each))).toEqual([]);
  },
);
