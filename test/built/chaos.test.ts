import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";
import { descendants, isAlive } from "../support/processes.js";

/** Rounds through the real engine: `npm run test:long` plays 50. */
const rounds = Number(process.env.CHAOS_ROUNDS ?? 3);

/** WANT holds the names of the resources that the program declares, VERSION their content. */
const program = `
const c = require("pulumi-conversation");
const want = new Set((process.env.WANT ?? "").split(","));
const description = "version " + process.env.VERSION;
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "p" } });
const app = new c.ClientApplication("app", { description, roles: [{ ...role, authentication: auth }] });
for (const name of ["bot1", "bot2"]) if (want.has(name)) new c.Participant(name, { description, type: "custom_bot", application: app });
for (const name of ["ch1", "ch2"]) if (want.has(name)) new c.Channel(name, { description, type: "custom." + name, displayName: name, icon: "aVZC" });
if (want.has("flow")) new c.Orchestration("flow", { description, applications: { agentConfiguration: { agents: [app] } } });
`;

const optional = ["bot1", "bot2", "ch1", "ch2", "flow"];
const collections = [
  "authentications",
  "clientapplications",
  "participants",
  "channels",
  "orchestrations",
];

const round = fc.record({
  want: fc.subarray(optional),
  version: fc.nat(3),
  faults: fc.array(
    fc.record({
      on: fc.constantFrom(
        ...collections.flatMap((name) => [
          `POST /${name}`,
          `PUT /${name}/{id}`,
          `DELETE /${name}/{id}`,
        ]),
      ),
      kind: fc.constantFrom(
        "drop-before-commit",
        "drop-after-commit",
        "truncate",
        "not-json",
        "no-id",
      ),
    }),
    { maxLength: 4 },
  ),
  killAfterMs: fc.option(fc.integer({ min: 200, max: 3500 }), { freq: 2 }),
});

let emulator: Emulator;
let project: CliProject;

type Snapshot = { objects: Record<string, { id: string; description?: string }[]> };

const snapshot = async (): Promise<Snapshot> =>
  (await (await fetch(`${emulator.controlUrl}/snapshot`)).json()) as Snapshot;
const control = (path: string, method: string, body?: unknown): Promise<Response> =>
  fetch(emulator.controlUrl + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });

beforeAll(async () => {
  emulator = await startEmulator();
  const before = await snapshot();
  const now = new Date().toISOString();
  const foreign = {
    id: "7b1d1bb3-0d4e-4d53-8d7e-3f6f0c9a2a10",
    created: now,
    modified: now,
    type: "custom.other",
    displayName: "Other",
    icon: "aa",
  };
  await control("/snapshot", "PUT", {
    ...before,
    objects: { ...before.objects, channels: [foreign] },
  });
  project = await cliProject(program, emulatorEnvironment(emulator));
});

afterAll(async () => {
  project?.remove();
  await emulator?.close();
});

const disturbed = async (
  environment: Readonly<Record<string, string>>,
  killAfterMs: number | null,
): Promise<void> => {
  const { child, ended } = project.start(["up", "--yes", "--skip-preview"], environment);
  if (killAfterMs !== null) {
    await Promise.race([ended, pause(killAfterMs)]);
    const providers = descendants(child.pid ?? 0, "dynamic-provider");
    child.kill("SIGKILL");
    for (const pid of providers) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  }
  await ended;
};

test(`${rounds} rounds of faults and kills through the real engine end with exactly what is declared`, {
  timeout: rounds * 120_000,
}, async () => {
  const seed = Number(
    process.env.CHAOS_SEED ?? (process.env.CHAOS_ROUNDS ? Date.now() % 2 ** 31 : 20_261_121),
  );
  console.log(`chaos seed ${seed}`);
  for (const [number, { want, version, faults, killAfterMs }] of fc
    .sample(round, { numRuns: rounds, seed })
    .entries()) {
    const environment = { WANT: want.join(), VERSION: String(version) };
    if (faults.length > 0) await control("/faults", "POST", faults);
    await disturbed(environment, killAfterMs);
    await control("/faults", "DELETE");
    await project.pulumi(["cancel", "--yes"]);
    const { code, output } = await project.pulumi(["up", "--yes", "--skip-preview"], environment);
    expect(code === 0 ? "" : `round ${number}: ${output}`).toBe("");
    // Only what the program does not declare may be left over; it is removed on demand.
    const tool = await project.tool(["orphans", "--delete", "--json"]);
    const left = (JSON.parse(tool.output) as { label: string }[]).map(
      ({ label }) => label.split(" ")[1] ?? "",
    );
    expect(left.filter((name) => ["auth", "app", ...want].includes(name))).toEqual([]);
    const objects = Object.values((await snapshot()).objects).flat();
    const own = objects.filter(({ description }) =>
      description?.startsWith(`version ${version} [pulumi: shop/prod `),
    );
    expect(own).toHaveLength(2 + want.length);
    expect(objects).toHaveLength(own.length + 1);
  }
  const { code } = await project.pulumi(["destroy", "--yes", "--skip-preview"]);
  expect(code).toBe(0);
  expect(Object.values((await snapshot()).objects).flat()).toMatchObject([
    { type: "custom.other", displayName: "Other" },
  ]);
});
