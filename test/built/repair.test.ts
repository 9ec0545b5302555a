import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { chaosProgram, namesOf, type Round, round, upOf } from "../support/chaos-rounds.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { follow, guideCommands } from "../support/guide-commands.js";
import { descendants, isRunning, killTree, stopProviders } from "../support/processes.js";

/** Kinds of the resources of `chaosProgram`, by their logical names. */
const kinds: Readonly<Record<string, readonly [kind: string, collection: string]>> = {
  auth: ["Authentication", "authentications"],
  app: ["ClientApplication", "clientapplications"],
  bot1: ["Participant", "participants"],
  bot2: ["Participant", "participants"],
  ch1: ["Channel", "channels"],
  ch2: ["Channel", "channels"],
  flow: ["Orchestration", "orchestrations"],
  shop: ["Account", "accounts"],
};

/** A change of the program, and the call at which its `up` is killed. */
interface KillPoint {
  readonly to: Round;
  /** What is replaced by force, if it is there before and after. */
  readonly replaced: string | null;
  /** Which of the writes of the run. */
  readonly which: number;
  /** Whose process is killed: the command line alone, with all that it started, or the provider's alone. */
  readonly victim: "engine" | "all" | "provider";
  /** What becomes of the call: done and answered, done without an answer, or not done. */
  readonly answer: "given" | "drip" | "drop-after-commit" | "hang";
  /** Whether the lists show what was before, until the repair is over. */
  readonly lagging: boolean;
}

const killPoint: fc.Arbitrary<KillPoint> = fc.record({
  to: round,
  replaced: fc.option(fc.constantFrom(...Object.keys(kinds)), { freq: 4 }),
  which: fc.nat(),
  victim: fc.constantFrom("engine", "all", "provider"),
  answer: fc.constantFrom("given", "drip", "drop-after-commit", "hang"),
  lagging: fc.boolean(),
});

/** A write of a run, as faults and the log call it. */
interface Write {
  readonly action: "create" | "update" | "delete" | "replace";
  readonly on: string;
}

const endpoint = (method: string, name: string): string => {
  const [, collection = ""] = kinds[name] ?? [];
  return method === "POST" ? `POST /${collection}` : `${method} /${collection}/{id}`;
};

/** What an `up` from one round to the next writes. */
const writesOf = (from: Round, to: Round, replaced: string | null): readonly Write[] => {
  const [before, after] = [new Set(from.names), new Set(to.names)];
  const staying = [...after].filter((name) => before.has(name));
  const isReplaced = replaced !== null && staying.includes(replaced);
  return [
    ...[...after]
      .filter((name) => !before.has(name))
      .map((name) => ({ action: "create" as const, on: endpoint("POST", name) })),
    ...[...before]
      .filter((name) => !after.has(name))
      .map((name) => ({ action: "delete" as const, on: endpoint("DELETE", name) })),
    ...(to.version === from.version ? [] : staying)
      .filter((name) => !isReplaced || name !== replaced)
      .map((name) => ({ action: "update" as const, on: endpoint("PUT", name) })),
    ...(isReplaced ? [{ action: "replace" as const, on: endpoint("PUT", replaced) }] : []),
  ];
};

/** Each action as often as another, however many calls are of it. */
const chosen = (writes: readonly Write[], which: number): Write | undefined => {
  const actions = [...Map.groupBy(writes, ({ action }) => action).values()];
  const count = Math.max(1, actions.length);
  const calls = actions[which % count] ?? [];
  return calls[Math.floor(which / count) % Math.max(1, calls.length)];
};

const replaceOptions = (
  { token }: EmulatedProject,
  replaced: string | null,
  { action }: Write,
): readonly string[] => {
  const [kind = ""] = kinds[replaced ?? ""] ?? [];
  const urn = `urn:pulumi:prod::shop::${token(kind)}::${replaced}`;
  return action === "replace" ? ["--replace", urn] : [];
};

const lists = [...new Set(Object.values(kinds).map(([, collection]) => `GET /${collection}`))];
/** Longer than a run that is killed, and its repair, take. */
const lagMs = 3000;

