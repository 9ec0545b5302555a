import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { isRunning } from "../../provider/pulumi-cli/processes.js";
import { chaosProgram, namesOf, type Round, upOf } from "../support/chaos-rounds.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { follow, guideCommands } from "../support/guide-commands.js";
import {
  type KillPoint,
  killedRepair,
  killedUp,
  killPoint,
  repairKill,
} from "../support/kill-points.js";
import { stopProviders } from "../support/processes.js";

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

test("while a run is at work it refuses; once it was killed, the guide brings all in order", async () => {
  const { child, ended } = await hanging();
  const providers = stopProviders(child);
  const calls = (await project.log()).length;
  for (const args of [[], ["--apply", "--ignore-lock"]]) {
    const { code, errors } = await repaired(...args);
    expect(code).toBe(1);
    expect(errors).toContain(`A run is at work on the stack shop/prod (`);
    expect(errors).toContain(`process ${child.pid}`);
  }
  expect(await project.log()).toHaveLength(calls);

  // The system would end a stopped process together with its parent.
  for (const pid of providers) process.kill(pid, "SIGCONT");
  child.kill("SIGKILL");
  await ended;
  const before = { state: project.state(), writes: await project.writes() };
  const shown = await repaired();
  expect(shown).toMatchObject({
    ...{ code: 0, project: "shop", stack: "prod", applied: false, left: [] },
  });
  const [application] = await project.objects("clientapplications");
  expect(shown.steps).toEqual([
    { action: "end-process", pid: expect.any(Number) },
    { action: "cancel", by: expect.stringContaining(`process ${child.pid}`) },
    expect.objectContaining({ action: "record", kind: "ClientApplication", id: application?.id }),
  ]);

  const rehearsed = JSON.parse((await project.tool(["rehearse", "--json"])).output);
  expect(rehearsed).toMatchObject({
    outcome: { passes: true, objects: 3 },
    notes: expect.arrayContaining([
      "The stack is locked: a run may be changing what was just read.",
      expect.stringContaining("A run was cut off: the state notes 1 operation as under way."),
    ]),
  });

  const [look = "", apply = "", ...further] = guideCommands("killed-run");
  const { code, output } = await follow(project, look);
  expect({ code, state: project.state(), writes: await project.writes() }).toEqual({
    ...{ code: 0, ...before },
  });
  for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(output).toContain("To do all this: pulumi-conversation repair --apply");

  expect(await follow(project, apply)).toMatchObject({ code: 0 });
  expect(providers.filter(isRunning)).toEqual([]);
  expect(pending()).toEqual([]);
  expect(await project.writes()).toEqual(before.writes);
  expect(project.state()).not.toMatch(/a-secret|another-secret/);
  expect(await repaired()).toMatchObject({ code: 0, steps: [], notes: [], left: [] });

  expect(further.length).toBeGreaterThan(0);
  for (const line of further)
    expect({ line, ...(await follow(project, line)) }).toMatchObject({ line, code: 0 });
  expect(await project.objects("clientapplications")).toHaveLength(1);
  await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
  await project.succeed(["preview", "--expect-no-changes"]);
  // The dependencies are those of the program, so the users go first.
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect((await project.log()).filter(({ status }) => status >= 400)).toEqual([]);
});

const always = { names: ["auth", "app"], version: 0, kill: null };

interface Repaired {
  readonly steps: readonly { readonly action: string }[];
  readonly notes: readonly string[];
}

const countOf = ({ steps }: Repaired, wanted: string): number =>
  steps.filter(({ action }) => action === wanted).length;

/** What is left over and in no note of a repair. */
const untold = async ({ notes }: Repaired): Promise<readonly unknown[]> => {
  const found: { readonly id: string }[] = JSON.parse(
    (await project.tool(["orphans", "--json"])).output,
  );
  return found.filter(({ id }) => !notes.join("\n").includes(id));
};

/** Repairs after a kill; then nothing is under way, and whatever is left over is told. */
const repairAfter = async (at: string, { victim, lagging }: KillPoint): Promise<Repaired> => {
  const done = await repaired("--apply");
  expect({ at, ...done }).toMatchObject({ code: 0, left: [] });
  expect({ at, pending: pending() }).toEqual({ at, pending: [] });
  // What a list does not show yet, and what a provider made that was killed alone, has no note.
  if (victim !== "provider" && !lagging)
    expect({ at, notes: done.notes }).toEqual({ at, notes: [] });
  await project.control("DELETE", "/faults");
  const final = lagging ? await repaired("--apply") : done;
  expect({ at, untold: await untold(final) }).toEqual({ at, untold: [] });
  return done;
};

test(`${rounds} kill points are repaired without a duplicate`, {
  timeout: rounds * 600_000,
}, async () => {
  project = await emulatedProject(chaosProgram);
  const killed: Record<string, number> = {};
  let [kills, records, notes] = [0, 0, 0];
  const points = fc.sample(fc.infiniteStream(fc.tuple(killPoint, repairKill)), {
    ...{ numRuns: 1, seed },
  })[0];
  let [number, from]: [number, Round] = [0, { ...always, names: [] }];
  for (const [point, kill] of points ?? []) {
    if (kills >= rounds) break;
    number += 1;
    const at = `seed ${seed}, round ${number}: ${JSON.stringify([point, kill])}`;
    const action = await killedUp(project, from, point);
    if (action) kills += 1;
    if (kill && (await killedRepair(project, kill))) {
      const which = `repair ${kill.during}`;
      killed[which] = (killed[which] ?? 0) + 1;
    }
    const kind = `${action} ${point.victim} ${point.answer}`;
    killed[kind] = (killed[kind] ?? 0) + 1;
    const done = await repairAfter(at, point);
    records += countOf(done, "record");
    notes += countOf(done, "forget");
    const { to } = point;
    const { args, environment } = upOf(to);
    const { code, output } = await project.pulumi(args, environment);
    expect({ at, code, output: code === 0 ? "" : output }).toEqual({ at, code: 0, output: "" });
    const names = namesOf(await project.objects(), to.version);
    expect({ at, names }).toEqual({ at, names: [...to.names].sort() });
    from = to;
  }
  console.log(`killed ${kills} times, ${records} objects written, ${notes} notes taken off`);
  console.log(JSON.stringify(killed));
});
