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

/** How often each command is killed, and how often it is stopped: more on demand. */
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
let saved: string;
let upMs: number;

const backend = (): string => join(project.folder, "backend");

beforeAll(async () => {
  project = await emulatedProject(program);
  const begun = performance.now();
  await project.succeed(["up", "--yes", "--skip-preview"]);
  upMs = performance.now() - begun;
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
  // An export writes into a new folder only.
  rmSync(join(project.folder, "exported"), { recursive: true, force: true });
};

/** A command that is interrupted. */
interface Interrupted {
  readonly args: readonly string[];
  /** How long it takes at least, in runs of `up`: in short runs it is interrupted in this time. */
  readonly ups: number;
  /** Exit code of the next run. */
  readonly code: number;
  /** Whether it may write into the state. */
  readonly writes?: true;
}

const commands: Readonly<Record<string, Interrupted>> = {
  rehearse: { args: ["rehearse"], ups: 2, code: 0 },
  forecast: { args: ["forecast"], ups: 1, code: 0 },
  drift: { args: ["drift"], ups: 0.3, code: 2 },
  "export --prove": { args: ["export", "--out", "exported", "--prove"], ups: 1.5, code: 0 },
  "import --apply": {
    args: ["import", "--apply"],
    ups: 0.8,
    code: 0,
    writes: true,
  },
  repair: { args: ["repair", "--apply"], ups: 0.7, code: 0, writes: true },
  orphans: { args: ["orphans", "--delete"], ups: 0.4, code: 0, writes: true },
};

/** How long a command may take to end that is asked once, and after it was asked twice. */
const stopMs = 10_000;
const secondStopMs = 4000;
/** Signals that come sooner after one another count as one. */
const sameSignalMs = 300;

/** Milliseconds that something takes, as on a machine at rest. */
const timeAtRest = async (work: () => Promise<unknown>): Promise<number> => {
  const { result, slowness } = await withSlowness(async () => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  });
  return result / slowness;
};

/** When a command is interrupted: after some milliseconds, or later, when it has started something. */
interface Moment {
  readonly ms: number;
  readonly whenStarted: boolean;
}

type Child = ReturnType<EmulatedProject["startTool"]>;

/** What befalls a command; resolves when it has ended. */
type Interrupt = (child: Child, ended: Promise<unknown>) => Promise<unknown>;

/** Interrupts a command. @returns how many processes it had started then, and how long it took if it had ended before */
const interrupt = async (
  { args }: Interrupted,
  { ms, whenStarted }: Moment,
  how: Interrupt,
  TMPDIR: string,
) => {
  const mark = randomUUID();
  const child = project.startTool(args, { TMPDIR, CHANGED: "!", [markVariable]: mark });
  const errors = text(child.stderr);
  const begun = performance.now();
  const ended = once(child, "exit");
  await Promise.race([pause(ms), ended]);
  let count = markedWith(mark).length - 1;
  while (whenStarted && child.exitCode === null && count < 1) {
    await pause(3);
    count = markedWith(mark).length - 1;
  }
  const tookMs = child.exitCode === null ? undefined : performance.now() - begun;
  await how(child, ended);
  return { mark, count, tookMs, code: child.exitCode, errors: await errors };
};

/** Interrupts a command when a part of its time is over; if it ends before, it takes less time than was thought. */
const interruptAt = async (
  command: Interrupted,
  part: number,
  whole: { ms: number },
  { TMPDIR, whenStarted, how }: { TMPDIR: string; whenStarted: boolean; how: Interrupt },
) => {
  for (;;) {
    restore();
    const ms = Math.round(part * whole.ms);
    const run = await interrupt(command, { ms, whenStarted }, how, TMPDIR);
    if (run.tookMs === undefined) return { ...run, ms };
    whole.ms = Math.min(run.tookMs, whole.ms * 0.9);
  }
};

/** Runs the command to its end, after what it asks for: no lock, and a repair. */
const rerun = async ({ args, writes }: Interrupted, TMPDIR: string) => {
  const first = await project.tool(args, { TMPDIR, CHANGED: "!" });
  if (!writes || !/pulumi cancel|conversation repair/.test(first.errors)) return first;
  await project.release();
  await project.tool(["repair", "--apply"], { TMPDIR });
  return project.tool(args, { TMPDIR, CHANGED: "!" });
};