/** An `up` that is killed at one of its calls. @returns what was killed; undefined: it ended before */
const killedUp = async (
  project: EmulatedProject,
  from: Round,
  { to, replaced, which, victim, answer, lagging }: KillPoint,
): Promise<Write["action"] | undefined> => {
  const writes = writesOf(from, to, replaced);
  const write = chosen(writes, which);
  if (!write) return undefined;
  const count = async (): Promise<number> => {
    const log = await project.log();
    return log.filter(({ method, template }) => `${method} ${template}` === write.on).length;
  };
  const before = await count();
  if (answer !== "given") await project.faults({ on: write.on, kind: answer });
  if (lagging)
    await project.faults(
      ...lists.map((on) => ({ on, kind: "stale-list", ms: lagMs, times: 1000 })),
    );
  const { args, environment } = upOf(to);
  const options = replaceOptions(project, replaced, write);
  const { child, ended } = project.start([...args, ...options], environment);
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver && (await count()) === before) await pause(20);
  const wasKilled = !isOver;
  if (wasKilled && victim === "provider")
    for (const pid of descendants(child.pid ?? 0, project.providerProcess))
      process.kill(pid, "SIGKILL");
  if (wasKilled && victim === "engine") child.kill("SIGKILL");
  if (wasKilled && victim === "all") killTree(child);
  await over;
  return wasKilled ? write.action : undefined;
};

/** When a repair is killed, and what of it. */
interface RepairKill {
  /** While it reads the state, lists the service, lets go of the lock or writes the state. */
  readonly during: "stack export" | "GET" | "cancel" | "stack import";
  /** The command line alone, or with the Pulumi that it started. */
  readonly victim: "itself" | "all";
}

const repairKill: fc.Arbitrary<RepairKill | null> = fc.option(
  fc.record({
    during: fc.constantFrom("stack export", "GET", "cancel", "stack import"),
    victim: fc.constantFrom("itself", "all"),
  }),
  { freq: 2 },
);

/** The command line of a process is its words with a NUL behind each. */
const wordsOf = (command: string): string => command.replace(" ", "\0");

/** A `repair --apply` that is killed. @returns whether it was: it may end before */
const killedRepair = async (
  project: EmulatedProject,
  { during, victim }: RepairKill,
): Promise<boolean> => {
  const calls = (await project.log()).length;
  const child = project.startTool(["repair", "--apply"]);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const isReached = async (): Promise<boolean> =>
    during === "GET"
      ? (await project.log()).length > calls
      : descendants(child.pid ?? 0, wordsOf(during)).length > 0;
  while (child.exitCode === null && !(await isReached())) await pause(5);
  const wasKilled = child.exitCode === null;
  const below = descendants(child.pid ?? 0, "");
  if (wasKilled && victim === "all") killTree(child);
  if (wasKilled && victim === "itself") child.kill("SIGKILL");
  await ended;
  // A person who looks again finds them at work at first; this waits for them.
  while (below.some(isRunning)) await pause(20);
  return wasKilled;
};

/** How many kill points are tried: more on demand. */
const rounds = Number(process.env.REPAIR_ROUNDS ?? 1);
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

const rehearsal = async () => JSON.parse((await project.tool(["rehearse", "--json"])).output);

const locked = "The stack is locked: a run may be changing what the rehearsal has just read.";

test("while a run is at work it refuses; once it was killed, the guide brings all in order", async () => {
  const { child, ended } = await hanging();
  const providers = stopProviders(child, project.providerProcess);
  const calls = (await project.log()).length;
  const { code: refused, errors } = await repaired("--apply");
  expect(refused).toBe(1);
  expect(errors).toContain("A run may be in progress on the stack shop/prod");
  expect(errors).toContain(`process ${child.pid}`);
  expect(await project.log()).toHaveLength(calls);

  // The system would end a stopped process together with its parent. What goes on must not reach the
  // command line, which would write its state.
  child.kill("SIGSTOP");
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
    { action: "cancel", by: expect.stringContaining(`process ${child.pid}`) },
    expect.objectContaining({ action: "record", kind: "ClientApplication", id: application?.id }),
  ]);

  expect(await rehearsal()).toMatchObject({
    outcome: { passes: true, objects: 3 },
    notes: expect.arrayContaining([
      locked,
      expect.stringContaining("was interrupted: the state contains pending operations."),
    ]),
  });

  const [look = "", apply = "", ...further] = guideCommands("killed-run");
  const { code, output } = await follow(project, look);
  expect({ code, state: project.state(), writes: await project.writes() }).toEqual({
    ...{ code: 0, ...before },
  });
  for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(output).toContain("To carry out these steps, run: npx pulumi-conversation repair --apply");

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
  await project.succeed(["preview", "--refresh", "--expect-no-changes"]);
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
