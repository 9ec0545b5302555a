import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { chaosProgram, disturbedUp, namesOf, round } from "../support/chaos-rounds.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { follow, guideCommands } from "../support/guide-commands.js";
import { descendants, isAlive, killTree } from "../support/processes.js";

/** How many kill points are tried: more on demand. */
const rounds = Number(process.env.REPAIR_ROUNDS ?? 2);
const seed = Number(process.env.REPAIR_SEED ?? 20_261_122);

const program = `
const { Authentication, ClientApplication, Participant } = require("pulumi-conversation");
const authentication = new Authentication("auth", { basicAuth: { username: "hub", password: "a-secret" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const application = new ClientApplication("app", { roles: [{ ...role, authentication, headers: { "X-Key": "another-secret" } }] });
new Participant("bot", { type: "custom_bot", application });
`;

let project: EmulatedProject;

afterEach(() => project?.close());

const until = async (what: () => Promise<boolean>): Promise<void> => {
  while (!(await what())) await pause(50);
};

const up = ["up", "--yes", "--skip-preview"];

/** An `up` that waits for ever for the answer to the creation of the client application, which is made. */
const hanging = async () => {
  project = await emulatedProject(program);
  await project.faults({ on: "POST /clientapplications", kind: "drip" });
  const started = project.start(up);
  await until(async () => (await project.objects("clientapplications")).length === 1);
  return started;
};

const pending = (): readonly unknown[] =>
  JSON.parse(project.state()).checkpoint.latest.pending_operations ?? [];

const repaired = async (...args: string[]) => {
  const { code, output, errors } = await project.tool(["repair", "--json", ...args]);
  return { code, errors, ...(output ? JSON.parse(output) : {}) };
};

test("a killed creation: the steps are shown, then done; the state is as if nothing had happened", async () => {
  const { child, ended } = await hanging();
  const providers = descendants(child.pid ?? 0, "dynamic-provider");
  child.kill("SIGKILL");
  await ended;
  const before = { state: project.state(), writes: await project.writes() };

  const shown = await repaired();
  expect(shown).toMatchObject({
    code: 0,
    project: "shop",
    stack: "prod",
    applied: false,
    left: [],
  });
  const [application] = await project.objects("clientapplications");
  expect(shown.steps).toEqual([
    { action: "end-process", pid: expect.any(Number) },
    { action: "cancel", by: expect.stringContaining(`process ${child.pid}`) },
    expect.objectContaining({ action: "record", kind: "ClientApplication", id: application?.id }),
  ]);
  expect({ state: project.state(), writes: await project.writes() }).toEqual(before);
  const { output } = await project.tool(["repair"]);
  for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(output).toContain("To do all this: pulumi-conversation repair --apply");

  const done = await repaired("--apply");
  expect(done.code).toBe(0);
  expect(done.steps.every((step: { done?: boolean }) => step.done === true)).toBe(true);
  expect(providers.filter(isAlive)).toEqual([]);
  expect(pending()).toEqual([]);
  expect(await project.writes()).toEqual(before.writes);
  expect(project.state()).not.toMatch(/a-secret|another-secret/);

  expect(await repaired()).toMatchObject({ code: 0, steps: [], notes: [], left: [] });
  const next = await project.succeed(up);
  expect(next).toMatch(/\+ 1 created\s+4 unchanged/);
  expect(await project.objects("clientapplications")).toHaveLength(1);
  await project.succeed(["preview", "--expect-no-changes"]);
  await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
  // The dependencies are those of the program, so the users go first.
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect((await project.log()).filter(({ status }) => status >= 400)).toEqual([]);
});

test("while a run is at work nothing is looked at or changed", async () => {
  const { child, ended } = await hanging();
  const calls = (await project.log()).length;
  for (const args of [[], ["--apply"], ["--apply", "--ignore-lock"]]) {
    const { code, errors } = await repaired(...args);
    // On a busy machine the run may have given up waiting for its answer meanwhile.
    if (child.exitCode !== null) break;
    expect(code).toBe(1);
    expect(errors).toContain(`A run is at work on the stack shop/prod (`);
    expect(errors).toContain(`process ${child.pid}`);
  }
  if (child.exitCode === null) expect(await project.log()).toHaveLength(calls);
  killTree(child);
  await ended;
});

test("the guide about killed runs does what it says", async () => {
  const { child, ended } = await hanging();
  child.kill("SIGKILL");
  await ended;
  const lines = guideCommands("killed-run");
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines)
    expect({ line, ...(await follow(project, line)) }).toMatchObject({ line, code: 0 });
  await project.succeed(["preview", "--expect-no-changes"]);
  expect(await project.objects("clientapplications")).toHaveLength(1);
});

const kill = fc.record({
  played: round.filter(({ kill: moment }) => moment !== null),
  /** Whether what the command line started dies with it. */
  whole: fc.boolean(),
  /** It is killed while the answer to a creation of this kind is under way, if the run makes one. */
  during: fc.option(fc.constantFrom(...resources.map(({ collection }) => collection)), { freq: 3 }),
});

type KillPoint = typeof kill extends fc.Arbitrary<infer T> ? T : never;

/** An `up` that is killed; says whether it was. */
const killed = async ({ played, whole, during }: KillPoint): Promise<boolean> => {
  if (!during) {
    const arrived = async (count: number, signal: AbortSignal): Promise<void> => {
      const last = (await project.log()).length + count;
      while (!signal.aborted && (await project.log()).length < last) await pause(20);
    };
    return disturbedUp(project, played, { arrived }, whole);
  }
  await project.faults({ on: `POST /${during}`, kind: "drip" });
  const there = (await project.objects(during)).length;
  const arrived = async (_: number, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await project.objects(during)).length <= there) await pause(50);
  };
  const moment = { ...played, kill: { afterCalls: 1 } };
  const wasKilled = await disturbedUp(project, moment, { arrived }, whole);
  await project.control("DELETE", "/faults");
  return wasKilled;
};

const countOf = (steps: readonly { readonly action: string }[], wanted: string): number =>
  steps.filter(({ action }) => action === wanted).length;

test(`${rounds} kill points are repaired without a duplicate`, {
  timeout: rounds * 120_000,
}, async () => {
  project = await emulatedProject(chaosProgram);
  let [kills, records, notes] = [0, 0, 0];
  const points = fc.sample(fc.infiniteStream(kill), { numRuns: 1, seed })[0] ?? [];
  let number = 0;
  for (const point of points) {
    if (kills === rounds) break;
    number += 1;
    const { played } = point;
    const at = `seed ${seed}, round ${number}: ${JSON.stringify(point)}`;
    if (await killed(point)) kills += 1;
    const done = await repaired("--apply");
    expect({ at, ...done }).toMatchObject({ code: 0, left: [] });
    records += countOf(done.steps, "record");
    notes += countOf(done.steps, "forget");
    expect({ at, pending: pending() }).toEqual({ at, pending: [] });
    const found = JSON.parse((await project.tool(["orphans", "--json"])).output);
    expect({ at, found }).toEqual({ at, found: [] });
    const { code, output } = await project.pulumi(up, {
      WANT: played.names.join(),
      VERSION: String(played.version),
    });
    expect({ at, code, output: code === 0 ? "" : output }).toEqual({ at, code: 0, output: "" });
    const names = namesOf(await project.objects(), played.version);
    expect({ at, names }).toEqual({ at, names: [...played.names].sort() });
  }
  console.log(`killed ${kills} times, ${records} objects written, ${notes} notes taken off`);
});