interface Round {
  readonly command: Interrupted;
  readonly round: number;
  /** Which moment this was, for a message. */
  readonly at: string;
  /** Interrupts a run of the command. */
  readonly run: (how: Interrupt) => ReturnType<typeof interruptAt>;
}

/** What it started may run to its end, and nothing is lost by it. @returns how many processes that were */
const killed = async ({ command, run }: Round): Promise<number> => {
  const { mark, count } = await run((child, ended) => {
    child.kill("SIGKILL");
    return ended;
  });
  if (command.writes) await goneWith(mark);
  await endWith(mark);
  return count;
};

/** It ends in time, at once after the second signal, and takes what it started with it. */
const stopped =
  (twice: boolean) =>
  async ({ command, round, at, run }: Round): Promise<number> => {
    const signal = (round % 2 === 0) === twice ? "SIGTERM" : "SIGINT";
    let took = 0;
    const { mark, count, code, errors } = await run(async (child, ended) => {
      child.kill(signal);
      if (twice) {
        await Promise.race([pause(sameSignalMs + 50 + ((round * 397) % 1500)), ended]);
        child.kill(signal);
      }
      took = await timeAtRest(() => ended);
    });
    const inTime = took < (twice ? secondStopMs : stopMs);
    const left = markedWith(mark).length;
    // Without a code: before it could listen. With its own: the signal came when all was done.
    const said = [null, 130, command.code].includes(code) ? "" : `${code}: ${errors}`;
    const stack = /^ +at .+:\d+/m.exec(errors)?.[0];
    expect({ at, signal, twice, inTime: inTime || took, left, said, stack }).toEqual({
      ...{ at, signal, twice, inTime: true, left: 0, said: "", stack: undefined },
    });
    return count;
  };

test.each(Object.keys(commands))(
  `killed, or stopped once or twice, ${rounds} times each: the next run is clean: %s`,
  { timeout: rounds * 240_000 },
  async (name) => {
    const command = commands[name];
    if (!command) throw new Error(name);
    const TMPDIR = join(project.folder, `tmp-${name.replaceAll(/\W+/g, "-")}`);
    mkdirSync(TMPDIR);
    restore();
    const before = project.state();
    const begun = performance.now();
    if (!isShort) expect(await rerun(command, TMPDIR)).toMatchObject({ code: command.code });
    const whole = { ms: isShort ? command.ups * upMs : performance.now() - begun };
    let most = 0;
    // Each moment of the run is as likely as any other.
    const parts = fc
      .noBias(fc.integer({ min: 20, max: 980 }))
      .map((thousandths) => thousandths / 1000);
    const index = Object.keys(commands).indexOf(name);
    const all = [killed, stopped(false), stopped(true)];
    const ends = isShort ? all.slice(index % 3).slice(0, 1) : all;
    for (const [place, part] of fc
      .sample(parts, { numRuns: ends.length * rounds, seed })
      .entries()) {
      const round = Math.floor(place / ends.length);
      const at = `seed ${seed}, place ${place}, at ${part} of ${Math.round(whole.ms)} ms`;
      const whenStarted = place === 0;
      const run = (how: Interrupt) =>
        interruptAt(command, part, whole, { TMPDIR, whenStarted, how });
      const count = (await ends[place % ends.length]?.({ command, round, at, run })) ?? 0;
      most = Math.max(most, count);
      if (!command.writes) expect({ at, state: project.state() }).toEqual({ at, state: before });
    }
    rmSync(join(project.folder, "exported"), { recursive: true, force: true });
    const { code, output, errors } = await rerun(command, TMPDIR);
    expect({ code, said: code === command.code ? "" : output + errors }).toEqual({
      code: command.code,
      said: "",
    });
    expect(most).toBeGreaterThan(0);
    expect(readdirSync(TMPDIR).filter((each) => /conversation-/.test(each))).toEqual([]);
  },
);
